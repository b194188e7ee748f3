//! Metrics by name on small examples.

use super::{question, turn};
use crate::{datasets::CaseQuestion, metrics::*};

fn observe<'a>(
    question: &'a CaseQuestion,
    answer: &'a str,
    retrieved: &'a [RetrievedItem],
) -> Observation<'a> {
    Observation {
        conversation: "case",
        question,
        answer: Some(answer),
        abstained: None,
        retrieved: Some(retrieved),
        within: None,
        history: None,
    }
}

fn item(turns: &[&str], tokens: usize) -> RetrievedItem {
    RetrievedItem { turns: turns.iter().map(|id| turn(id)).collect(), tokens }
}

#[track_caller]
fn check(metric: &str, observation: &Observation<'_>, expected: Option<f64>) {
    let found = metric.parse::<Metric>().unwrap().score(observation).unwrap();
    let close = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
        (found, expected) => found == expected,
    };
    assert!(close, "{metric}: {found:?}, not {expected:?}");
}

#[test]
fn answers_by_name() {
    let single = question(4, "a red boat with two sails", &[]);
    let answer = observe(&single, "The boats", &[]);
    check("locomo_official_f1", &answer, Some(1.0 / 3.0));
    check("locomo_official_f1_rounded", &answer, Some(0.333));
    check("set_f1_simple", &answer, Some(0.0));
    check("es_memeval_f1", &observe(&single, "Answer: two sails", &[]), Some(0.5));
    let likely = question(3, "Yes; she sails", &[]);
    check("locomo_official_f1", &observe(&likely, "yes", &[]), Some(1.0));
    check("bleu1", &observe(&likely, "she sails", &[]), Some((-1_f64).exp()));
    check("rougeL", &observe(&likely, "she sailed", &[]), Some(0.8));
}

#[test]
fn what_a_metric_does_not_apply_to_has_no_score() {
    let adversarial = question(5, "", &["D1:2"]);
    let refused = observe(&adversarial, "Unknown", &[]);
    for metric in ["set_f1_simple", "set_f1_word", "bleu1", "es_memeval_f1", "rouge2", "false_refusal"] {
        check(metric, &refused, None);
    }
    check("longmemeval_ndcg@5", &refused, None);
    check("locomo_official_f1", &refused, Some(0.0));
    check("official_refusal", &refused, Some(0.0));
    check("refusal", &refused, Some(1.0));
    check("refusal", &Observation { abstained: Some(false), ..refused }, Some(0.0));

    let mut abstention = question(5, "This was never said.", &[]);
    abstention.category = None;
    abstention.category_name = "abstention".to_owned();
    check("es_memeval_f1", &observe(&abstention, "never said", &[]), Some(2.0 / 3.0));
    check("locomo_official_f1", &observe(&abstention, "never said", &[]), None);

    let without_evidence = question(3, "Yes", &[]);
    check("evidence_recall@5", &observe(&without_evidence, "", &[]), None);
    check("ndcg@5", &observe(&without_evidence, "", &[]), None);
    check("ndcg_es_parity@5", &observe(&without_evidence, "", &[]), Some(0.0));
    check("locomo_context_recall", &observe(&without_evidence, "", &[]), Some(1.0));
    check("locomo_context_recall_summary", &observe(&without_evidence, "", &[]), Some(0.0));
}

#[test]
fn retrieval_by_name() {
    let mut asked = question(1, "red, blue", &["D1:2", "D1:9"]);
    asked.evidence_raw = vec!["D1:2".to_owned(), "D1:09".to_owned()];
    let items = [item(&["D1:1", "D1:2"], 60), item(&["D1:2", "D1:5"], 50), item(&["D1:9"], 10)];
    let observed = observe(&asked, "", &items);
    check("evidence_recall", &observed, Some(1.0));
    check("evidence_recall@1", &observed, Some(0.5));
    check("evidence_recall@3", &observed, Some(1.0));
    check("evidence_recall@59t", &observed, Some(0.0));
    // The third item would fit beside the first, but the second one ended the budget.
    check("evidence_recall@100t", &observed, Some(0.5));
    check("evidence_recall@120t", &observed, Some(1.0));
    check("locomo_context_recall", &observed, Some(0.5));
    // Turns rank 1 to 4: D1:1, D1:2, D1:5, D1:9.
    let ideal = 1.0 + 1.0 / 3_f64.log2();
    check("ndcg@10", &observed, Some((1.0 / 3_f64.log2() + 1.0 / 5_f64.log2()) / ideal));
    check("ndcg@1", &observed, Some(0.0));
    check("es_memeval_recall@3", &observed, Some(0.5));
    check("longmemeval_recall_any@2", &observed, Some(1.0));
    check("longmemeval_recall_all@3", &observed, Some(0.0));
    check("longmemeval_ndcg@4", &observed, Some(0.75));
    check("ndcg_es_parity@2", &observed, Some((1.0 / 5_f64.log2()) / ideal));
    let within = recall_within_tokens(&items, &asked.evidence, 115).unwrap();
    assert_eq!((within.tokens, within.items), (110, 2));
}

#[test]
fn contexts_made_for_a_budget_count_instead_of_lengths() {
    let asked = question(1, "red, blue", &["D1:2", "D1:9"]);
    let items = [item(&["D1:2", "D1:9"], 60)];
    let (one, both) = ([turn("D1:9"), turn("D1:4")], [turn("D1:9"), turn("D1:2")]);
    let within = [BudgetedTurns { budget: 100, turns: &one }, BudgetedTurns { budget: 500, turns: &both }];
    let observed = Observation { within: Some(&within), ..observe(&asked, "", &items) };
    check("evidence_recall@100t", &observed, Some(0.5));
    check("evidence_recall@500t", &observed, Some(1.0));
    // No context was made for these.
    check("evidence_recall@50t", &observed, Some(0.0));
    check("evidence_recall@200t", &observed, Some(1.0));
    check("evidence_recall@1", &observed, Some(1.0));
    let contexts_only = Observation { retrieved: None, ..observed };
    check("evidence_recall@100t", &contexts_only, Some(0.5));
    let error = "evidence_recall@99t".parse::<Metric>().unwrap().score(&contexts_only).unwrap_err();
    assert!(matches!(error, MetricError::Missing { need: Need::Retrieved, .. }), "{error}");
}

#[test]
fn a_run_without_what_is_needed_is_an_error() {
    let asked = question(4, "red", &["D1:2"]);
    let empty = Observation { answer: None, retrieved: None, ..observe(&asked, "", &[]) };
    for form in Metric::forms() {
        let metric: Metric = form.replace("@<k>", "@3").replace("[@<items>|@<tokens>t]", "").parse().unwrap();
        if !metric.applies_to(&asked) {
            continue;
        }
        let need = metric.needs()[0];
        let question = "case_qa4".to_owned();
        assert_eq!(metric.score(&empty), Err(MetricError::Missing { metric, need, question }), "{form}");
    }
    let error = Metric::Bleu1.score(&empty).unwrap_err().to_string();
    assert_eq!(error, "metric `bleu1` needs the answer of question `case_qa4`, and the run has none");
    let silent = Observation { abstained: Some(true), ..empty };
    check("false_refusal", &silent, Some(1.0));
}

#[test]
fn only_false_refusals_are_better_when_lower() {
    for form in Metric::forms() {
        let metric: Metric =
            form.replace("@<k>", "@3").replace("[@<items>|@<tokens>t]", "@3t").parse().unwrap();
        let lower = metric.direction() == Direction::LowerIsBetter;
        assert_eq!(lower, metric == Metric::FalseRefusal, "{metric}");
        assert!(!metric.needs().is_empty());
    }
}

#[tokio::test]
async fn means_carry_their_number_of_questions() {
    let (one, two, none) = (question(1, "red", &[]), question(4, "blue", &[]), question(5, "", &[]));
    let observations = [
        observe(&one, "red", &[]),
        observe(&two, "green", &[]),
        observe(&two, "unknown", &[]),
        observe(&two, "blue", &[]),
        observe(&none, "unknown", &[]),
        observe(&none, "grey", &[]),
    ];
    let scored = evaluate(&Metric::SetF1Simple, &observations).await.unwrap();
    let summary = summarise("set_f1_simple", Aggregation::Mean, &scored, None);
    let shown: Vec<String> =
        summary.by_category.iter().map(|(name, mean)| format!("{name}: {mean}")).collect();
    assert_eq!(shown, ["1 multi-hop: 1.0000 (n = 1)", "4 single-hop: 0.3333 (n = 3)"]);
    assert_eq!((summary.pooled.n, summary.pooled.mean), (4, Some(0.5)));
    assert_eq!(summary.unanswerable.to_string(), "- (n = 0)");

    let metric = Metric::AbstentionBalancedAccuracy;
    let scored = evaluate(&metric, &observations).await.unwrap();
    let summarise = |scored: &[Scored]| summarise("balanced", metric.aggregation(), scored, None);
    let summary = summarise(&scored);
    let counts =
        Abstention::count(observations.iter().map(|o| (o.question.answerable, refuses(o.answer.unwrap()))));
    assert_eq!(counts.balanced_accuracy(), Some(0.625));
    assert_eq!((summary.pooled.n, summary.pooled.mean), (6, Some(0.625)));
    assert_eq!(summary.answerable.mean, counts.false_refusal().map(|f| 1.0 - f));
    let answerable_only = summarise(&scored[..2]);
    assert_eq!(answerable_only.pooled.to_string(), "- (n = 2)");
}

#[test]
fn audits_that_cannot_be_read() {
    let error = GoldAudit::parse(b"{}", &[]).unwrap_err();
    assert!(error.to_string().starts_with("the audit is no list of findings"));
    assert!(GoldAudit::load(std::path::Path::new("/no/such/file"), &[]).is_err());
    let strange = br#"[{"question_id": "x_qa0", "question": "?", "category": 1, "error_type": "AMBIGUOUS"}]"#;
    let audit = GoldAudit::parse(strange, &[]).unwrap();
    assert_eq!((audit.len(), audit.unmatched), (0, vec!["x_qa0".to_owned()]));
}
