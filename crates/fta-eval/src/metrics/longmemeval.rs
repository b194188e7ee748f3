//! LongMemEval's retrieval scores of ranked items: of users' turns, and of sessions.

use std::{collections::BTreeSet, num::NonZeroUsize};

use fta_segment::{Conversation, Role, SessionId};

use super::{
    Metric, Observation, RetrievedItem, longmemeval_ndcg, longmemeval_recall_all, longmemeval_recall_any,
    score::ranked_turns,
};
use crate::datasets::EvidenceRef;

/// Ranked turns scored by their sessions ([`longmemeval_turn_to_session`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnToSession {
    /// Whether a session with a relevant turn was found by one, as 1 or 0.
    pub recall_any: f64,
    /// Whether all of them were, as 1 or 0.
    pub recall_all: f64,
    /// [`longmemeval_ndcg`] of the turns that were looked at.
    pub ndcg: f64,
}

/// Scores ranked turns by their sessions; `None` if nothing is relevant or `k` is 0.
///
/// `ranked`: turns, best first, each once. Turns are looked at from the first on: at least `k`, and more until they are
/// of `k` distinct sessions or the ranking ends. A session is found by its relevant turns alone.
///
/// Quirk: the relevant turns of a session and its other turns count as two sessions, so a ranking that holds both is
/// cut earlier. NDCG is of turns, not of sessions.
///
/// # Source
/// LongMemEval's evaluation of turns as sessions (data notes, section 9), which marks turns without the answer in
/// their session's id.
pub fn longmemeval_turn_to_session(
    ranked: &[&EvidenceRef],
    relevant: &[&EvidenceRef],
    k: usize,
) -> Option<TurnToSession> {
    let relevant_turns: BTreeSet<&EvidenceRef> = relevant.iter().copied().collect();
    let of_session = |turn: &&EvidenceRef| (turn.session.clone(), relevant_turns.contains(*turn));
    let (mut sessions, mut taken) = (BTreeSet::new(), 0);
    for turn in ranked {
        if taken >= k && sessions.len() >= k {
            break;
        }
        sessions.insert(of_session(turn));
        taken += 1;
    }
    // A ranking that ends early is one of which no more is known: nothing cuts the ideal one.
    let depth = if sessions.len() < k { usize::MAX } else { taken };
    let gold: BTreeSet<(SessionId, bool)> = relevant.iter().map(of_session).collect();
    let found = gold.iter().filter(|session| sessions.contains(session)).count();
    Some(TurnToSession {
        recall_any: f64::from(u8::from(found > 0)),
        recall_all: f64::from(u8::from(found == gold.len())),
        ndcg: longmemeval_ndcg(ranked, relevant, if k == 0 { 0 } else { depth })?,
    })
}

/// Which of LongMemEval's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Score {
    RecallAny,
    RecallAll,
    Ndcg,
    SessionRecallAny,
    SessionRecallAll,
    SessionNdcg,
    TurnToSessionRecallAny,
    TurnToSessionRecallAll,
    TurnToSessionNdcg,
}

impl Score {
    /// The score that a metric is, if it is one of these, and its `k`.
    pub(super) fn of(metric: Metric) -> Option<(Self, NonZeroUsize)> {
        Some(match metric {
            Metric::LongMemEvalRecallAny(k) => (Self::RecallAny, k),
            Metric::LongMemEvalRecallAll(k) => (Self::RecallAll, k),
            Metric::LongMemEvalNdcg(k) => (Self::Ndcg, k),
            Metric::LongMemEvalSessionRecallAny(k) => (Self::SessionRecallAny, k),
            Metric::LongMemEvalSessionRecallAll(k) => (Self::SessionRecallAll, k),
            Metric::LongMemEvalSessionNdcg(k) => (Self::SessionNdcg, k),
            Metric::LongMemEvalTurnToSessionRecallAny(k) => (Self::TurnToSessionRecallAny, k),
            Metric::LongMemEvalTurnToSessionRecallAll(k) => (Self::TurnToSessionRecallAll, k),
            Metric::LongMemEvalTurnToSessionNdcg(k) => (Self::TurnToSessionNdcg, k),
            _ => return None,
        })
    }

    /// Score of ranked items; `None` if no evidence turn is a user's.
    pub(super) fn of_items(
        self,
        observation: &Observation<'_>,
        items: &[RetrievedItem],
        k: NonZeroUsize,
    ) -> Option<f64> {
        let is_document = documents(observation.history);
        let mut ranked = ranked_turns(items);
        ranked.retain(|turn| is_document(turn));
        let mut relevant: Vec<&EvidenceRef> = observation.question.evidence.iter().collect();
        relevant.retain(|turn| is_document(turn));
        let (ranked, relevant, k) = (ranked.as_slice(), relevant.as_slice(), k.get());
        let turn_to_session = || longmemeval_turn_to_session(ranked, relevant, k);
        match self {
            Self::RecallAny => longmemeval_recall_any(ranked, relevant, k),
            Self::RecallAll => longmemeval_recall_all(ranked, relevant, k),
            Self::Ndcg => longmemeval_ndcg(ranked, relevant, k),
            Self::SessionRecallAny => longmemeval_recall_any(&sessions(ranked), &sessions(relevant), k),
            Self::SessionRecallAll => longmemeval_recall_all(&sessions(ranked), &sessions(relevant), k),
            Self::SessionNdcg => longmemeval_ndcg(&sessions(ranked), &sessions(relevant), k),
            Self::TurnToSessionRecallAny => turn_to_session().map(|score| score.recall_any),
            Self::TurnToSessionRecallAll => turn_to_session().map(|score| score.recall_all),
            Self::TurnToSessionNdcg => turn_to_session().map(|score| score.ndcg),
        }
    }
}

/// Tells the turns that are documents: those that no assistant says, as far as the history is known.
fn documents(history: Option<&Conversation>) -> impl Fn(&EvidenceRef) -> bool {
    let others: BTreeSet<(&str, &str)> = history
        .into_iter()
        .flat_map(|history| &history.sessions)
        .flat_map(|session| session.turns.iter().map(move |turn| (session, turn)))
        .filter(|(_, turn)| matches!(turn.role, Role::Supporter | Role::System))
        .map(|(session, turn)| (session.id.0.as_str(), turn.source_id.as_str()))
        .collect();
    move |turn| !others.contains(&(turn.session.0.as_str(), turn.turn.as_str()))
}

/// Sessions of turns in the order of their first turns, each once.
fn sessions<'t>(turns: &[&'t EvidenceRef]) -> Vec<&'t SessionId> {
    let mut seen = BTreeSet::new();
    turns.iter().map(|turn| &turn.session).filter(|session| seen.insert(*session)).collect()
}

#[cfg(test)]
mod tests {
    use fta_segment::{Session, Turn};

    use super::*;
    use crate::{datasets::CaseQuestion, metrics::tests::question};

    fn turn(session: &str, number: usize) -> EvidenceRef {
        EvidenceRef { session: session.into(), turn: format!("{session}:{number}") }
    }

    /// Sessions `a` to `d` of four turns each; the user says the first and the third.
    fn history() -> Conversation {
        let turn = |session: &str, index: u32| Turn {
            index,
            source_id: format!("{session}:{}", index + 1),
            speaker: if index.is_multiple_of(2) { "user" } else { "assistant" }.to_owned(),
            role: if index.is_multiple_of(2) { Role::Seeker } else { Role::Supporter },
            at: None,
            text: "boats".to_owned(),
            caption: None,
        };
        let session = |id: &str| Session {
            id: id.into(),
            started_at: None,
            turns: (0..4).map(|index| turn(id, index)).collect(),
        };
        Conversation { id: "case".to_owned(), sessions: ["a", "b", "c", "d"].map(session).to_vec() }
    }

    fn asked(evidence: &[(&str, usize)]) -> CaseQuestion {
        let mut question = question(4, "red", &[]);
        question.evidence = evidence.iter().map(|(session, number)| turn(session, *number)).collect();
        question
    }

    #[track_caller]
    fn check(metric: &str, asked: &CaseQuestion, ranked: &[(&str, usize)], expected: Option<f64>) {
        let item = |(session, number): &(&str, usize)| RetrievedItem {
            turns: vec![turn(session, *number)],
            tokens: 1,
        };
        let items: Vec<RetrievedItem> = ranked.iter().map(item).collect();
        let history = history();
        let observation = Observation {
            conversation: "case",
            question: asked,
            answer: None,
            abstained: None,
            retrieved: Some(&items),
            within: None,
            history: Some(&history),
        };
        let found = metric.parse::<Metric>().unwrap().score(&observation).unwrap();
        let close = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
            (found, expected) => found == expected,
        };
        assert!(close, "{metric}: {found:?}, not {expected:?}");
    }

    #[test]
    fn only_users_turns_are_documents() {
        let question = asked(&[("a", 2), ("a", 3)]);
        // The assistant's turns take no rank and need not be found.
        let ranked = [("b", 2), ("a", 2), ("c", 1), ("a", 3)];
        check("longmemeval_recall_all@1", &question, &ranked, Some(0.0));
        check("longmemeval_recall_all@2", &question, &ranked, Some(1.0));
        check("longmemeval_ndcg@2", &question, &ranked, Some(1.0));
        let of_the_assistant = asked(&[("a", 2), ("b", 4)]);
        for metric in ["longmemeval_recall_any", "longmemeval_session_ndcg", "longmemeval_turn2session_ndcg"]
        {
            check(&format!("{metric}@5"), &of_the_assistant, &ranked, None);
        }
    }

    /// Random rankings and what LongMemEval's own functions make of them.
    #[test]
    fn equal_to_the_original() {
        #[derive(serde::Deserialize)]
        struct Row {
            k: usize,
            ranked: Vec<(String, String)>,
            relevant: Vec<(String, String)>,
            turn: (f64, f64, f64),
            turn2session: (f64, f64, f64),
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/longmemeval-turn-to-session.json");
        let rows: Vec<Row> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(rows.len(), 60);
        let close = |found: (f64, f64, f64), expected: (f64, f64, f64)| {
            let differences = [found.0 - expected.0, found.1 - expected.1, found.2 - expected.2];
            differences.into_iter().all(|difference| difference.abs() < 1e-8)
        };
        for row in rows {
            let turns = |turns: &[(String, String)]| -> Vec<EvidenceRef> {
                let turn = |(session, turn): &(String, String)| EvidenceRef {
                    session: session.as_str().into(),
                    turn: turn.clone(),
                };
                turns.iter().map(turn).collect()
            };
            let (ranked, relevant) = (turns(&row.ranked), turns(&row.relevant));
            let (ranked, relevant): (Vec<_>, Vec<_>) = (ranked.iter().collect(), relevant.iter().collect());
            let found = longmemeval_turn_to_session(&ranked, &relevant, row.k).unwrap();
            let found = (found.recall_any, found.recall_all, found.ndcg);
            assert!(close(found, row.turn2session), "k = {}, {ranked:?}: {found:?}", row.k);
            let found = (
                longmemeval_recall_any(&ranked, &relevant, row.k).unwrap(),
                longmemeval_recall_all(&ranked, &relevant, row.k).unwrap(),
                longmemeval_ndcg(&ranked, &relevant, row.k).unwrap(),
            );
            assert!(close(found, row.turn), "k = {}, {ranked:?}: {found:?}", row.k);
        }
    }

    #[test]
    fn sessions_stand_where_their_first_turns_stand() {
        let question = asked(&[("b", 1), ("d", 3)]);
        let ranked = [("a", 1), ("a", 3), ("b", 3), ("c", 2), ("d", 1)];
        check("longmemeval_recall_any@5", &question, &ranked, Some(0.0));
        check("longmemeval_session_recall_any@1", &question, &ranked, Some(0.0));
        check("longmemeval_session_recall_any@2", &question, &ranked, Some(1.0));
        check("longmemeval_session_recall_all@2", &question, &ranked, Some(0.0));
        check("longmemeval_session_recall_all@3", &question, &ranked, Some(1.0));
        // Ranks 2 and 3 of ideally 1 and 2.
        let ndcg = f64::midpoint(1.0, 1.0 / 3_f64.log2());
        check("longmemeval_session_ndcg@3", &question, &ranked, Some(ndcg));
    }

    #[test]
    fn turns_are_mapped_to_sessions_as_in_the_original() {
        let question = asked(&[("b", 1), ("c", 3)]);
        // Two turns of `a` are one session, so two sessions take three turns; `b` is not found by another turn of it.
        check(
            "longmemeval_turn2session_recall_any@2",
            &question,
            &[("a", 1), ("a", 3), ("b", 1), ("c", 3)],
            Some(1.0),
        );
        check(
            "longmemeval_turn2session_recall_all@2",
            &question,
            &[("a", 1), ("a", 3), ("b", 1), ("c", 3)],
            Some(0.0),
        );
        check("longmemeval_turn2session_recall_any@2", &question, &[("a", 1), ("b", 3), ("b", 1)], Some(0.0));
        // The two turns of `b` are two sessions to it, and three turns are looked at.
        let ranked = [("b", 3), ("b", 1), ("a", 1), ("c", 3)];
        check("longmemeval_turn2session_recall_all@3", &question, &ranked, Some(0.0));
        check("longmemeval_turn2session_recall_all@4", &question, &ranked, Some(1.0));
        check("longmemeval_turn2session_ndcg@3", &question, &ranked, Some(0.5));
        check("longmemeval_turn2session_ndcg@9", &question, &ranked, Some(f64::midpoint(1.0, 0.5)));
        assert_eq!(longmemeval_turn_to_session(&[], &[], 3), None);
    }
}
