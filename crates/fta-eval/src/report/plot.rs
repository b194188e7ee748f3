//! Plots as SVG for a page: colours are the page's CSS variables, points have tooltips.

use std::{fmt::Write as _, sync::Arc};

use kuva::{
    plot::{BarPlot, LinePlot, scatter::ScatterPlot},
    render::{
        layout::{Layout, TickFormat},
        plots::Plot as Drawn,
        theme::Theme,
    },
};

use super::{
    Plot, PlotKind, Point,
    numbers::{interval, short},
};

/// Colours of a page, `--series-0` and on; more series begin again.
pub(super) const COLOURS: usize = 8;

/// Size of a plot that needs no more, in pixels.
const SIZE: (f64, f64) = (640.0, 320.0);

/// Widest plot, in pixels; bars become thinner from there.
const WIDEST: f64 = 4_000.0;

/// Widest bar, in pixels.
const WIDEST_BAR: f64 = 48.0;

/// Characters of names in a plot; tooltips have all of them.
const LONGEST_NAME: usize = 28;

/// Room for a character of an axis, in pixels.
const CHARACTER: f64 = 7.0;

/// An error bar that is not drawn: see [`placed`].
const NOWHERE: (f64, f64) = (f64::NAN, f64::NAN);

/// Larger values are left out: their range has no size.
const LARGEST: f64 = 1e150;

impl Plot {
    /// The plot as an SVG element that takes its colours from the page; `None` if there is no finite point.
    ///
    /// Points that are not finite are left out, and so are intervals that are not.
    ///
    /// `number` is the plot's in its page: ids in the SVG have it.
    pub(super) fn svg(&self, number: usize) -> Option<String> {
        let series: Vec<Vec<&Point>> =
            self.series.iter().map(|series| series.points.iter().filter(|p| is_drawn(p)).collect()).collect();
        if series.iter().all(Vec::is_empty) {
            return None;
        }
        let (drawn, layout) = match self.kind {
            PlotKind::Bars => self.bars(&series),
            PlotKind::Lines => self.lines(&series),
            PlotKind::Scatter => self.scatter(&series),
        };
        Some(self.opened(&placed(&kuva::render_to_svg(drawn, layout)), number))
    }

    /// What is drawn, in words.
    fn in_words(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        format!("{}. {} by {}: {}.", self.caption.trim_end_matches('.'), self.y, self.x, names.join(", "))
    }

    /// The SVG with an element of ours around it: it scales, and says in words what it shows.
    fn opened(&self, svg: &str, number: usize) -> String {
        let (tag, rest) = svg.split_once('>').unwrap_or(("", svg));
        let size = |name: &str| -> f64 {
            let value = tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next());
            value.and_then(|value| value.parse().ok()).unwrap_or(SIZE.0)
        };
        let (width, height) = (size("width").ceil(), size("height").ceil());
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" fill=\"currentColor\" role=\"img\" aria-label=\"{}\">",
            escaped(&self.in_words())
        );
        // The library counts ids up for as long as the program runs, which would make no two pages alike.
        match rest.split_once("id=\"kuva-clip-").and_then(|(_, rest)| rest.split('"').next()) {
            Some(counted) => {
                let (id, url) = (format!("id=\"kuva-clip-{counted}\""), format!("url(#kuva-clip-{counted})"));
                let rest = rest.replace(&id, &format!("id=\"clip-{number}\""));
                out += &rest.replace(&url, &format!("url(#clip-{number})"));
            }
            None => out += rest,
        }
        out
    }

    fn layout(&self, drawn: &[Drawn], width: f64) -> Layout {
        let theme = Theme {
            background: "none".to_owned(),
            axis_color: "var(--axis)".to_owned(),
            grid_color: "var(--grid)".to_owned(),
            tick_color: "var(--axis)".to_owned(),
            text_color: "currentColor".to_owned(),
            font_family: Some("system-ui, sans-serif".to_owned()),
            ..Theme::light()
        };
        Layout::auto_from_plots(drawn)
            .with_theme(theme)
            .with_width(width)
            .with_height(SIZE.1)
            .with_x_label(cut(&self.x, 80))
            .with_y_label(cut(&self.y, 40))
            .with_tick_format(TickFormat::Custom(Arc::new(short)))
    }

    /// Bars in groups; a series without a value in a group leaves its place empty.
    fn bars(&self, series: &[Vec<&Point>]) -> (Vec<Drawn>, Layout) {
        let mut groups: Vec<&str> = Vec::new();
        for point in series.iter().flatten() {
            if !groups.contains(&point.label.as_str()) {
                groups.push(&point.label);
            }
        }
        let bars = groups.len() * series.len();
        let width = (bars as f64 * 14.0 + groups.len() as f64 * 10.0 + 100.0).clamp(SIZE.0, WIDEST);
        let filled = (bars as f64 * WIDEST_BAR / (width - 100.0)).min(0.84);
        let (mut plot, mut errors, mut tips) = (BarPlot::new(), Vec::new(), Vec::new());
        for group in &groups {
            let mut bars = Vec::new();
            for (s, points) in series.iter().enumerate() {
                let point = points.iter().find(|point| point.label == **group);
                bars.push(point.map_or((f64::NAN, "none".to_owned()), |point| (point.y, colour(s))));
                errors.push(
                    point.filter(|point| bounds(point).is_some()).map_or(NOWHERE, |point| around(point)),
                );
                tips.push(point.map_or_else(String::new, |point| self.tip(s, group, point)));
            }
            plot = plot.with_group(cut(group, LONGEST_NAME), bars);
        }
        plot = plot.with_tooltips().with_tooltip_labels(tips).with_width(filled);
        if errors.iter().any(|error| !error.0.is_nan()) {
            plot = plot
                .with_asymmetric_error(errors)
                .with_error_color("var(--whisker)")
                .with_error_cap_width(0.3);
        }
        let drawn = vec![Drawn::Bar(plot)];
        let longest = groups.iter().map(|group| group.chars().count().min(LONGEST_NAME)).max().unwrap_or(0);
        let layout = self.layout(&drawn, width);
        let crowded = longest as f64 * CHARACTER > (width - 80.0) / groups.len() as f64;
        (drawn, if crowded { layout.with_x_tick_rotate(-35.0) } else { layout })
    }

    /// Lines with bands where all points have intervals, and points that carry the tooltips.
    fn lines(&self, series: &[Vec<&Point>]) -> (Vec<Drawn>, Layout) {
        let mut drawn = Vec::new();
        for (s, points) in series.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
            let mut points = points.clone();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let line = LinePlot::new()
                .with_data(points.iter().map(|point| (point.x, point.y)))
                .with_color(colour(s))
                .with_stroke_width(2.0);
            let bounds: Option<Vec<(f64, f64)>> = points.iter().map(|point| bounds(point)).collect();
            let has_band = bounds.is_some();
            drawn.push(Drawn::Line(match bounds {
                Some(bounds) => line.with_band(bounds.iter().map(|b| b.0), bounds.iter().map(|b| b.1)),
                None => line,
            }));
            drawn.push(Drawn::Scatter(self.points(s, &points, !has_band)));
        }
        let layout = self.layout(&drawn, SIZE.0);
        (drawn, layout)
    }

    /// Points with their labels, and room for the labels at both sides.
    fn scatter(&self, series: &[Vec<&Point>]) -> (Vec<Drawn>, Layout) {
        let drawn: Vec<Drawn> = series
            .iter()
            .enumerate()
            .filter(|(_, points)| !points.is_empty())
            .map(|(s, points)| {
                let labels = points.iter().map(|point| cut(&point.label, LONGEST_NAME));
                Drawn::Scatter(
                    self.points(s, points, true).with_size(4.5).with_labels(labels).with_repel_labels(),
                )
            })
            .collect();
        let across = || series.iter().flatten().map(|point| point.x);
        let (least, largest) =
            (across().fold(f64::INFINITY, f64::min), across().fold(f64::NEG_INFINITY, f64::max));
        let layout = self.layout(&drawn, SIZE.0);
        if largest <= least {
            return (drawn, layout);
        }
        let labels = series.iter().flatten().map(|point| point.label.chars().count().min(LONGEST_NAME));
        let room = labels.max().unwrap_or(0) as f64 * CHARACTER / 2.0 + 10.0;
        let margin = (largest - least) * room / (SIZE.0 - 90.0 - 2.0 * room);
        (drawn, layout.with_x_axis_min(least - margin).with_x_axis_max(largest + margin))
    }

    fn points(&self, series: usize, points: &[&Point], with_errors: bool) -> ScatterPlot {
        let plot = ScatterPlot::new()
            .with_data(points.iter().map(|point| (point.x, point.y)))
            .with_color(colour(series))
            .with_size(3.0)
            .with_tooltips()
            .with_tooltip_labels(points.iter().map(|point| self.tip(series, &point.label, point)));
        if with_errors && points.iter().any(|point| bounds(point).is_some()) {
            return plot.with_y_err_asymmetric(points.iter().map(|point| around(point)));
        }
        plot
    }

    fn tip(&self, series: usize, label: &str, point: &Point) -> String {
        let name = self.series.get(series).map_or("", |series| series.name.as_str());
        let mut tip =
            [label, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        if self.kind != PlotKind::Bars {
            let _ = write!(tip, ", {} {}", self.x, short(point.x));
        }
        let _ = write!(tip, ": {}", short(point.y));
        if let Some(bounds) = bounds(point).and_then(|bounds| interval(bounds, short)) {
            let _ = write!(tip, " {bounds}");
        }
        tip
    }
}

/// The CSS colour of a series.
pub(super) fn colour(series: usize) -> String {
    format!("var(--series-{})", series % COLOURS)
}

fn is_drawn(point: &Point) -> bool {
    [point.x, point.y].iter().all(|value| value.abs() <= LARGEST)
}

/// The interval if it is usable: in order and around the value.
fn bounds(point: &Point) -> Option<(f64, f64)> {
    let (lower, upper) = point.interval?;
    (lower.abs() <= LARGEST && upper.abs() <= LARGEST).then(|| (lower.min(point.y), upper.max(point.y)))
}

/// How far the interval reaches below and above the value.
fn around(point: &Point) -> (f64, f64) {
    bounds(point).map_or((0.0, 0.0), |(lower, upper)| (point.y - lower, upper - point.y))
}

/// A name for the library, which reads what is between `$` as a formula.
fn cut(text: &str, longest: usize) -> String {
    let name = match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    name.replace('$', "\\$")
}

/// The SVG without shapes that have no place, which stand for what is missing.
fn placed(svg: &str) -> String {
    svg.split_inclusive('>').filter(|tag| !(tag.contains("=\"NaN\"") && tag.ends_with("/>"))).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
