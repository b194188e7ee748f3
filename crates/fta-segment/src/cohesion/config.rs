//! Settings of the cohesion detector.

use serde::{Deserialize, Serialize};

use crate::error::SegmentError;

/// Settings of [`CohesionDetector`](crate::CohesionDetector). Weights are relative to one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CohesionConfig {
    /// Turns on each side of a gap that are compared; 1 or more.
    pub block: usize,
    /// No span is shorter, in turns, unless the window is; 1 or more.
    pub min_turns: usize,
    /// Spans longer than this, in turns, are cut at weaker boundaries.
    pub long_turns: usize,
    /// How much weaker, per turn over `long_turns`; 0 lets spans grow.
    pub long_cost: f64,
    /// Standard deviations over the window's mean score at which a boundary begins; fewer give more boundaries.
    pub sensitivity: f64,
    /// Minutes between two turns from which on time has passed; more than 0.
    pub time_gap_minutes: f64,
    /// Weight of a drop in cohesion.
    pub topic_weight: f64,
    /// Share of the embeddings in cohesion, `[0, 1]`, when there is an embedder; the words have the rest.
    pub embedding_share: f64,
    /// Weight of discourse markers, greetings and closings.
    pub marker_weight: f64,
    /// Weight of a change of feeling.
    pub emotion_weight: f64,
    /// Weight of a gap in time.
    pub time_weight: f64,
    /// Weight of a question that opens something new.
    pub question_weight: f64,
    /// Weight against a cut before a turn that takes up the one before it, or goes on where its speaker stopped short.
    pub response_weight: f64,
}

impl Default for CohesionConfig {
    fn default() -> Self {
        Self {
            block: 4,
            min_turns: 3,
            long_turns: 8,
            long_cost: 0.15,
            sensitivity: 0.5,
            time_gap_minutes: 30.0,
            topic_weight: 1.0,
            embedding_share: 0.6,
            marker_weight: 1.5,
            emotion_weight: 1.0,
            time_weight: 2.0,
            question_weight: 0.3,
            response_weight: 0.4,
        }
    }
}

impl CohesionConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SegmentError::Setting`] for the first one that is out of range or not finite.
    pub fn validate(&self) -> Result<(), SegmentError> {
        let check = |setting, received: f64, fits: bool, expected| {
            if fits && received.is_finite() {
                return Ok(());
            }
            Err(SegmentError::Setting { setting, received, expected })
        };
        check("block", self.block as f64, self.block >= 1, "1 or more")?;
        check("min_turns", self.min_turns as f64, self.min_turns >= 1, "1 or more")?;
        let long_fits = self.long_turns >= self.min_turns;
        check("long_turns", self.long_turns as f64, long_fits, "`min_turns` or more")?;
        check("sensitivity", self.sensitivity, true, "a finite number")?;
        check("time_gap_minutes", self.time_gap_minutes, self.time_gap_minutes > 0.0, "more than 0")?;
        let share_fits = (0.0..=1.0).contains(&self.embedding_share);
        check("embedding_share", self.embedding_share, share_fits, "0 to 1")?;
        for (setting, received) in [
            ("long_cost", self.long_cost),
            ("topic_weight", self.topic_weight),
            ("marker_weight", self.marker_weight),
            ("emotion_weight", self.emotion_weight),
            ("time_weight", self.time_weight),
            ("question_weight", self.question_weight),
            ("response_weight", self.response_weight),
        ] {
            check(setting, received, received >= 0.0, "0 or more")?;
        }
        Ok(())
    }
}
