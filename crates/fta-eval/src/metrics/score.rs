//! One question, run, and its score.

use std::num::NonZeroUsize;

use super::{
    BudgetedTurns, Cleaning, Cutoff, LocomoCategory, Metric, MetricError, Need, RetrievedItem, bleu1,
    es_memeval_f1, es_memeval_recall, evidence_recall, locomo_context_recall, locomo_official_f1,
    locomo_official_refusal, longmemeval, ndcg, ndcg_es_parity, recall_at_items, recall_within_tokens,
    refuses, rouge_l, rouge1, rouge2, round_to_thousandths, set_f1_simple, set_f1_word,
};
use fta_segment::Conversation;

use crate::datasets::{CaseQuestion, EvidenceRef};

/// A question and what a system made of it.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// Id of the conversation.
    pub conversation: &'a str,
    /// The question.
    pub question: &'a CaseQuestion,
    /// The answer's text; `None` if the run did not answer.
    pub answer: Option<&'a str>,
    /// Whether the system says that it abstained; `None` if it does not say, then [`refuses`] reads the answer.
    pub abstained: Option<bool>,
    /// What was handed back, best first; `None` if the run did not retrieve.
    pub retrieved: Option<&'a [RetrievedItem]>,
    /// Contexts that were made for token budgets; `None` or without a budget, the lengths of `retrieved` decide.
    pub within: Option<&'a [BudgetedTurns<'a>]>,
    /// The conversation, for the metrics that tell who said a turn; `None` takes every turn as a user's.
    pub history: Option<&'a Conversation>,
}

impl<'a> Observation<'a> {
    /// What the context for this budget holds, if one was made.
    fn turns_within(&self, budget: NonZeroUsize) -> Option<&'a [EvidenceRef]> {
        self.within?.iter().find(|within| within.budget == budget.get()).map(|within| within.turns)
    }
}

impl Metric {
    /// Score of a question, in `[0, 1]`; `None` if the metric does not apply to it.
    ///
    /// # Errors
    /// [`MetricError::Missing`] if the metric applies and the run has no answer or no ranked items.
    pub fn score(self, observation: &Observation<'_>) -> Result<Option<f64>, MetricError> {
        if !self.applies_to(observation.question) {
            return Ok(None);
        }
        let question = || observation.question.id.clone();
        let missing = |need| MetricError::Missing { metric: self, need, question: question() };
        match self {
            Self::Refusal | Self::FalseRefusal | Self::AbstentionBalancedAccuracy => {
                let refused = observation.abstained.or_else(|| observation.answer.map(refuses));
                let refused = refused.ok_or_else(|| missing(Need::Answer))?;
                let right = refused != observation.question.answerable;
                Ok(Some(one_if(if self == Self::AbstentionBalancedAccuracy { right } else { refused })))
            }
            _ if self.needs().contains(&Need::Answer) => {
                let answer = observation.answer.ok_or_else(|| missing(Need::Answer))?;
                Ok(self.of_answer(observation.question, answer))
            }
            Self::EvidenceRecall(Cutoff::Tokens(budget))
                if let Some(turns) = observation.turns_within(budget) =>
            {
                Ok(evidence_recall(turns, &observation.question.evidence))
            }
            _ => {
                let items = observation.retrieved.ok_or_else(|| missing(Need::Retrieved))?;
                Ok(match longmemeval::Score::of(self) {
                    Some((score, k)) => score.of_items(observation, items, k),
                    None => self.of_items(observation.question, items),
                })
            }
        }
    }

    /// Whether it scores such a question at all.
    pub fn applies_to(self, question: &CaseQuestion) -> bool {
        match self {
            Self::LocomoOfficialF1 | Self::LocomoOfficialF1Rounded => locomo_category(question).is_some(),
            Self::SetF1Simple | Self::SetF1Word | Self::Bleu1 | Self::FalseRefusal => question.answerable,
            Self::EsMemevalF1 | Self::EsMemevalF1Parity | Self::Rouge1 | Self::Rouge2 | Self::RougeL => {
                question.answerable || !question.gold.is_empty()
            }
            Self::EvidenceRecall(_) | Self::Ndcg(_) => !question.evidence.is_empty(),
            Self::Refusal | Self::OfficialRefusal => !question.answerable,
            Self::LocomoContextRecall
            | Self::LocomoContextRecallSummary
            | Self::NdcgEsParity(_)
            | Self::EsMemevalRecall(_)
            | Self::AbstentionBalancedAccuracy => true,
            Self::LongMemEvalRecallAny(_)
            | Self::LongMemEvalRecallAll(_)
            | Self::LongMemEvalNdcg(_)
            | Self::LongMemEvalSessionRecallAny(_)
            | Self::LongMemEvalSessionRecallAll(_)
            | Self::LongMemEvalSessionNdcg(_)
            | Self::LongMemEvalTurnToSessionRecallAny(_)
            | Self::LongMemEvalTurnToSessionRecallAll(_)
            | Self::LongMemEvalTurnToSessionNdcg(_) => question.answerable && !question.evidence.is_empty(),
        }
    }

    /// Score of an answer's text; `None` for the metrics of something else.
    fn of_answer(self, question: &CaseQuestion, answer: &str) -> Option<f64> {
        let gold = question.gold.as_str();
        let official = || Some(locomo_official_f1(locomo_category(question)?, answer, gold));
        match self {
            Self::LocomoOfficialF1 => official(),
            Self::LocomoOfficialF1Rounded => official().map(round_to_thousandths),
            Self::SetF1Simple => Some(set_f1_simple(answer, gold)),
            Self::SetF1Word => Some(set_f1_word(answer, gold)),
            Self::Bleu1 => Some(bleu1(answer, gold)),
            Self::EsMemevalF1 => Some(es_memeval_f1(answer, gold, Cleaning::Prefix)),
            Self::EsMemevalF1Parity => Some(es_memeval_f1(answer, gold, Cleaning::Parity)),
            Self::Rouge1 => Some(rouge1(answer, gold)),
            Self::Rouge2 => Some(rouge2(answer, gold)),
            Self::RougeL => Some(rouge_l(answer, gold)),
            Self::OfficialRefusal => Some(one_if(locomo_official_refusal(answer))),
            _ => None,
        }
    }

    /// Score of ranked items; `None` for the metrics of something else.
    fn of_items(self, question: &CaseQuestion, items: &[RetrievedItem]) -> Option<f64> {
        let gold = question.evidence.as_slice();
        let ranked = || ranked_turns(items);
        match self {
            Self::LocomoContextRecallSummary if question.evidence_raw.is_empty() => Some(0.0),
            Self::LocomoContextRecall | Self::LocomoContextRecallSummary => Some(raw_recall(question, items)),
            Self::EvidenceRecall(Cutoff::All) => evidence_recall(ranked(), gold),
            Self::EvidenceRecall(Cutoff::Items(k)) => recall_at_items(items, gold, k.get()),
            Self::EvidenceRecall(Cutoff::Tokens(budget)) => {
                recall_within_tokens(items, gold, budget.get()).map(|within| within.recall)
            }
            Self::Ndcg(k) => ndcg(&ranked(), &references(gold), k.get()),
            Self::NdcgEsParity(k) => Some(ndcg_es_parity(&ranked(), &references(gold), k.get())),
            Self::EsMemevalRecall(k) => Some(es_memeval_recall(&ranked(), &references(gold), k.get())),
            _ => None,
        }
    }
}

fn locomo_category(question: &CaseQuestion) -> Option<LocomoCategory> {
    question.category.and_then(LocomoCategory::from_number)
}

fn one_if(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

/// Turns of the items, best item first, each once.
pub(super) fn ranked_turns(items: &[RetrievedItem]) -> Vec<&EvidenceRef> {
    let mut seen = std::collections::BTreeSet::new();
    items.iter().flat_map(|item| &item.turns).filter(|turn| seen.insert(*turn)).collect()
}

fn references(turns: &[EvidenceRef]) -> Vec<&EvidenceRef> {
    turns.iter().collect()
}

fn raw_recall(question: &CaseQuestion, items: &[RetrievedItem]) -> f64 {
    let ids: Vec<&str> = ranked_turns(items).into_iter().map(|turn| turn.turn.as_str()).collect();
    locomo_context_recall(&ids, &question.evidence_raw)
}
