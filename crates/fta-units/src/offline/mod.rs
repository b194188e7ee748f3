//! Unit extraction without a language model: rules and word lists.
//!
//! A fragment is read sentence by sentence ([`sentences()`]); filler is dropped; statements become units, about one per
//! turn, answers together with their questions, questions without an answer as partial units that are carried on
//! (Eq. 4) and fused when the answer comes (Eq. 5, [`fuse()`]). Claims are the speaker's own words in the third person. All
//! word lists (`lexicon/*.txt`) are general English, written for this project; text in other languages is kept verbatim.
//!
//! Not here: time expressions (`crate::time`) and links between units (`crate::link`).

pub(crate) mod affect;
pub(crate) mod build;
mod coverage;
mod draft;
pub(crate) mod fuse;
pub(crate) mod lexicon;
pub(crate) mod people;
pub(crate) mod person;
mod sentences;
mod situation;
#[cfg(test)]
mod tests;
pub(crate) mod turns;

use async_trait::async_trait;
use fta_segment::TurnSpan;

pub use affect::emotions;
pub use coverage::{Coverage, coverage};
pub use fuse::fuse;
pub use sentences::{MAX_SENTENCE_CHARS, sentences};
pub use turns::{SentenceKind, TurnKind, turn_kind};

use self::{
    build::Scene,
    draft::{Draft, OpenQuestion},
    turns::ReadTurn,
};
use crate::{
    extract::{ExtractError, Extraction, ExtractionInput, UnitExtractor},
    unit::{CandidateUnit, UnitStatus},
};

/// Name and version of the rules, kept as provenance.
pub(crate) const EXTRACTOR: &str = "rules/1";

/// Thresholds of the rules.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleConfig {
    /// A turn with more bytes of content than this gives several units.
    pub long_turn_bytes: usize,
    /// Bytes of content per unit of a long turn, about.
    pub group_bytes: usize,
    /// A new matter ("by the way") begins a unit of its own after this many bytes.
    pub marker_bytes: usize,
    /// Messages of one speaker in a row are one statement up to this many bytes together.
    pub join_bytes: usize,
    /// Longest line of [`crate::FactAnchor::summary`], in characters.
    pub summary_chars: usize,
    /// Longest question repeated in the claim of its answer, in characters.
    pub question_chars: usize,
    /// An answer that needs its question is quoted word for word up to this many bytes.
    pub quoted_answer_bytes: usize,
    /// A question waits for its answer for this many turns.
    pub question_reach: u32,
    /// Turns between a partial unit and the unit that goes on with it, at most.
    pub fusion_gap: u32,
    /// The same for announcements ("something happened"), which need no shared words.
    pub announcement_gap: u32,
    /// Share of content words that a unit has in common with the partial one that it goes on with.
    pub fusion_overlap: f32,
}

impl Default for RuleConfig {
    fn default() -> Self {
        Self {
            long_turn_bytes: 500,
            group_bytes: 380,
            marker_bytes: 60,
            join_bytes: 280,
            summary_chars: 90,
            question_chars: 160,
            quoted_answer_bytes: 120,
            question_reach: 4,
            fusion_gap: 6,
            announcement_gap: 3,
            fusion_overlap: 0.4,
        }
    }
}

/// The extractor by rules: no model, no network, the same units every time.
///
/// Cost is linear in the text of the fragment.
/// # Source
/// Eq. 3-5. Differs: the paper asks a language model.
#[derive(Debug, Clone, Default)]
pub struct RuleExtractor {
    config: RuleConfig,
}

impl RuleExtractor {
    /// An extractor with other thresholds than the default ones.
    pub fn new(config: RuleConfig) -> Self {
        Self { config }
    }

    /// Extracts candidate units; the work of [`UnitExtractor::extract`] without waiting.
    ///
    /// A fragment that reaches past the session is cut to it.
    pub fn extract_now(&self, input: ExtractionInput<'_>) -> Extraction {
        let n_turns = input.session.turns.len() as u32;
        let span =
            TurnSpan::new(input.fragment.span.start.min(n_turns), input.fragment.span.end.min(n_turns));
        let speakers = speakers_until(input.session, span.end);
        let turns: Vec<ReadTurn<'_>> =
            input.session.span(span).iter().map(|t| ReadTurn::new(t, &speakers)).collect();
        let names = people::names_inside(&turns, &speakers);
        let scene = Scene {
            session: input.session,
            turns: &turns,
            speakers: &speakers,
            names: &names,
            config: &self.config,
        };
        let drafts = draft::drafts(&turns, open_questions(&input, span), &self.config);
        self.assemble(&input, &scene, &drafts)
    }

    /// Builds the units and fuses them with what they complete, carried or of this fragment.
    fn assemble(&self, input: &ExtractionInput<'_>, scene: &Scene<'_>, drafts: &[Draft]) -> Extraction {
        let mut free: Vec<bool> = vec![true; input.carried.len()];
        let mut units: Vec<(CandidateUnit, Vec<usize>)> = Vec::new();
        for draft in drafts {
            let mut unit = scene.unit(draft);
            let mut completes = Vec::new();
            for (index, carried) in input.carried.iter().enumerate().rev() {
                let answers = draft.answers_carried.contains(&index);
                if free[index] && (answers || fuse::continues(carried, &unit, input.session, &self.config)) {
                    unit = fuse::fuse(carried, unit);
                    free[index] = false;
                    completes.push(index);
                }
            }
            // A partial unit of this fragment is completed in place.
            let own = units.iter().rposition(|(older, _)| {
                older.status == UnitStatus::Partial
                    && fuse::continues(older, &unit, input.session, &self.config)
            });
            if let Some(own) = own {
                let (older, mut indexes) = units.remove(own);
                unit = fuse::fuse(&older, unit);
                completes.append(&mut indexes);
            }
            units.push((unit, completes));
        }
        units.sort_by_key(|(u, _)| {
            (u.evidence.turns.start, u.evidence.quotes.first().map(|q| (q.turn, q.start)))
        });
        let mut fused: Vec<(usize, usize)> = units
            .iter()
            .enumerate()
            .flat_map(|(at, (_, carried))| carried.iter().map(move |&c| (c, at)))
            .collect();
        fused.sort_unstable();
        Extraction { units: units.into_iter().map(|(unit, _)| unit).collect(), fused }
    }
}

/// Carried questions of the session, which the fragment may answer.
fn open_questions(input: &ExtractionInput<'_>, span: TurnSpan) -> Vec<OpenQuestion> {
    let carried = input.carried.iter().enumerate().filter(|(_, c)| c.evidence.session == input.session.id);
    carried
        .filter(|(_, unit)| unit.evidence.turns.end <= span.start)
        .filter_map(|(index, unit)| {
            let asker = fuse::asker(unit, input.session)?;
            Some(OpenQuestion::carried(index, asker, unit.evidence.turns.end.saturating_sub(1)))
        })
        .collect()
}

/// The speakers of the turns before `end`, in order of their first turn; what comes later may not have been said yet.
fn speakers_until(session: &fta_segment::Session, end: u32) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for turn in session.turns.iter().take(end as usize) {
        if turn.role != fta_segment::Role::System && !names.contains(&turn.speaker.as_str()) {
            names.push(&turn.speaker);
        }
    }
    names
}

#[async_trait]
impl UnitExtractor for RuleExtractor {
    fn id(&self) -> &'static str {
        EXTRACTOR
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        Ok(self.extract_now(input))
    }
}
