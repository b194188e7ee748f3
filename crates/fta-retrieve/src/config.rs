//! Settings of retrieval; every parameter of the paper by its name.

use serde::{Deserialize, Serialize};

use crate::{cue::CueWeights, packet::PacketStyle};

/// How much each view of a unit counts in `s_emb`. Weights are relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewWeights {
    /// The structured retrieval text `rho(m)`: the only view of the paper.
    pub rho: f32,
    /// The best sentence of the evidence.
    pub sentence: f32,
    /// The evidence with what was said just before.
    pub context: f32,
}

impl Default for ViewWeights {
    fn default() -> Self {
        Self { rho: 1.0, sentence: 0.0, context: 0.0 }
    }
}

/// What is added to `R` beside the paper's two terms. All zero in the paper's presets.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Boosts {
    /// BM25 over the unit's evidence, scaled to the query's best unit.
    pub lexical: f32,
    /// BM25 over the unit's evidence and the turns around it, scaled likewise.
    pub lexical_window: f32,
    /// The claim's speaker is the one whom the question names.
    pub speaker: f32,
    /// Share of the better of the two units before and after it in the session.
    pub adjacency: f32,
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
            style: PacketStyle::Full,
            background: 5,
            candidates: 4_000,
        }
    }

    /// The paper's setting on LoCoMo: `K` = 25.
    pub fn locomo() -> Self {
        Self { k: 25, ..Self::es_memeval() }
    }

    /// The default: several views, a lexical score, neighbours in the session (see the retrieval page of the book).
    pub fn offline() -> Self {
        Self {
            tau: 0.0,
            k: 25,
            views: ViewWeights { rho: 0.3, sentence: 0.225, context: 0.3 },
            boosts: Boosts { lexical: 0.05, lexical_window: 0.25, speaker: 0.0, adjacency: 0.25 },
            source: SourceScope::Quoted,
            style: PacketStyle::Compact,
            ..Self::es_memeval()
        }
    }
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self::offline()
    }
}
