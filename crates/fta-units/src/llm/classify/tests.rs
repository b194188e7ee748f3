use fta_llm::{ModelError, ScriptedModel};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::llm::fixture::unit;

fn classifier(model: &Arc<ScriptedModel>, config: LlmClassifierConfig) -> LlmClassifier {
    LlmClassifier::new(model.clone(), &PromptSource::builtin(), config).unwrap()
}

fn older() -> [Unit; 3] {
    [unit(4, "Paul works in a bakery."), unit(7, "Paul has back pain."), unit(9, "Paul will call Dr. Lund.")]
}

fn near(unit: &Unit) -> Neighbour<'_> {
    Neighbour { unit, similarity: 0.5 }
}

/// Labels of two new units: the first compared with units 9 and 4, the second with 7 and 9.
async fn labels(reply: &str) -> Vec<Vec<Option<Relation>>> {
    let [bakery, pain, call] = older();
    let (tram, exercises) = (unit(20, "Paul drives a tram."), unit(21, "Dr. Lund gave Paul exercises."));
    let model = Arc::new(ScriptedModel::new("m").reply(STEP, reply));
    let comparisons = [
        Comparison { unit: &tram, neighbours: &[near(&call), near(&bakery)] },
        Comparison { unit: &exercises, neighbours: &[near(&pain), near(&call)] },
    ];
    classifier(&model, LlmClassifierConfig::default()).classify_batch(&comparisons).await.unwrap()
}

#[tokio::test]
async fn labels_go_to_the_pairs_by_number() {
    use Relation::{FollowUp, Support, Update};
    // Older units are numbered by rising id: bakery 1, pain 2, call 3.
    let found = labels(
        r#"{"links":[{"new":2,"old":3,"relation":"follow-up"},{"new":1,"old":1,"relation":"update"},{"new":2,"old":2,"relation":"support"}]}"#,
    )
    .await;
    assert_eq!(found, [[None, Some(Update)], [Some(Support), Some(FollowUp)]]);
}

#[tokio::test]
async fn what_was_not_asked_does_no_harm() {
    let found = labels(
        r#"{"links":[{"new":1,"old":2,"relation":"update"},{"new":9,"old":1,"relation":"update"},{"new":1,"old":0,"relation":"support"},
        {"new":1,"old":1,"relation":"unknown"},{"new":1,"old":1,"relation":"update"},{"new":2,"old":2,"relation":"enemy"},{"new":2}]}"#,
    )
    .await;
    assert_eq!(found, [[None, None], [None, None]]);
    assert_eq!(labels("[]").await.len(), 2);
}

#[tokio::test]
async fn one_call_serves_a_batch_and_shows_an_older_unit_once() {
    let olds = older();
    let news: Vec<Unit> = (20..25).map(|id| unit(id, "Paul drives a tram.")).collect();
    let neighbours: Vec<Neighbour<'_>> = olds.iter().map(near).collect();
    let comparisons: Vec<Comparison<'_>> =
        news.iter().map(|unit| Comparison { unit, neighbours: &neighbours }).collect();
    let run = async |batch_size: usize| {
        let model = Arc::new(ScriptedModel::new("m").reply_when(|_| true, "{\"links\":[]}"));
        let config = LlmClassifierConfig { batch_size, ..LlmClassifierConfig::default() };
        let found = classifier(&model, config).classify_batch(&comparisons).await.unwrap();
        assert_eq!(found, vec![vec![None; 3]; 5]);
        model.requests()
    };
    let whole = run(12).await;
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].messages.last().unwrap().content.matches("bakery").count(), 1);
    assert_eq!(run(2).await.len(), 3);
    assert_eq!(run(0).await.len(), 5);
}

#[tokio::test]
async fn a_unit_without_neighbours_needs_no_call() {
    let model = Arc::new(ScriptedModel::new("m"));
    let alone = unit(1, "Paul works in a bakery.");
    let found = classifier(&model, LlmClassifierConfig::default()).classify(&alone, &[]).await.unwrap();
    assert_eq!((found.len(), model.requests().len()), (0, 0));
}

#[tokio::test]
async fn a_failing_model_is_a_typed_error() {
    let failure = ModelError::RateLimited { retry_after: None };
    let model = Arc::new(ScriptedModel::new("m").fail(STEP, failure));
    let [bakery, pain, _] = older();
    let error = classifier(&model, LlmClassifierConfig::default()).classify(&bakery, &[near(&pain)]).await;
    assert!(matches!(error, Err(LinkError::Model { source, .. }) if source.is_retryable()));
}

#[tokio::test]
async fn the_request_is_as_recorded() {
    let [bakery, pain, call] = older();
    let new = unit(20, "Paul drives <a> tram.\n\"Really\".");
    let model = Arc::new(ScriptedModel::new("m").reply(STEP, "{\"links\":[]}"));
    let classifier = classifier(&model, LlmClassifierConfig::default());
    assert_eq!(classifier.id(), "llm/1 relations/1 m");
    classifier.classify(&new, &[near(&call), near(&pain), near(&bakery)]).await.unwrap();
    insta::assert_json_snapshot!("relations", model.requests());
    let example = &classifier.prompt.instructions()[2].content;
    assert!(structured::decode::<Reply>(example).unwrap().notes.is_empty());
}

proptest! {
    #[test]
    fn any_reply_gives_a_label_for_each_pair(
        links in prop::collection::vec((0u32..5, 0u32..5, "[a-z_]{0,8}|update|support"), 0..8),
        cut in 0usize..300,
    ) {
        let links: Vec<_> =
            links.iter().map(|(new, old, relation)| json!({"new": new, "old": old, "relation": relation})).collect();
        let mut reply = json!({ "links": links }).to_string();
        if cut % 2 == 0 {
            reply.truncate(cut.max(1));
        }
        let [bakery, pain, call] = older();
        let new = unit(20, "Paul drives a tram.");
        let model = Arc::new(ScriptedModel::new("m").reply_when(|_| true, reply.as_str()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let classifier = classifier(&model, LlmClassifierConfig::default());
        let neighbours = [near(&call), near(&pain), near(&bakery)];
        if let Ok(found) = runtime.block_on(classifier.classify(&new, &neighbours)) {
            prop_assert_eq!(found.len(), 3);
        }
    }
}
