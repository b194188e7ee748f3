//! Names of metrics: what each needs, which way is better, how questions become one number.

use std::{fmt, num::NonZeroUsize, str::FromStr};

use serde::{Deserialize, Serialize};

use super::MetricError;

/// A metric, named by a string such as `bleu1`, `ndcg@10` or `evidence_recall@1000t`.
///
/// Metrics of the first `k` count turns: the turns of the items, best item first, each turn once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// `locomo_official_f1`: [`locomo_official_f1`](super::locomo_official_f1); questions with a LoCoMo category.
    LocomoOfficialF1,
    /// `locomo_official_f1_rounded`: the same, each question rounded to three decimals, as LoCoMo's tables are made.
    LocomoOfficialF1Rounded,
    /// `set_f1_simple`: [`set_f1_simple`](super::set_f1_simple); answerable questions.
    SetF1Simple,
    /// `set_f1_word`: [`set_f1_word`](super::set_f1_word); answerable questions.
    SetF1Word,
    /// `bleu1`: [`bleu1`](super::bleu1); answerable questions.
    Bleu1,
    /// `es_memeval_f1`: [`es_memeval_f1`](super::es_memeval_f1) with the prefix removed; questions with a gold answer.
    EsMemevalF1,
    /// `es_memeval_f1_parity`: the same with the original's cleaning.
    EsMemevalF1Parity,
    /// `rouge1`: [`rouge1`](super::rouge1); questions with a gold answer.
    Rouge1,
    /// `rouge2`: [`rouge2`](super::rouge2); questions with a gold answer.
    Rouge2,
    /// `rougeL`: [`rouge_l`](super::rouge_l); questions with a gold answer.
    RougeL,
    /// `locomo_context_recall`: [`locomo_context_recall`](super::locomo_context_recall) of the turns of all items.
    LocomoContextRecall,
    /// `locomo_context_recall_summary`: the same with 0 for questions without evidence, so that the mean over a
    /// category is the one that LoCoMo's code prints.
    LocomoContextRecallSummary,
    /// `evidence_recall`, `evidence_recall@5`, `evidence_recall@1000t`: [`evidence_recall`](super::evidence_recall) of
    /// all items, the first 5 items, the items within 1000 tokens; questions with evidence turns.
    EvidenceRecall(Cutoff),
    /// `ndcg@10`: [`ndcg`](super::ndcg); questions with evidence turns.
    Ndcg(NonZeroUsize),
    /// `ndcg_es_parity@10`: [`ndcg_es_parity`](super::ndcg_es_parity); 0 for questions without evidence turns.
    NdcgEsParity(NonZeroUsize),
    /// `es_memeval_recall@10`: [`es_memeval_recall`](super::es_memeval_recall); 0 for questions without evidence turns.
    EsMemevalRecall(NonZeroUsize),
    /// `longmemeval_recall_any@10`: [`longmemeval_recall_any`](super::longmemeval_recall_any); answerable questions
    /// with evidence turns. Where the history is given, documents are the turns that no assistant says, and questions
    /// whose evidence is all an assistant's have no score.
    LongMemEvalRecallAny(NonZeroUsize),
    /// `longmemeval_recall_all@10`: [`longmemeval_recall_all`](super::longmemeval_recall_all), as before.
    LongMemEvalRecallAll(NonZeroUsize),
    /// `longmemeval_ndcg@10`: [`longmemeval_ndcg`](super::longmemeval_ndcg), as before.
    LongMemEvalNdcg(NonZeroUsize),
    /// `longmemeval_session_recall_any@10`: the same of sessions: each stands where its first turn stands, and it is
    /// relevant if it has an evidence turn.
    LongMemEvalSessionRecallAny(NonZeroUsize),
    /// `longmemeval_session_recall_all@10`: as before.
    LongMemEvalSessionRecallAll(NonZeroUsize),
    /// `longmemeval_session_ndcg@10`: as before.
    LongMemEvalSessionNdcg(NonZeroUsize),
    /// `longmemeval_turn2session_recall_any@10`: [`longmemeval_turn_to_session`](super::longmemeval_turn_to_session), as
    /// the original maps ranked turns to sessions.
    LongMemEvalTurnToSessionRecallAny(NonZeroUsize),
    /// `longmemeval_turn2session_recall_all@10`: as before.
    LongMemEvalTurnToSessionRecallAll(NonZeroUsize),
    /// `longmemeval_turn2session_ndcg@10`: as before.
    LongMemEvalTurnToSessionNdcg(NonZeroUsize),
    /// `refusal`: whether it was refused; unanswerable questions.
    Refusal,
    /// `official_refusal`: the same by [`locomo_official_refusal`](super::locomo_official_refusal) on the answer's text.
    OfficialRefusal,
    /// `false_refusal`: whether it was refused; answerable questions. Lower is better.
    FalseRefusal,
    /// `abstention_balanced_accuracy`: whether it was refused just when it is unanswerable; the mean of the means of
    /// answerable and unanswerable questions.
    AbstentionBalancedAccuracy,
}

/// How much of what was retrieved counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cutoff {
    /// All of it.
    All,
    /// The first items.
    Items(NonZeroUsize),
    /// The items within so many tokens.
    Tokens(NonZeroUsize),
}

/// What a metric needs of a question and of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// The answer's text.
    Answer,
    /// Ranked items.
    Retrieved,
    /// A gold answer.
    Gold,
    /// A LoCoMo category, 1 to 5.
    LocomoCategory,
    /// Evidence, raw or as turns.
    Evidence,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// More is better.
    HigherIsBetter,
    /// Less is better.
    LowerIsBetter,
}

/// How the scores of questions become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// Their mean.
    Mean,
    /// The mean of the mean over answerable questions and the mean over unanswerable ones.
    MeanOfAnswerability,
}

/// What may stand after `@` in a name.
#[derive(Clone, Copy)]
enum Form {
    Plain(Metric),
    Cut(fn(Cutoff) -> Metric),
    Top(fn(NonZeroUsize) -> Metric),
}

/// Names and forms, in the order of the enum.
const FORMS: [(&str, Form); 29] = [
    ("locomo_official_f1", Form::Plain(Metric::LocomoOfficialF1)),
    ("locomo_official_f1_rounded", Form::Plain(Metric::LocomoOfficialF1Rounded)),
    ("set_f1_simple", Form::Plain(Metric::SetF1Simple)),
    ("set_f1_word", Form::Plain(Metric::SetF1Word)),
    ("bleu1", Form::Plain(Metric::Bleu1)),
    ("es_memeval_f1", Form::Plain(Metric::EsMemevalF1)),
    ("es_memeval_f1_parity", Form::Plain(Metric::EsMemevalF1Parity)),
    ("rouge1", Form::Plain(Metric::Rouge1)),
    ("rouge2", Form::Plain(Metric::Rouge2)),
    ("rougeL", Form::Plain(Metric::RougeL)),
    ("locomo_context_recall", Form::Plain(Metric::LocomoContextRecall)),
    ("locomo_context_recall_summary", Form::Plain(Metric::LocomoContextRecallSummary)),
    ("evidence_recall", Form::Cut(Metric::EvidenceRecall)),
    ("ndcg", Form::Top(Metric::Ndcg)),
    ("ndcg_es_parity", Form::Top(Metric::NdcgEsParity)),
    ("es_memeval_recall", Form::Top(Metric::EsMemevalRecall)),
    ("longmemeval_recall_any", Form::Top(Metric::LongMemEvalRecallAny)),
    ("longmemeval_recall_all", Form::Top(Metric::LongMemEvalRecallAll)),
    ("longmemeval_ndcg", Form::Top(Metric::LongMemEvalNdcg)),
    ("longmemeval_session_recall_any", Form::Top(Metric::LongMemEvalSessionRecallAny)),
    ("longmemeval_session_recall_all", Form::Top(Metric::LongMemEvalSessionRecallAll)),
    ("longmemeval_session_ndcg", Form::Top(Metric::LongMemEvalSessionNdcg)),
    ("longmemeval_turn2session_recall_any", Form::Top(Metric::LongMemEvalTurnToSessionRecallAny)),
    ("longmemeval_turn2session_recall_all", Form::Top(Metric::LongMemEvalTurnToSessionRecallAll)),
    ("longmemeval_turn2session_ndcg", Form::Top(Metric::LongMemEvalTurnToSessionNdcg)),
    ("refusal", Form::Plain(Metric::Refusal)),
    ("official_refusal", Form::Plain(Metric::OfficialRefusal)),
    ("false_refusal", Form::Plain(Metric::FalseRefusal)),
    ("abstention_balanced_accuracy", Form::Plain(Metric::AbstentionBalancedAccuracy)),
];

impl Form {
    /// How a metric of this form is written.
    fn shown(self, name: &str) -> String {
        match self {
            Self::Plain(_) => name.to_owned(),
            Self::Cut(_) => format!("{name}[@<items>|@<tokens>t]"),
            Self::Top(_) => format!("{name}@<k>"),
        }
    }

    /// The metric with this text after `@`.
    fn read(self, cut: Option<&str>) -> Option<Metric> {
        match (self, cut) {
            (Self::Plain(metric), None) => Some(metric),
            (Self::Cut(metric), None) => Some(metric(Cutoff::All)),
            (Self::Cut(metric), Some(cut)) => Some(metric(match cut.strip_suffix('t') {
                Some(tokens) => Cutoff::Tokens(positive(tokens)?),
                None => Cutoff::Items(positive(cut)?),
            })),
            (Self::Top(metric), Some(k)) => Some(metric(positive(k)?)),
            (Self::Plain(_), Some(_)) | (Self::Top(_), None) => None,
        }
    }
}

/// A number from 1 in its only spelling.
fn positive(digits: &str) -> Option<NonZeroUsize> {
    digits.parse().ok().filter(|number: &NonZeroUsize| number.to_string() == digits)
}

impl Metric {
    /// The forms of all names, as `ndcg@<k>`.
    pub fn forms() -> Vec<String> {
        FORMS.iter().map(|(name, form)| form.shown(name)).collect()
    }

    /// Its name without what stands after `@`.
    pub fn base_name(self) -> &'static str {
        match self {
            Self::LocomoOfficialF1 => "locomo_official_f1",
            Self::LocomoOfficialF1Rounded => "locomo_official_f1_rounded",
            Self::SetF1Simple => "set_f1_simple",
            Self::SetF1Word => "set_f1_word",
            Self::Bleu1 => "bleu1",
            Self::EsMemevalF1 => "es_memeval_f1",
            Self::EsMemevalF1Parity => "es_memeval_f1_parity",
            Self::Rouge1 => "rouge1",
            Self::Rouge2 => "rouge2",
            Self::RougeL => "rougeL",
            Self::LocomoContextRecall => "locomo_context_recall",
            Self::LocomoContextRecallSummary => "locomo_context_recall_summary",
            Self::EvidenceRecall(_) => "evidence_recall",
            Self::Ndcg(_) => "ndcg",
            Self::NdcgEsParity(_) => "ndcg_es_parity",
            Self::EsMemevalRecall(_) => "es_memeval_recall",
            Self::LongMemEvalRecallAny(_) => "longmemeval_recall_any",
            Self::LongMemEvalRecallAll(_) => "longmemeval_recall_all",
            Self::LongMemEvalNdcg(_) => "longmemeval_ndcg",
            Self::LongMemEvalSessionRecallAny(_) => "longmemeval_session_recall_any",
            Self::LongMemEvalSessionRecallAll(_) => "longmemeval_session_recall_all",
            Self::LongMemEvalSessionNdcg(_) => "longmemeval_session_ndcg",
            Self::LongMemEvalTurnToSessionRecallAny(_) => "longmemeval_turn2session_recall_any",
            Self::LongMemEvalTurnToSessionRecallAll(_) => "longmemeval_turn2session_recall_all",
            Self::LongMemEvalTurnToSessionNdcg(_) => "longmemeval_turn2session_ndcg",
            Self::Refusal => "refusal",
            Self::OfficialRefusal => "official_refusal",
            Self::FalseRefusal => "false_refusal",
            Self::AbstentionBalancedAccuracy => "abstention_balanced_accuracy",
        }
    }

    /// What it needs.
    ///
    /// Of these, a question without gold answer, category or evidence has no score; a run without answer or ranked
    /// items is an error. The metrics of refusal believe a system that says itself whether it abstained, and read the
    /// answer only where it does not say.
    pub fn needs(self) -> &'static [Need] {
        match self {
            Self::LocomoOfficialF1 | Self::LocomoOfficialF1Rounded => {
                &[Need::Answer, Need::Gold, Need::LocomoCategory]
            }
            Self::SetF1Simple
            | Self::SetF1Word
            | Self::Bleu1
            | Self::EsMemevalF1
            | Self::EsMemevalF1Parity
            | Self::Rouge1
            | Self::Rouge2
            | Self::RougeL => &[Need::Answer, Need::Gold],
            Self::LocomoContextRecall
            | Self::LocomoContextRecallSummary
            | Self::EvidenceRecall(_)
            | Self::Ndcg(_)
            | Self::NdcgEsParity(_)
            | Self::EsMemevalRecall(_)
            | Self::LongMemEvalRecallAny(_)
            | Self::LongMemEvalRecallAll(_)
            | Self::LongMemEvalNdcg(_)
            | Self::LongMemEvalSessionRecallAny(_)
            | Self::LongMemEvalSessionRecallAll(_)
            | Self::LongMemEvalSessionNdcg(_)
            | Self::LongMemEvalTurnToSessionRecallAny(_)
            | Self::LongMemEvalTurnToSessionRecallAll(_)
            | Self::LongMemEvalTurnToSessionNdcg(_) => &[Need::Retrieved, Need::Evidence],
            Self::Refusal | Self::OfficialRefusal | Self::FalseRefusal | Self::AbstentionBalancedAccuracy => {
                &[Need::Answer]
            }
        }
    }

    /// Which way is better.
    pub fn direction(self) -> Direction {
        match self {
            Self::FalseRefusal => Direction::LowerIsBetter,
            _ => Direction::HigherIsBetter,
        }
    }

    /// How the scores of questions become one number.
    pub fn aggregation(self) -> Aggregation {
        match self {
            Self::AbstentionBalancedAccuracy => Aggregation::MeanOfAnswerability,
            _ => Aggregation::Mean,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base_name())?;
        match self {
            Self::EvidenceRecall(Cutoff::Tokens(tokens)) => write!(f, "@{tokens}t"),
            Self::EvidenceRecall(Cutoff::Items(k))
            | Self::Ndcg(k)
            | Self::NdcgEsParity(k)
            | Self::EsMemevalRecall(k)
            | Self::LongMemEvalRecallAny(k)
            | Self::LongMemEvalRecallAll(k)
            | Self::LongMemEvalNdcg(k)
            | Self::LongMemEvalSessionRecallAny(k)
            | Self::LongMemEvalSessionRecallAll(k)
            | Self::LongMemEvalSessionNdcg(k)
            | Self::LongMemEvalTurnToSessionRecallAny(k)
            | Self::LongMemEvalTurnToSessionRecallAll(k)
            | Self::LongMemEvalTurnToSessionNdcg(k) => write!(f, "@{k}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Metric {
    type Err = MetricError;

    fn from_str(text: &str) -> Result<Self, MetricError> {
        let (name, cut) = text.split_once('@').map_or((text, None), |(name, cut)| (name, Some(cut)));
        let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) else {
            return Err(MetricError::Unknown { name: text.to_owned(), known: Self::forms().join(", ") });
        };
        let wrong = || MetricError::Cutoff { name: text.to_owned(), expected: form.shown(name) };
        form.read(cut).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Metric {
    type Error = MetricError;

    fn try_from(text: String) -> Result<Self, MetricError> {
        text.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answer => "the answer",
            Self::Retrieved => "the ranked items",
            Self::Gold => "the gold answer",
            Self::LocomoCategory => "the LoCoMo category",
            Self::Evidence => "the evidence",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written_alike() {
        for (name, form) in FORMS {
            let texts = match form {
                Form::Plain(_) => vec![name.to_owned()],
                Form::Cut(_) => vec![name.to_owned(), format!("{name}@5"), format!("{name}@1000t")],
                Form::Top(_) => vec![format!("{name}@10")],
            };
            for text in texts {
                let metric: Metric = text.parse().unwrap();
                assert_eq!(metric.to_string(), text);
                assert_eq!(metric.base_name(), name);
                let json = serde_json::to_string(&metric).unwrap();
                assert_eq!(json, format!("\"{text}\""));
                assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
            }
        }
    }

    #[test]
    fn wrong_names() {
        let read = |text: &str| text.parse::<Metric>().unwrap_err().to_string();
        assert!(read("f1").starts_with("`f1` is no metric; known are locomo_official_f1, "));
        assert_eq!(read("ndcg"), "metric `ndcg`: expected `ndcg@<k>`, with numbers from 1");
        for text in
            ["ndcg@0", "ndcg@5t", "ndcg@+5", "ndcg@05", "bleu1@3", "evidence_recall@t", "evidence_recall@"]
        {
            assert!(matches!(text.parse::<Metric>(), Err(MetricError::Cutoff { .. })), "{text}");
        }
        assert!(serde_json::from_str::<Metric>("\"f1\"").is_err());
    }
}
