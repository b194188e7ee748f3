//! Values that the benchmarks' own programs gave.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    datasets::{Case, CaseQuestion, load},
    metrics::*,
};

const TOLERANCE: f64 = 1e-6;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(data(name)).unwrap()
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// Score of a vector by the function of its variant.
fn score(vector: &Value) -> f64 {
    let string = |key: &str| vector[key].as_str().unwrap_or_else(|| panic!("{key} of {vector}"));
    let list = |key: &str| -> Vec<&str> {
        vector[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
    };
    let of_texts = |f: fn(&str, &str) -> f64| f(string("prediction"), string("gold"));
    let number = || vector["category"].as_u64().unwrap();
    let of_lists = |f: fn(&[&str], &[&str], usize) -> Option<f64>| {
        f(&list("prediction"), &list("gold"), number() as usize).unwrap()
    };
    match vector["variant"].as_str().unwrap() {
        "locomo_official_f1" => {
            let category = LocomoCategory::from_number(u8::try_from(number()).unwrap()).unwrap();
            locomo_official_f1(category, string("prediction"), string("gold"))
        }
        "set_f1_simple" => of_texts(set_f1_simple),
        "set_f1_word" => of_texts(set_f1_word),
        "bleu1_nltk_method1" => of_texts(bleu1),
        "es_memeval_f1" => of_texts(|p, g| es_memeval_f1(p, g, Cleaning::Prefix)),
        "es_memeval_rouge1" => of_texts(rouge1),
        "es_memeval_rouge2" => of_texts(rouge2),
        "es_memeval_rougeL" => of_texts(rouge_l),
        "es_memeval_recall" => of_lists(|p, g, k| Some(es_memeval_recall(p, g, k))),
        "es_memeval_ndcg" => of_lists(|p, g, k| Some(ndcg_es_parity(p, g, k))),
        "locomo_context_recall" => locomo_context_recall(&list("prediction"), &list("gold")),
        "longmemeval_recall_any" => of_lists(|p, g, k| longmemeval_recall_any(p, g, k)),
        "longmemeval_recall_all" => of_lists(|p, g, k| longmemeval_recall_all(p, g, k)),
        "longmemeval_ndcg" => of_lists(|p, g, k| longmemeval_ndcg(p, g, k)),
        other => panic!("no function for `{other}`"),
    }
}

#[test]
fn metric_vectors() {
    let vectors = json("metric-vectors.json");
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for vector in vectors.as_array().unwrap() {
        let variant = vector["variant"].as_str().unwrap();
        *seen.entry(variant).or_default() += 1;
        if variant == "es_memeval_clean_answer" {
            let cleaned = clean_answer(vector["prediction"].as_str().unwrap(), Cleaning::Parity);
            assert_eq!(cleaned, vector["expected"].as_str().unwrap(), "{vector}");
        } else {
            let found = score(vector);
            assert!((found - vector["expected"].as_f64().unwrap()).abs() < TOLERANCE, "{vector}: {found}");
        }
    }
    let expected = [
        ("bleu1_nltk_method1", 37),
        ("es_memeval_clean_answer", 5),
        ("es_memeval_f1", 9),
        ("es_memeval_ndcg", 6),
        ("es_memeval_recall", 6),
        ("es_memeval_rouge1", 3),
        ("es_memeval_rouge2", 3),
        ("es_memeval_rougeL", 3),
        ("locomo_context_recall", 8),
        ("locomo_official_f1", 32),
        ("longmemeval_ndcg", 4),
        ("longmemeval_recall_all", 4),
        ("longmemeval_recall_any", 4),
        ("set_f1_simple", 38),
        ("set_f1_word", 27),
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(expected.iter().map(|(_, n)| n).sum::<usize>(), 189);
}

#[test]
fn stems() {
    let text = text("porter-stem-vectors.tsv");
    let pairs: Vec<(&str, &str)> = text.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let wrong: Vec<_> = pairs.iter().filter(|(word, stem)| porter_stem(word) != *stem).collect();
    assert_eq!((pairs.len(), wrong), (6180, vec![]));
}

#[test]
fn gold_tokens_and_normal_forms() {
    let text = text("locomo/locomo10-gold-tokens.jsonl");
    let mut lines = 0;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        assert_eq!(locomo_normalise(text), line["normalize_answer"].as_str().unwrap(), "{line}");
        let tokens: Vec<&str> =
            line["word_tokenize_lower"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
        assert_eq!(word_tokenize(text), tokens, "{line}");
        lines += 1;
    }
    assert_eq!(lines, 1427);
}

/// Text of the first evidence turn; empty if there is none.
fn first_evidence_text<'c>(case: &'c Case, question: &CaseQuestion) -> &'c str {
    question.evidence.first().map_or("", |evidence| {
        let session = case.conversation.sessions.iter().find(|s| s.id == evidence.session).unwrap();
        session.turns.iter().find(|t| t.source_id == evidence.turn).unwrap().text.as_str()
    })
}

async fn summary(metric: Metric, observations: &[Observation<'_>]) -> Summary {
    let scored = evaluate(&metric, observations).await.unwrap();
    summarise(&metric.to_string(), metric.aggregation(), &scored, None)
}

/// Means of a metric on the development part, by category number and pooled over 1 to 4.
async fn means(
    cases: &[Case],
    metric: Metric,
    answer: impl for<'c> Fn(&'c Case, &'c CaseQuestion) -> &'c str,
) -> Summary {
    let observations: Vec<Observation<'_>> = cases
        .iter()
        .flat_map(|case| case.questions.iter().map(move |question| (case, question)))
        .map(|(case, question)| Observation {
            conversation: &case.conversation.id,
            question,
            answer: Some(answer(case, question)),
            abstained: None,
            retrieved: None,
            within: None,
            history: None,
        })
        .collect();
    summary(metric, &observations).await
}

#[track_caller]
fn check_means(summary: &Summary, expected: &Value, key: &str) {
    let parts = summary.by_category.iter().map(|(label, mean)| (&label[..1], *mean));
    let mut checked = 0;
    for (number, mean) in parts.chain([("1-4", summary.answerable)]) {
        let expected = &expected[number];
        let Some(value) = expected[if number == "5" { "official" } else { key }].as_f64() else { continue };
        let found = mean.mean.unwrap();
        assert!((found - value).abs() < TOLERANCE, "{} {number}: {found}, not {value}", summary.metric);
        assert_eq!(mean.n as u64, expected["n"].as_u64().unwrap(), "{} {number}", summary.metric);
        checked += 1;
    }
    assert!(checked >= 5, "{}: {checked} means", summary.metric);
}

#[tokio::test]
async fn means_of_simple_predictors() {
    let expected = json("locomo/dev6-scores-of-simple-predictors.json");
    let expected = &expected["first_evidence_turn"];
    let cases = load(&data("locomo/locomo-dev6.json"), None).unwrap().cases;
    check_means(&means(&cases, Metric::LocomoOfficialF1, first_evidence_text).await, expected, "official_f1");
    check_means(&means(&cases, Metric::SetF1Simple, first_evidence_text).await, expected, "set_f1_simple");
    let gold = means(&cases, Metric::LocomoOfficialF1, |_, question| &question.gold).await;
    check_means(&gold, expected, "gold_official_f1");
    for metric in [Metric::SetF1Simple, Metric::Bleu1] {
        let gold = means(&cases, metric, |_, question| &question.gold).await;
        assert_eq!((gold.answerable.n, gold.answerable.mean), (885, Some(1.0)), "{metric}");
    }
}

/// Retrieves the evidence of each question, a turn per item.
fn perfect_items(cases: &[Case]) -> Vec<(&Case, &CaseQuestion, Vec<RetrievedItem>)> {
    let questions = cases.iter().flat_map(|case| case.questions.iter().map(move |question| (case, question)));
    let items = |question: &CaseQuestion| {
        question.evidence.iter().map(|turn| RetrievedItem { turns: vec![turn.clone()], tokens: 1 }).collect()
    };
    questions.map(|(case, question)| (case, question, items(question))).collect()
}

async fn scores(found: &[(&Case, &CaseQuestion, Vec<RetrievedItem>)], metric: &str) -> Summary {
    let observations: Vec<Observation<'_>> = found
        .iter()
        .map(|(case, question, items)| Observation {
            conversation: &case.conversation.id,
            question,
            answer: Some(&question.gold),
            abstained: Some(!question.answerable),
            retrieved: Some(items),
            within: None,
            history: None,
        })
        .collect();
    let metric = metric.parse().unwrap();
    summary(metric, &observations).await
}

#[tokio::test]
async fn perfect_retrieval_on_the_development_part() {
    let cases = load(&data("locomo/locomo-dev6.json"), None).unwrap().cases;
    let found = perfect_items(&cases);
    let with_evidence = found.iter().filter(|(_, question, _)| !question.evidence.is_empty()).count();
    for metric in ["evidence_recall", "evidence_recall@1000t", "ndcg@100", "longmemeval_recall_all@100"] {
        assert_eq!(scores(&found, metric).await.pooled.mean, Some(1.0), "{metric}");
    }
    assert_eq!(scores(&found, "evidence_recall@25").await.pooled.n, with_evidence);
    // As raw strings, elements of four questions name no turn, or several.
    let odd = |(_, question, _): &&(&Case, &CaseQuestion, Vec<RetrievedItem>)| {
        question.evidence_raw.iter().any(|raw| question.evidence.iter().all(|turn| turn.turn != *raw))
    };
    let odd: Vec<_> = found.iter().filter(odd).cloned().collect();
    assert_eq!(odd.len(), 4);
    let raw = scores(&odd, "locomo_context_recall").await;
    assert!(raw.pooled.mean.unwrap() < 1.0, "{raw:?}");
    let all = scores(&found, "locomo_context_recall").await;
    assert_eq!(all.pooled.n, 1157);
    let lost = 1157.0 * (1.0 - all.pooled.mean.unwrap());
    assert!((lost - 4.0 * (1.0 - raw.pooled.mean.unwrap())).abs() < 1e-9);
    // The two questions without evidence count 1 each, and 0 in the summary that the original prints.
    let printed = scores(&found, "locomo_context_recall_summary").await;
    assert!((1157.0 * (all.pooled.mean.unwrap() - printed.pooled.mean.unwrap()) - 2.0).abs() < 1e-9);
}

#[tokio::test]
async fn every_metric_runs_on_the_synthetic_users() {
    let cases = load(&data("es-memeval/sample-synthetic.json"), None).unwrap().cases;
    let found = perfect_items(&cases);
    assert_eq!(found.len(), 12);
    for form in Metric::forms() {
        let summary = scores(&found, &form.replace("@<k>", "@3").replace("[@<items>|@<tokens>t]", "")).await;
        let n: usize = summary.by_category.values().map(|mean| mean.n).sum();
        assert_eq!(summary.pooled.n, n, "{form}");
        // Questions here have no category number.
        assert_eq!(form.starts_with("locomo_official"), n == 0, "{form}: {n}");
    }
    let f1 = scores(&found, "es_memeval_f1").await;
    assert_eq!((f1.pooled.n, f1.unanswerable.n > 0), (12, true));
    assert_eq!(scores(&found, "abstention_balanced_accuracy").await.pooled.mean, Some(1.0));
}

#[tokio::test]
async fn audited_scores_leave_wrong_gold_answers_out() {
    let cases = load(&data("locomo/locomo-dev6.json"), None).unwrap().cases;
    let path = data("locomo/audit-errors.json");
    let audit = GoldAudit::load(&path, &cases).unwrap();
    assert_eq!((audit.len(), audit.unmatched.len()), (95, 0));
    let citations = json("locomo/audit-errors.json");
    let citations =
        citations.as_array().unwrap().iter().filter(|f| f["error_type"] == "WRONG_CITATION").count();
    assert_eq!(citations, 37);
    let observations: Vec<Observation<'_>> = cases
        .iter()
        .flat_map(|case| case.questions.iter().map(move |question| (case, question)))
        .map(|(case, question)| Observation {
            conversation: &case.conversation.id,
            question,
            answer: Some(&question.gold),
            abstained: None,
            retrieved: None,
            within: None,
            history: None,
        })
        .collect();
    let scored = evaluate(&Metric::SetF1Simple, &observations).await.unwrap();
    let summarised = |audit| summarise("set_f1_simple", Aggregation::Mean, &scored, audit);
    assert_eq!(summarised(None).pooled.n, 885);
    assert_eq!(summarised(Some(&audit)).pooled.n, 885 - (95 - 37));

    // Conversations by themselves are found as well; the others' findings are reported.
    let one = GoldAudit::load(&path, &cases[3..4]).unwrap();
    assert_eq!(one.len() + one.unmatched.len(), 95);
    assert!(!one.is_empty() && one.unmatched.iter().all(|id| !id.starts_with("locomo_3_")));
    let wrong = cases[3].questions.iter().filter(|q| one.is_wrong(&cases[3].conversation.id, &q.id)).count();
    assert!(wrong > 0 && wrong <= one.len());
}
