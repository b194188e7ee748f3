//! Bounds, symmetry, order.

use proptest::prelude::*;

use super::turn;
use crate::metrics::*;

type TextScore = (&'static str, fn(&str, &str) -> f64);

const SYMMETRIC: [TextScore; 5] = [
    ("set_f1_simple", set_f1_simple),
    ("set_f1_word", set_f1_word),
    ("rouge1", rouge1),
    ("rouge2", rouge2),
    ("rougeL", rouge_l),
];

const OTHERS: [TextScore; 8] = [
    ("bleu1", bleu1),
    ("es_memeval_f1", |p, g| es_memeval_f1(p, g, Cleaning::Prefix)),
    ("es_memeval_f1_parity", |p, g| es_memeval_f1(p, g, Cleaning::Parity)),
    ("official 1", |p, g| locomo_official_f1(LocomoCategory::MultiHop, p, g)),
    ("official 2", |p, g| locomo_official_f1(LocomoCategory::Temporal, p, g)),
    ("official 3", |p, g| locomo_official_f1(LocomoCategory::OpenDomain, p, g)),
    ("official 4", |p, g| locomo_official_f1(LocomoCategory::SingleHop, p, g)),
    ("official 5", |p, g| locomo_official_f1(LocomoCategory::Adversarial, p, g)),
];

/// Text of few words, so that texts share some, with punctuation in between; or any text.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "boat",
        "Boats",
        "sailing",
        "the",
        "a",
        "red,",
        "Red;",
        "don't",
        "U.S.",
        "3.5",
        "end.",
        "\"so\"",
        "…",
        "é",
        "not mentioned",
        "Answer:",
        "sand-bank",
        "'tis",
    ]);
    prop_oneof![prop::collection::vec(word, 0..9).prop_map(|words| words.join(" ")), any::<String>()]
}

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(
        prop::sample::select(vec!["boats", "red", "ran", "seven", "kitchens", "old"]),
        1..most,
    )
}

proptest! {
    #[test]
    fn scores_lie_between_0_and_1(prediction in text(), gold in text()) {
        for (name, score) in SYMMETRIC.into_iter().chain(OTHERS) {
            let found = score(&prediction, &gold);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&found), "{}: {}", name, found);
        }
    }

    #[test]
    fn symmetric_scores_are_symmetric(prediction in text(), gold in text()) {
        for (name, score) in SYMMETRIC {
            prop_assert!((score(&prediction, &gold) - score(&gold, &prediction)).abs() < 1e-12, "{}", name);
        }
        let single = |p: &str, g: &str| locomo_official_f1(LocomoCategory::SingleHop, p, g);
        prop_assert!((single(&prediction, &gold) - single(&gold, &prediction)).abs() < 1e-12);
    }

    #[test]
    fn an_answer_equal_to_gold_scores_1(words in words(8)) {
        let text = words.join(" ");
        let names = ["set_f1_simple", "set_f1_word", "rouge1", "rougeL", "bleu1", "official 2", "official 3"];
        for (name, score) in SYMMETRIC.into_iter().chain(OTHERS).filter(|(name, _)| names.contains(name)) {
            prop_assert!((score(&text, &text) - 1.0).abs() < 1e-12, "{}", name);
        }
    }

    #[test]
    fn the_order_of_words_does_not_matter_to_bags((words, shuffled) in words(8).prop_flat_map(|words| {
        (Just(words.clone()), Just(words).prop_shuffle())
    }), gold in words(8)) {
        let (words, shuffled, gold) = (words.join(" "), shuffled.join(" "), gold.join(" "));
        let names = ["set_f1_simple", "set_f1_word", "rouge1", "bleu1", "es_memeval_f1", "official 4"];
        for (name, score) in SYMMETRIC.into_iter().chain(OTHERS).filter(|(name, _)| names.contains(name)) {
            prop_assert!((score(&words, &gold) - score(&shuffled, &gold)).abs() < 1e-12, "{}", name);
        }
    }

    #[test]
    fn further_parts_never_cost_in_multi_hop(prediction in words(5), more in words(5), gold in words(5)) {
        let score = |p: String| locomo_official_f1(LocomoCategory::MultiHop, &p, &gold.join(", "));
        let longer = format!("{}, {}", prediction.join(", "), more.join(" "));
        prop_assert!(score(longer) >= score(prediction.join(", ")));
    }

    #[test]
    fn stems_and_tokens_of_any_text(text in any::<String>()) {
        prop_assert!(porter_stem(&text).chars().count() <= text.to_lowercase().chars().count() + 1);
        prop_assert!(word_tokenize(&text).iter().all(|token| !token.is_empty()));
        let normal = locomo_normalise(&text);
        prop_assert_eq!(locomo_normalise(&normal), normal);
        prop_assert!(refuses(&text) || !locomo_official_refusal(&text));
    }

    #[test]
    fn ranked_scores(ranked in prop::collection::vec(0_u8..12, 0..12), relevant in prop::collection::vec(0_u8..12, 1..6), k in 1_usize..12) {
        let (mut distinct, mut backwards) = (relevant.clone(), relevant.clone());
        distinct.sort_unstable();
        distinct.dedup();
        backwards.reverse();
        let scores = [ndcg, longmemeval_ndcg, longmemeval_recall_any, longmemeval_recall_all];
        for score in scores {
            let found = score(&ranked, &relevant, k).unwrap();
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert_eq!(score(&ranked, &backwards, k), Some(found));
        }
        prop_assert_eq!(ndcg(&distinct, &relevant, k), Some(1.0));
        prop_assert_eq!(longmemeval_ndcg(&distinct, &relevant, k), Some(1.0));
        prop_assert!(ndcg_es_parity(&ranked, &relevant, k) < 1.0);
        prop_assert!(es_memeval_recall(&ranked, &relevant, k) <= es_memeval_recall(&ranked, &relevant, k + 1));
        prop_assert_eq!(Some(es_memeval_recall(&ranked, &relevant, k)), evidence_recall(ranked.iter().take(k), &relevant));
        let (any, all) = (longmemeval_recall_any(&ranked, &relevant, k), longmemeval_recall_all(&ranked, &relevant, k));
        prop_assert!(any >= all);
    }

    #[test]
    fn budgets(items in prop::collection::vec((0_u8..9, 0_usize..40), 0..12), budget in 0_usize..200) {
        let items: Vec<RetrievedItem> = items
            .into_iter()
            .map(|(id, tokens)| RetrievedItem { turns: vec![turn(&id.to_string())], tokens })
            .collect();
        let gold = [turn("1"), turn("2"), turn("1")];
        let within = recall_within_tokens(&items, &gold, budget).unwrap();
        let more = recall_within_tokens(&items, &gold, budget + 20).unwrap();
        prop_assert!(within.tokens <= budget && within.recall <= more.recall);
        prop_assert_eq!(Some(within.recall), recall_at_items(&items, &gold, within.items));
        if let Some(next) = items.get(within.items) {
            prop_assert!(within.tokens + next.tokens > budget);
        }
    }

    #[test]
    fn pooled_means_are_weighted_by_questions(scores in prop::collection::vec((1_u8..6, 0.0_f64..1.0), 0..30)) {
        let scored: Vec<Scored> = scores
            .iter()
            .map(|(category, score)| Scored {
                conversation: "case".to_owned(),
                question: "q".to_owned(),
                category: category.to_string(),
                answerable: *category != 5,
                score: *score,
            })
            .collect();
        let summary = summarise("bleu1", Aggregation::Mean, &scored, None);
        let weighted: f64 = summary.by_category.values().map(|m| m.mean.unwrap() * m.n as f64).sum();
        let n: usize = summary.by_category.values().map(|m| m.n).sum();
        prop_assert_eq!(summary.pooled.n, n);
        prop_assert_eq!(summary.answerable.n + summary.unanswerable.n, n);
        prop_assert!((summary.pooled.mean.unwrap_or(0.0) * n as f64 - weighted).abs() < 1e-9);
        let backwards: Vec<Scored> = scored.iter().rev().cloned().collect();
        let other = summarise("bleu1", Aggregation::Mean, &backwards, None);
        prop_assert!((summary.pooled.mean.unwrap_or(0.0) - other.pooled.mean.unwrap_or(0.0)).abs() < 1e-12);
    }
}
