//! The cue score `c(q', m)` of Eq. 8 over time, situation type, participants and affect (spec section 9.6).

use fta_units::Unit;
use serde::{Deserialize, Serialize};

use crate::query::Query;

/// Weights of the cues; a cue that the question does not ask for has no weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CueWeights {
    /// Event time against the times of the query.
    pub time: f32,
    /// Situation type against the types that the query asks for.
    pub situation: f32,
    /// Participants and mentioned people against speakers and entities of the query.
    pub participants: f32,
    /// Emotions against those that the query names.
    pub affect: f32,
}

impl Default for CueWeights {
    fn default() -> Self {
        Self { time: 1.0, situation: 1.0, participants: 1.0, affect: 1.0 }
    }
}

/// The cues of one unit, each in `[0, 1]`, or `None` where the query does not ask.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CueScore {
    /// Time cue.
    pub time: Option<f32>,
    /// Situation cue.
    pub situation: Option<f32>,
    /// Participants cue.
    pub participants: Option<f32>,
    /// Affect cue.
    pub affect: Option<f32>,
}

impl CueScore {
    /// Weighted mean over the cues that the query asks for, in `[0, 1]`; `None` if it asks for none.
    pub fn total(&self, weights: &CueWeights) -> Option<f32> {
        let pairs = [
            (self.time, weights.time),
            (self.situation, weights.situation),
            (self.participants, weights.participants),
            (self.affect, weights.affect),
        ];
        let (mut sum, mut mass) = (0.0, 0.0);
        for (cue, weight) in pairs {
            if let Some(cue) = cue {
                sum += cue * weight;
                mass += weight;
            }
        }
        (mass > 0.0).then(|| sum / mass)
    }
}

/// Computes the cues of `unit` for `query`.
pub fn cue_score(_query: &Query, _unit: &Unit) -> CueScore {
    CueScore::default()
}
