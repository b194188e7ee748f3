//! Answerers: the same for every system, so that memories are compared and not readers.

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::retrieve::{
    Answer, AnswerError, Answerer, Background, ExtractiveAnswerer, ExtractiveConfig, Packet, PrimaryUnit,
    UnitScore,
};

use super::{Parts, SystemError};

/// The answerer of a run: the model's where the profile gives it the answers, else the extractive one.
pub(super) fn reader(parts: &Parts) -> Result<Arc<dyn Answerer>, SystemError> {
    let by_model = parts.by_model.as_ref().map(|by| by.profile.answerer(&by.model)).transpose()?;
    Ok(by_model.flatten().unwrap_or_else(|| {
        Arc::new(ExtractiveAnswerer::new(ExtractiveConfig::default(), Some(parts.embedder.clone())))
    }))
}

/// Takes the structure out of a packet before it is answered from: linked units stand among the primary ones in time
/// order, none has a rank or a score, and there is no background.
pub(super) struct Flat(pub(super) Arc<dyn Answerer>);

#[async_trait]
impl Answerer for Flat {
    fn id(&self) -> &'static str {
        "flat/1"
    }

    async fn answer(&self, packet: &Packet) -> Result<Answer, AnswerError> {
        self.0.answer(&flat(packet)).await
    }
}

/// A packet without structure.
pub(super) fn flat(packet: &Packet) -> Packet {
    let units = packet.primary.iter().map(|p| &p.unit).chain(packet.linked.iter().map(|l| &l.unit));
    let mut units: Vec<_> = units.cloned().collect();
    units.sort_by_key(|unit| (unit.time.said_at, unit.id));
    let alike = |(rank, unit)| PrimaryUnit { unit, score: UnitScore::default(), rank };
    Packet {
        primary: units.into_iter().enumerate().map(alike).collect(),
        linked: Vec::new(),
        background: Background::default(),
        ..packet.clone()
    }
}
