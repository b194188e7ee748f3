//! How much of the dialogue the units hold: units per session, share of turns that lie in some unit's evidence.

use std::sync::Arc;

use fta_mem::index::Embedder;
use serde::Serialize;

use super::{
    BenchError, Selection, Step, Watch,
    memory::ingest,
    table::{Table, decimals},
};
use crate::datasets::Case;

/// Coverage of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The conversation.
    pub conversation: String,
    /// Sessions.
    pub sessions: usize,
    /// Turns.
    pub turns: usize,
    /// Units.
    pub units: usize,
    /// Units whose event time is resolved to days.
    pub units_with_event_time: usize,
    /// Turns that say something.
    pub content_turns: usize,
    /// Of these, turns in the evidence of some unit.
    pub covered_turns: usize,
    /// Links.
    pub links: usize,
    /// Time to take it in.
    pub ingest_seconds: f64,
    /// Part of it that the embedder took.
    pub embedding_seconds: f64,
    /// Texts that were embedded.
    pub embedded_texts: usize,
}

/// Measures the coverage of each conversation; those without sessions are left out.
///
/// # Errors
/// [`BenchError`] if a conversation is not there or the memory fails.
pub async fn run(
    cases: &[Case],
    embedder: &Arc<dyn Embedder>,
    selection: &Selection,
    watch: Watch<'_>,
) -> Result<Vec<Coverage>, BenchError> {
    let cases = selection.cases(cases)?;
    let cases = cases.into_iter().filter(|c| !c.conversation.sessions.is_empty());
    let cases: Vec<&Case> = cases.take(selection.limit.unwrap_or(usize::MAX)).collect();
    let mut coverage = Vec::with_capacity(cases.len());
    for (done, case) in cases.iter().enumerate() {
        watch(Step { conversation: &case.conversation.id, doing: "ingest", done, total: cases.len() });
        let ingested = ingest(case, embedder).await?;
        let stats = ingested.memory.stats();
        coverage.push(Coverage {
            conversation: case.conversation.id.clone(),
            sessions: stats.sessions,
            turns: stats.turns,
            units: stats.units,
            units_with_event_time: stats.units_with_event_time,
            content_turns: stats.content_turns,
            covered_turns: stats.covered_turns,
            links: stats.links.iter().map(|(_, n)| n).sum(),
            ingest_seconds: ingested.seconds,
            embedding_seconds: ingested.embedding_seconds,
            embedded_texts: ingested.embedded_texts,
        });
    }
    Ok(coverage)
}

/// The table, as Markdown: conversations up to 20, and their sum.
pub fn render(coverage: &[Coverage]) -> String {
    let mut table = Table::new(&[
        "conversation",
        "sessions",
        "turns",
        "units",
        "units/session",
        "dated units",
        "covered",
        "links",
        "texts embedded",
        "embedding s",
        "ingest s",
    ]);
    let mut row = |name: &str, part: &[Coverage]| {
        let sum = |of: fn(&Coverage) -> usize| part.iter().map(of).sum::<usize>();
        let share = |a: usize, b: usize| (b > 0).then(|| a as f64 / b as f64);
        table.row(vec![
            name.to_owned(),
            sum(|c| c.sessions).to_string(),
            sum(|c| c.turns).to_string(),
            sum(|c| c.units).to_string(),
            decimals(share(sum(|c| c.units), sum(|c| c.sessions)), 1),
            sum(|c| c.units_with_event_time).to_string(),
            decimals(share(sum(|c| c.covered_turns), sum(|c| c.content_turns)), 4),
            sum(|c| c.links).to_string(),
            sum(|c| c.embedded_texts).to_string(),
            format!("{:.1}", part.iter().map(|c| c.embedding_seconds).sum::<f64>()),
            format!("{:.1}", part.iter().map(|c| c.ingest_seconds).sum::<f64>()),
        ]);
    };
    if coverage.len() <= 20 {
        for one in coverage {
            row(&one.conversation, std::slice::from_ref(one));
        }
    }
    row("all", coverage);
    table.render()
}
