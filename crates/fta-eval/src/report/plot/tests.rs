use scraper::{ElementRef, Html, Selector};

use super::*;
use crate::report::Series;

fn point(label: &str, x: f64, y: f64, interval: Option<(f64, f64)>) -> Point {
    Point { label: label.to_owned(), x, y, interval }
}

fn plot(kind: PlotKind, series: Vec<Vec<Point>>) -> Plot {
    let series = series.into_iter().enumerate();
    Plot {
        caption: "caption".to_owned(),
        kind,
        x: "across".to_owned(),
        y: "up".to_owned(),
        series: series.map(|(s, points)| Series { name: format!("series {s}"), points }).collect(),
    }
}

fn number(element: ElementRef<'_>, name: &str) -> f64 {
    element.value().attr(name).unwrap().parse().unwrap()
}

/// Elements below a point's tooltip, with the tooltip.
fn with_tips(svg: &str, name: &str) -> Vec<(String, ElementRef<'static>)> {
    let page: &'static Html = Box::leak(Box::new(Html::parse_fragment(svg)));
    let (groups, title) = (Selector::parse("g.tt").unwrap(), Selector::parse("title").unwrap());
    let shape = Selector::parse(name).unwrap();
    let tip = |group: ElementRef<'static>| {
        let title = group.select(&title).next()?;
        Some((title.text().collect(), group.select(&shape).next()?))
    };
    page.select(&groups).filter_map(tip).collect()
}

/// Texts of the SVG that are numbers: its ticks.
fn ticks(svg: &str) -> Vec<f64> {
    let page = Html::parse_fragment(svg);
    let texts = Selector::parse("text").unwrap();
    page.select(&texts).filter_map(|text| text.text().collect::<String>().trim().parse().ok()).collect()
}

#[test]
fn bars_are_as_high_as_their_values() {
    let values = [[0.5, 0.25], [0.125, 0.4], [-0.2, 0.1]];
    let series = (0..2).map(|s| {
        let point = |g: usize| {
            point(&format!("g{g}"), 0.0, values[g][s], Some((values[g][s] - 0.05, values[g][s] + 0.1)))
        };
        (0..3).map(point).collect()
    });
    let svg = plot(PlotKind::Bars, series.collect()).svg(1).unwrap();
    let bars = with_tips(&svg, "rect");
    assert_eq!(bars.len(), 6);
    let scale = number(bars[0].1, "height") / 0.5;
    for (i, (tip, bar)) in bars.iter().enumerate() {
        let value = values[i / 2][i % 2];
        assert!((number(*bar, "height") - value.abs() * scale).abs() < 0.1, "{tip}");
        assert_eq!(bar.value().attr("fill"), Some(colour(i % 2).as_str()));
    }
    assert_eq!(bars[0].0, "g0, series 0: 0.5 [0.45, 0.6]");
    let (zero, negative) = (number(bars[0].1, "y") + number(bars[0].1, "height"), number(bars[4].1, "y"));
    assert!((zero - negative).abs() < 0.1, "bars below zero hang from it");
    assert!(svg.contains("var(--whisker)"));
    let ticks = ticks(&svg);
    assert!(ticks.iter().any(|&tick| tick >= 0.5) && ticks.iter().any(|&tick| tick <= -0.2), "{ticks:?}");
}

#[test]
fn a_missing_bar_leaves_its_place_empty() {
    let series = vec![
        vec![point("a", 0.0, 1.0, Some((0.5, 1.5))), point("b", 0.0, f64::NAN, None)],
        vec![point("b", 0.0, 2.0, None)],
    ];
    let svg = plot(PlotKind::Bars, series).svg(1).unwrap();
    let seen: Vec<String> = with_tips(&svg, "rect").into_iter().map(|bar| bar.0).collect();
    assert_eq!(seen, ["a, series 0: 1 [0.5, 1.5]", "b, series 1: 2"]);
    assert!(!svg.contains("NaN"), "{svg}");
    // One bar has an interval: a line and its two ends.
    assert_eq!(svg.matches("var(--whisker)").count(), 3, "{svg}");
}

#[test]
fn lines_have_points_and_bands() {
    let line = |half: Option<f64>| {
        let one = |x: f64| point("", x, x * x, half.map(|half| (x * x - half, x * x + half)));
        [3.0, 1.0, 2.0].map(one).into()
    };
    let svg = plot(PlotKind::Lines, vec![line(Some(0.5)), line(None)]).svg(1).unwrap();
    let points = with_tips(&svg, "circle");
    assert_eq!(points.len(), 6);
    assert_eq!(points[0].0, "series 0, across 1: 1 [0.5, 1.5]");
    let across: Vec<f64> = points[..3].iter().map(|(_, point)| number(*point, "cx")).collect();
    assert!(across[0] < across[1] && across[1] < across[2]);
    let up: Vec<f64> = points[..3].iter().map(|(_, point)| number(*point, "cy")).collect();
    let ratio = (up[0] - up[2]) / (up[0] - up[1]);
    assert!((ratio - 8.0 / 3.0).abs() < 0.05, "{ratio}");
    let ticks = ticks(&svg);
    assert!(ticks.iter().any(|&tick| tick >= 9.0), "{ticks:?}");
}

#[test]
fn points_have_labels() {
    let points = vec![point("left <b>", 1.0, 2.0, None), point("right & $x$", 5.0, 3.0, Some((2.5, 3.5)))];
    let svg = plot(PlotKind::Scatter, vec![points]).svg(1).unwrap();
    assert_eq!(with_tips(&svg, "circle").len(), 2);
    let page = Html::parse_fragment(&svg);
    let texts: Vec<String> =
        page.select(&Selector::parse("text").unwrap()).map(|text| text.text().collect()).collect();
    for label in ["left <b>", "right & $x$", "across", "up"] {
        assert!(texts.iter().any(|text| text.trim() == label), "{label} {texts:?}");
    }
    assert!(page.select(&Selector::parse("b").unwrap()).next().is_none());
}

#[test]
fn the_svg_says_what_it_shows() {
    let mut plot = plot(PlotKind::Bars, vec![vec![point("a", 0.0, 1.0, None)]]);
    plot.caption = "A \"quoted\" <caption>.".to_owned();
    let svg = plot.svg(1).unwrap();
    let page = Html::parse_fragment(&svg);
    let element = page.select(&Selector::parse("svg").unwrap()).next().unwrap();
    assert_eq!(element.value().attr("role"), Some("img"));
    assert_eq!(element.value().attr("aria-label"), Some("A \"quoted\" <caption>. up by across: series 0."));
    let view: Vec<f64> =
        element.value().attr("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    assert!(view[2] >= 300.0 && view[3] >= 200.0, "{view:?}");
}

#[test]
fn odd_values_draw_something_sensible() {
    let (nan, infinite) = (f64::NAN, f64::INFINITY);
    let sets: [&[f64]; 9] = [
        &[0.3],
        &[0.0, 0.0],
        &[-1.0, -2.0],
        &[1e12, 1.0],
        &[1e150, -1e150],
        &[1e-12, 2e-12],
        &[nan, 0.5, infinite],
        &[5.0, 5.0, 5.0],
        &[f64::MIN_POSITIVE, f64::MAX, 0.1],
    ];
    for kind in [PlotKind::Bars, PlotKind::Lines, PlotKind::Scatter] {
        for values in sets {
            for interval in
                [None, Some((nan, 1.0)), Some((0.4, 0.3)), Some((-infinite, infinite)), Some((0.1, 0.9))]
            {
                let one = |(i, &y): (usize, &f64)| point(&format!("p{i}"), i as f64, y, interval);
                let points: Vec<Point> = values.iter().enumerate().map(one).collect();
                let drawn = points.iter().filter(|point| is_drawn(point)).count();
                let svg = plot(kind, vec![points, Vec::new()]).svg(1).unwrap();
                for wrong in ["NaN", "inf"] {
                    assert!(!svg.contains(&format!("\"{wrong}")), "{kind:?} {values:?} {interval:?}: {svg}");
                }
                let shape = if kind == PlotKind::Bars { "rect" } else { "circle" };
                let shapes = with_tips(&svg, shape).iter().filter(|(tip, _)| !tip.is_empty()).count();
                assert_eq!(shapes, drawn, "{kind:?} {values:?} {interval:?}");
                assert!(svg.len() < 60_000, "{kind:?} {values:?}: {}", svg.len());
            }
        }
        assert_eq!(plot(kind, Vec::new()).svg(1), None);
        assert_eq!(plot(kind, vec![vec![point("a", 0.0, nan, None)], Vec::new()]).svg(1), None);
    }
}

#[test]
fn long_names_and_many_groups_stay_in_bounds() {
    let points = (0..900).map(|i| point(&format!("{i}{}", "x".repeat(10_000)), 0.0, 1.0, None)).collect();
    let svg = plot(PlotKind::Bars, vec![points]).svg(1).unwrap();
    let page = Html::parse_fragment(&svg);
    let element = page.select(&Selector::parse("svg").unwrap()).next().unwrap();
    assert!(number(element, "width") <= WIDEST + 500.0);
}
