//! Situation types that a question asks for, only where its words are clear.

use fta_units::SituationType;

use crate::words;

/// The situation types that `question` asks for, in a fixed order; empty when it asks for none.
pub(crate) fn situations_asked(question: &str) -> Vec<SituationType> {
    let normal: Vec<String> = words::tokens(question).iter().map(words::Token::norm).collect();
    let has = |list: &[&str]| normal.iter().any(|w| list.contains(&w.as_str()));
    let pair = |a: &[&str], b: &[&str]| {
        normal.windows(2).any(|w| a.contains(&w[0].as_str()) && b.contains(&w[1].as_str()))
    };
    let mut out = Vec::new();
    if has(&["feel", "feeling", "feelings", "felt", "mood"])
        || pair(&["current", "present"], &["job", "state", "situation", "condition", "home", "relationship"])
    {
        out.push(SituationType::CurrentState);
    }
    let two = has(&["between"])
        || has(&["argue", "argument", "divorce", "divorced", "dating", "married", "reconcile"]);
    if has(&["relationship", "breakup", "argument", "divorce", "quarrel", "reconcile"])
        || pair(&["break", "broke", "breaking"], &["up"])
        || (two && has(&["happened", "happen"]))
    {
        out.push(SituationType::RelationshipEvent);
    }
    if has(&["belief", "beliefs", "believe", "believes"]) {
        out.push(SituationType::BeliefCandidate);
    }
    let planning = has(&[
        "plan", "plans", "planning", "planned", "homework", "goal", "goals", "intend", "intends", "upcoming",
    ]) || pair(&["going"], &["to"])
        || pair(&["will"], &["do", "go", "visit", "try"]);
    if planning {
        out.push(SituationType::HomeworkOrPlan);
    }
    if has(&[
        "advice",
        "advise",
        "advised",
        "recommend",
        "recommended",
        "suggest",
        "suggested",
        "suggestion",
        "encourage",
        "encouraged",
        "encouragement",
    ]) {
        out.push(SituationType::SupportInteraction);
    }
    if has(&["suicide", "suicidal", "self-harm", "overdose"]) {
        out.push(SituationType::RiskSignal);
    }
    out
}
