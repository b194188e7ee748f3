//! Settings of retrieval; every parameter of the paper by its name.

use serde::{Deserialize, Serialize};

use crate::{cue::CueWeights, packet::PacketStyle};

/// How much each view of a unit counts in `s_emb`. Weights are relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewWeights {
    /// The structured retrieval text `rho(m)`: the only view of the paper.
    pub rho: f32,
    /// The best sentence, or the picture, of the turn in which the claim was said.
    pub sentence: f32,
}

impl Default for ViewWeights {
    fn default() -> Self {
        Self { rho: 1.0, sentence: 0.0 }
    }
}

/// What is added to `R` beside the paper's two terms. All zero in the paper's presets.
///
/// Terms that look around a unit take shares of what the units there score without such terms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Boosts {
    /// BM25 over the unit's evidence, scaled to the query's best unit.
    pub lexical: f32,
    /// BM25 over the unit's evidence and the turns around it, scaled likewise.
    pub lexical_window: f32,
    /// The time cue, where the question asks for one: beside `c`, or in its place when `lambda` is 1.
    pub time: f32,
    /// The situation cue, likewise.
    pub situation: f32,
    /// The claim's speaker is the one whom the question names.
    pub speaker: f32,
    /// Share of the best unit said one turn before or after.
    pub adjacency: f32,
    /// Share of the best unit said two turns before or after: mostly by the same speaker.
    pub second_adjacency: f32,
    /// Share of the session's best unit.
    pub session: f32,
}

/// Which turns of a unit's evidence are handed back as source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceScope {
    /// The whole exchange: question and answer.
    #[default]
    Exchange,
    /// Only the turns that the claim rests on; the rest of the exchange comes when it is quoted by another unit.
    Quoted,
    /// Only the turn in which the claim was said ([`crate::claim_turn`]); a question before it comes when it ranks on
    /// its own or when budget is left.
    Said,
}

/// Settings of retrieval and packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrievalConfig {
    /// `lambda` of Eq. 8: share of the embedding similarity against the cue score, in `[0, 1]`.
    pub lambda: f32,
    /// `tau`: least score of a primary unit.
    pub tau: f32,
    /// `K`: most primary units.
    pub k: usize,
    /// `B`: most linked neighbours that a primary unit brings.
    pub linked_per_unit: usize,
    /// Most tokens (characters / 4) of the rendered packet; `None` for no bound beside `K`.
    pub token_budget: Option<usize>,
    /// Weights of the cues in `c`.
    pub cues: CueWeights,
    /// Weights of the views in `s_emb`.
    pub views: ViewWeights,
    /// Further terms.
    pub boosts: Boosts,
    /// Which source turns a unit brings.
    pub source: SourceScope,
    /// The same under a token budget, where what is left out makes room for other units.
    pub source_in_budget: SourceScope,
    /// How the packet is written out.
    pub style: PacketStyle,
    /// Most entries of `U` and `H` in the packet.
    pub background: usize,
    /// Vectors that are looked at before units are scored in full; more is slower and finds more.
    pub candidates: usize,
}

impl RetrievalConfig {
    /// The paper's setting on ES-MemEval: `K` = 10.
    pub fn es_memeval() -> Self {
        Self {
            lambda: 0.8,
            tau: 0.35,
            k: 10,
            linked_per_unit: 1,
            token_budget: None,
            cues: CueWeights::default(),
            views: ViewWeights::default(),
            boosts: Boosts::default(),
            source: SourceScope::Exchange,
            source_in_budget: SourceScope::Exchange,
            style: PacketStyle::Full,
            background: 5,
            candidates: 4_000,
        }
    }

    /// The paper's setting on LoCoMo: `K` = 25.
    pub fn locomo() -> Self {
        Self { k: 25, ..Self::es_memeval() }
    }

    /// The default: several views, a lexical score, the speaker asked about, what was said around a unit, and single
    /// turns as source (see the retrieval page of the book, which says where each weight comes from).
    pub fn offline() -> Self {
        Self {
            lambda: 1.0,
            tau: 0.0,
            k: 25,
            views: ViewWeights { rho: 0.42, sentence: 0.58 },
            boosts: Boosts {
                lexical: 0.18,
                lexical_window: 0.47,
                time: 0.41,
                situation: 0.17,
                speaker: 0.29,
                adjacency: 0.12,
                second_adjacency: 0.23,
                session: 0.46,
            },
            source: SourceScope::Quoted,
            source_in_budget: SourceScope::Said,
            style: PacketStyle::Compact,
            ..Self::es_memeval()
        }
    }
}

impl RetrievalConfig {
    /// Which source turns a unit brings, by whether there is a token budget.
    pub fn source_scope(&self) -> SourceScope {
        if self.token_budget.is_some() { self.source_in_budget } else { self.source }
    }
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self::offline()
    }
}
