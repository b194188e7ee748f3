//! The offline answerer: candidates, scores, extraction by kind, abstention.

use std::sync::Arc;

use async_trait::async_trait;
use fta_index::Embedder;
use fta_units::UnitId;
use serde::{Deserialize, Serialize};

use super::{
    Answer, AnswerError, Answerer, NOT_MENTIONED, TurnRef,
    asked::Asked,
    candidate::candidates,
    choice::{self, N_FEATURES, default_weights},
    date_text::DateStyle,
    evidence::{EvidenceWeights, confidence},
    kinds::{self, Extracted, Input},
    score::{ScoreWeights, Scored, add_similarities, score_all},
};
use crate::packet::Packet;

/// Settings of the [`ExtractiveAnswerer`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExtractiveConfig {
    /// Weights of a sentence's score.
    pub weights: ScoreWeights,
    /// Probability that the packet answers below which it abstains, in `[0, 1]`; 0 abstains only from answers whose form
    /// rules them out.
    pub min_confidence: f32,
    /// How that probability is made.
    pub evidence: EvidenceWeights,
    /// How many sentences are compared with the question by embedding; the rest do not answer.
    pub max_compared: usize,
    /// How far below the best sentence one may score and still give the answer.
    pub lead_margin: f32,
    /// How many sentences are tried for an answer of the wanted kind.
    pub max_leading: usize,
    /// How far below the best sentence one may score and still add to a list.
    pub list_margin: f32,
    /// Items of a list, at most.
    pub max_items: usize,
    /// Words of an answer, at most.
    pub max_words: usize,
    /// How dates are written.
    pub dates: DateStyle,
    /// What the choice among the readings of the leading sentences weighs; without it the rules of the kind of answer
    /// decide over all sentences together.
    #[serde(skip, default = "learned")]
    pub choice: Option<[f32; N_FEATURES]>,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn learned() -> Option<[f32; N_FEATURES]> {
    Some(default_weights())
}

impl Default for ExtractiveConfig {
    fn default() -> Self {
        Self {
            weights: ScoreWeights::default(),
            // A little below one half: a doubtful answer that says how sure it is serves better than a wrong refusal.
            min_confidence: 0.45,
            evidence: EvidenceWeights::default(),
            max_compared: 20,
            lead_margin: 0.4,
            max_leading: 6,
            list_margin: 0.25,
            max_items: 6,
            max_words: 20,
            dates: DateStyle::default(),
            choice: learned(),
        }
    }
}

/// Answers with the shortest span or date of the packet's sentences: offline, deterministic, English.
///
/// Every word of an answer was said, but for dates, "Yes", "No" and whose sister it is. Abstains when it is likely that
/// nothing was said about it: no sentence is near the question, or only others said such a thing of themselves.
pub struct ExtractiveAnswerer {
    config: ExtractiveConfig,
    embedder: Option<Arc<dyn Embedder>>,
}

/// An answer that is considered: what weights of the choice are learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerReading {
    /// The answer.
    pub text: String,
    /// Its features, by [`super::FEATURES`].
    pub features: [f32; N_FEATURES],
}

impl std::fmt::Debug for ExtractiveAnswerer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExtractiveAnswerer")
            .field("config", &self.config)
            .field("embedder", &self.embedder.as_ref().map(|e| e.model_id().to_owned()))
            .finish()
    }
}

impl ExtractiveAnswerer {
    /// An answerer; with an `embedder`, sentences are also compared with the question by meaning.
    pub fn new(config: ExtractiveConfig, embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self { config, embedder }
    }

    /// Answers without waiting; what [`Answerer::answer`] returns.
    ///
    /// # Errors
    /// [`AnswerError::Embed`] when the embedder fails.
    pub fn answer_now(&self, packet: &Packet) -> Result<Answer, AnswerError> {
        let asked = Asked::new(&packet.query);
        let scored = self.scored(&asked, packet)?;
        let input = Input { asked: &asked, scored: &scored, config: &self.config };
        let chosen = match &self.config.choice {
            Some(weights) => choice::choose(input, weights),
            None => kinds::extract(input).map(|extracted| (extracted, 0.0)),
        };
        let Some((extracted, score)) = chosen else {
            return Ok(abstention(0.0));
        };
        let confidence = confidence(&asked, &scored, (&extracted, score), &self.config.evidence);
        if confidence <= 0.0 || confidence < self.config.min_confidence {
            return Ok(abstention(confidence));
        }
        Ok(answer_from(extracted, &scored, confidence))
    }

    /// Every answer that is considered for a packet.
    ///
    /// # Errors
    /// As [`ExtractiveAnswerer::answer_now`].
    pub fn readings(&self, packet: &Packet) -> Result<Vec<AnswerReading>, AnswerError> {
        let asked = Asked::new(&packet.query);
        let scored = self.scored(&asked, packet)?;
        let input = Input { asked: &asked, scored: &scored, config: &self.config };
        let readings = choice::readings(input).into_iter();
        Ok(readings.map(|r| AnswerReading { text: r.answer.text, features: r.features }).collect())
    }

    /// The sentences of a packet, best first.
    fn scored<'p>(&self, asked: &Asked<'_>, packet: &'p Packet) -> Result<Vec<Scored<'p>>, AnswerError> {
        let weights = &self.config.weights;
        let mut scored = score_all(asked, candidates(packet), weights);
        if let Some(embedder) = &self.embedder {
            scored.truncate(self.config.max_compared);
            let similarities = similarities(&**embedder, &packet.query.text, &scored)?;
            add_similarities(&mut scored, &similarities, weights);
        }
        Ok(scored)
    }
}

/// Cosine of each candidate with the query text.
fn similarities(
    embedder: &dyn Embedder,
    query: &str,
    scored: &[Scored<'_>],
) -> Result<Vec<f32>, AnswerError> {
    let said: Vec<String> =
        scored.iter().map(|s| format!("{}: {}", s.candidate.speaker, s.candidate.text)).collect();
    let mut texts: Vec<&str> = vec![query];
    texts.extend(said.iter().map(String::as_str));
    let rows = embedder.embed(&texts)?;
    let Some(question) = rows.row(0) else {
        return Ok(Vec::new());
    };
    Ok(rows.rows().skip(1).map(|row| row.iter().zip(question).map(|(a, b)| a * b).sum()).collect())
}

fn abstention(confidence: f32) -> Answer {
    Answer {
        text: NOT_MENTIONED.to_owned(),
        abstained: true,
        confidence: 1.0 - confidence,
        ..Answer::default()
    }
}

fn answer_from(extracted: Extracted, scored: &[Scored<'_>], confidence: f32) -> Answer {
    let mut units: Vec<UnitId> = Vec::new();
    let mut evidence: Vec<TurnRef> = Vec::new();
    for candidate in extracted.used.iter().filter_map(|&i| scored.get(i)).map(|s| &s.candidate) {
        if !units.contains(&candidate.unit.id) {
            units.push(candidate.unit.id);
        }
        let Some(turn) = candidate.turn else { continue };
        let reference = TurnRef {
            session: candidate.session.clone(),
            turn: turn.index,
            source_id: turn.source_id.clone(),
        };
        if !evidence.contains(&reference) {
            evidence.push(reference);
        }
    }
    Answer { text: extracted.text, abstained: false, confidence, units, evidence, time: extracted.time }
}

#[async_trait]
impl Answerer for ExtractiveAnswerer {
    fn id(&self) -> &'static str {
        "extractive/2"
    }

    async fn answer(&self, packet: &Packet) -> Result<Answer, AnswerError> {
        self.answer_now(packet)
    }
}
