use fta_units::SituationType;
use proptest::prelude::*;

use super::*;
use crate::query::AnswerType;

fn rewrite(text: &str, speakers: &[&str]) -> Query {
    let speakers: Vec<String> = speakers.iter().map(|s| (*s).to_owned()).collect();
    RuleRewriter
        .rewrite_now(Question { text, asked_at: None, speakers: &speakers })
        .expect("question has text")
}

#[test]
fn speakers_are_found_in_any_form() {
    for text in ["Where did rosalind go?", "Is it Rosalind's car?", "What did Ros buy?"] {
        assert_eq!(rewrite(text, &["Rosalind", "Theo"]).speakers, ["Rosalind"], "{text}");
    }
    assert_eq!(rewrite("Did Theo meet Rosalind?", &["Rosalind", "Theo"]).speakers, ["Theo", "Rosalind"]);
}

#[test]
fn ambiguous_or_short_prefixes_name_nobody() {
    assert!(rewrite("What did Mar say?", &["Mara", "Marta"]).speakers.is_empty());
    assert!(rewrite("What did Ro say?", &["Rosalind"]).speakers.is_empty());
    assert!(rewrite("What did the theorist say?", &["Theo"]).speakers.is_empty());
    assert!(rewrite("May I ask the mayor?", &["Maya"]).speakers.is_empty());
}

#[test]
fn entities_are_names_and_titles() {
    let query =
        rewrite("Did Rosalind read \"The Quiet Year\" in Lisbon with Aunt June?", &["Rosalind", "Theo"]);
    assert_eq!(query.entities, ["The Quiet Year", "Lisbon", "Aunt June"]);
    assert!(rewrite("When did Theo quit in March?", &["Theo"]).entities.is_empty());
    assert!(rewrite("Why was Theo upset?", &["Theo"]).entities.is_empty());
}

#[test]
fn the_wording_stays() {
    assert_eq!(rewrite(" When did Theo start therapy? ", &["Theo"]).text, "When did Theo start therapy?");
}

#[test]
fn situations_and_emotions_only_when_clear() {
    assert_eq!(rewrite("What is Theo planning for June?", &[]).situations, [SituationType::HomeworkOrPlan]);
    assert_eq!(rewrite("How did Theo feel?", &[]).situations, [SituationType::CurrentState]);
    assert_eq!(rewrite("What did the coach suggest?", &[]).situations, [SituationType::SupportInteraction]);
    assert!(rewrite("What did Theo buy?", &[]).situations.is_empty());
    assert_eq!(rewrite("Why was Theo anxious and sad?", &[]).emotions, ["anxiety", "sadness"]);
}

#[test]
fn empty_question_is_refused() {
    assert!(matches!(
        RuleRewriter.rewrite_now(Question { text: "  ", asked_at: None, speakers: &[] }),
        Err(RewriteError::Empty)
    ));
}

#[tokio::test]
async fn port_and_direct_call_agree() {
    let speakers = ["Theo".to_owned()];
    let question = Question { text: "How old is Theo?", asked_at: None, speakers: &speakers };
    let rewriter: Box<dyn QueryRewriter> = Box::new(RuleRewriter);
    let query = rewriter.rewrite(question).await.expect("question has text");
    assert_eq!(query, RuleRewriter.rewrite_now(question).expect("question has text"));
    assert_eq!(query.answer, AnswerType::HowMany);
}

proptest! {
    #[test]
    fn any_text_is_rewritten(text in "\\PC{1,60}", names in prop::collection::vec("\\PC{0,8}", 0..3)) {
        let outcome = RuleRewriter.rewrite_now(Question { text: &text, asked_at: None, speakers: &names });
        prop_assert_eq!(outcome.is_err(), text.trim().is_empty());
        if let Ok(query) = outcome {
            prop_assert!(!query.text.is_empty());
            prop_assert!(query.speakers.iter().all(|s| names.contains(s)));
        }
    }
}
