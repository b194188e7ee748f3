//! Export and import as JSON lines.
//!
//! The first line is a header with `format` and `schema_version`; then one line for each session, unit, link and entry of
//! `U` and `H`. Vectors are not in it: texts are embedded anew on import, with whatever model is configured then.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, Write},
    sync::Arc,
};

use fta_retrieve::Corpus;
use fta_segment::SessionId;
use fta_units::{
    Link, Longitudinal, MemoryMeta, Namespace, ProfileEntry, StoreOp, StoredSession, SupportEntry, Unit,
    UnitId,
};
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    ingest::embed_units,
    parts::{Parts, blocking},
    state::UserState,
};

/// Name of the format in the header.
pub const FORMAT: &str = "fta-mem export";
/// Version of the lines; rises when a line changes in a way that older readers cannot follow.
pub const SCHEMA_VERSION: u32 = 1;

/// What an import added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Sessions.
    pub sessions: usize,
    /// Units.
    pub units: usize,
    /// Links.
    pub links: usize,
    /// Sessions that were there already, unchanged.
    pub unchanged: usize,
}

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one line is held at a time")]
enum Line {
    Header { format: String, schema_version: u32, namespace: String, embedder: String },
    Session(StoredSession),
    Unit(Unit),
    Link(Link),
    Profile(ProfileEntry),
    Support(SupportEntry),
}

/// A whole export, parsed and checked.
#[derive(Debug, Default)]
pub(crate) struct Export {
    sessions: Vec<StoredSession>,
    units: Vec<Unit>,
    links: Vec<Link>,
    longitudinal: Longitudinal,
}

/// Writes a memory; returns the number of lines.
pub(crate) fn export(
    corpus: &Corpus,
    namespace: &Namespace,
    embedder: &str,
    out: &mut dyn Write,
) -> Result<usize, Error> {
    let header = Line::Header {
        format: FORMAT.to_owned(),
        schema_version: SCHEMA_VERSION,
        namespace: namespace.to_string(),
        embedder: embedder.to_owned(),
    };
    let mut sessions: Vec<&StoredSession> = corpus.sessions();
    sessions.sort_by_key(|s| s.ordinal);
    let longitudinal = corpus.longitudinal();
    let lines = std::iter::once(header)
        .chain(sessions.into_iter().cloned().map(Line::Session))
        .chain(corpus.units().cloned().map(Line::Unit))
        .chain(corpus.links().copied().map(Line::Link))
        .chain(longitudinal.profile.iter().cloned().map(Line::Profile))
        .chain(longitudinal.support.iter().cloned().map(Line::Support));
    let mut n_lines = 0;
    for line in lines {
        serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        n_lines += 1;
    }
    out.flush()?;
    Ok(n_lines)
}

/// Reads and checks all lines before anything is changed.
pub(crate) fn parse(input: &mut dyn BufRead) -> Result<Export, Error> {
    let mut export = Export::default();
    let mut seen_header = false;
    for (i, text) in input.lines().enumerate() {
        let refuse = |reason: String| Error::Import { line: i + 1, reason };
        let text = text?;
        if text.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
        match line {
            Line::Header { format, schema_version, .. } => {
                if format != FORMAT || schema_version != SCHEMA_VERSION {
                    return Err(refuse(format!(
                        "format `{format}` version `{schema_version}`, expected `{FORMAT}` version `{SCHEMA_VERSION}`"
                    )));
                }
                seen_header = true;
                continue;
            }
            Line::Session(session) => {
                session.session.validate().map_err(|e| refuse(e.to_string()))?;
                export.sessions.push(session);
            }
            Line::Unit(unit) => {
                check_unit(&unit, &export.sessions).map_err(refuse)?;
                export.units.push(unit);
            }
            Line::Link(link) => export.links.push(link),
            Line::Profile(entry) => export.longitudinal.profile.push(entry),
            Line::Support(entry) => export.longitudinal.support.push(entry),
        }
        if !seen_header {
            return Err(Error::Import { line: i + 1, reason: "the header line is missing".to_owned() });
        }
    }
    if !seen_header {
        return Err(Error::Import { line: 1, reason: "the header line is missing".to_owned() });
    }
    Ok(export)
}

/// What the rest of the system relies on: evidence that lies in a session which came before.
fn check_unit(unit: &Unit, sessions: &[StoredSession]) -> Result<(), String> {
    let evidence = &unit.evidence;
    let stored = sessions.iter().find(|s| s.session.id == evidence.session).ok_or_else(|| {
        format!("unit `{}` is of session `{}`, which is not in the file", unit.id, evidence.session)
    })?;
    let turns = &stored.session.turns;
    let quotes_fit = evidence.quotes.iter().all(|q| {
        turns.get(q.turn as usize).is_some_and(|t| t.text.get(q.start as usize..q.end as usize).is_some())
    });
    if evidence.turns.is_empty() || evidence.turns.end as usize > turns.len() || !quotes_fit {
        return Err(format!("evidence of unit `{}` lies outside of session `{}`", unit.id, evidence.session));
    }
    Ok(())
}

/// Adds an export to a memory in one transaction. The caller holds the writer's lock.
pub(crate) async fn import(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    export: Export,
) -> Result<ImportReport, Error> {
    let (new, unchanged, mut meta, current) = {
        let loaded = state.read();
        let (new, unchanged) = split_known(&loaded.corpus, &export.sessions)?;
        (new, unchanged, loaded.meta.clone(), loaded.corpus.longitudinal().clone())
    };
    let ids = new_ids(&export.units, &new, &mut meta);
    let mut changes = Vec::new();
    let mut report = ImportReport { unchanged, ..ImportReport::default() };
    for stored in export.sessions.iter().filter(|s| new.contains(&s.session.id)) {
        let units: Vec<Unit> = export
            .units
            .iter()
            .filter(|u| u.evidence.session == stored.session.id)
            .filter_map(|u| renamed(u, &ids))
            .collect();
        let vectors = embed_units(parts, &units, &stored.session).await?;
        changes.push(StoreOp::PutSession(StoredSession { ordinal: meta.next_session, ..stored.clone() }));
        meta.next_session += 1;
        report.sessions += 1;
        report.units += units.len();
        changes.extend(units.into_iter().map(StoreOp::PutUnit));
        changes.extend(vectors.into_iter().map(StoreOp::PutVector));
    }
    for link in &export.links {
        if let (Some(&from), Some(&to)) = (ids.get(&link.from), ids.get(&link.to)) {
            changes.push(StoreOp::PutLink(Link { from, to, ..*link }));
            report.links += 1;
        }
    }
    changes.push(StoreOp::PutLongitudinal(merged(current, &export.longitudinal, &ids)));
    changes.push(StoreOp::PutMeta(MemoryMeta { ..meta }));
    let (parts, state) = (parts.clone(), state.clone());
    blocking(move || state.write(&parts, &changes)).await?;
    Ok(report)
}

/// Ids of the sessions that are new, and how many are there already. A session with other content is refused.
fn split_known(corpus: &Corpus, sessions: &[StoredSession]) -> Result<(BTreeSet<SessionId>, usize), Error> {
    let mut new = BTreeSet::new();
    let mut unchanged = 0;
    for (i, stored) in sessions.iter().enumerate() {
        match corpus.session(&stored.session.id) {
            None => {
                new.insert(stored.session.id.clone());
            }
            Some(known) if known.session == stored.session => unchanged += 1,
            Some(_) => {
                let reason = format!(
                    "session `{}` is in the memory with other content; delete it there first",
                    stored.session.id
                );
                return Err(Error::Import { line: i + 2, reason });
            }
        }
    }
    Ok((new, unchanged))
}

/// New ids for the units of new sessions, in order; the old ones where none of them was used yet.
fn new_ids(units: &[Unit], new: &BTreeSet<SessionId>, meta: &mut MemoryMeta) -> BTreeMap<UnitId, UnitId> {
    let mut old: Vec<UnitId> =
        units.iter().filter(|u| new.contains(&u.evidence.session)).map(|u| u.id).collect();
    old.sort_unstable();
    old.dedup();
    let keep = old.first().is_none_or(|first| first.0 >= meta.next_unit);
    let ids: BTreeMap<UnitId, UnitId> = old
        .into_iter()
        .zip(meta.next_unit..)
        .map(|(old, next)| (old, if keep { old } else { UnitId(next) }))
        .collect();
    meta.next_unit = ids.values().map(|id| id.0 + 1).max().unwrap_or(0).max(meta.next_unit);
    ids
}

fn renamed(unit: &Unit, ids: &BTreeMap<UnitId, UnitId>) -> Option<Unit> {
    let mut unit = unit.clone();
    unit.id = *ids.get(&unit.id)?;
    unit.lifecycle.superseded_by = unit.lifecycle.superseded_by.and_then(|by| ids.get(&by).copied());
    Some(unit)
}

fn merged(mut current: Longitudinal, added: &Longitudinal, ids: &BTreeMap<UnitId, UnitId>) -> Longitudinal {
    let rename =
        |units: &[UnitId]| -> Vec<UnitId> { units.iter().filter_map(|id| ids.get(id).copied()).collect() };
    for entry in &added.profile {
        let units = rename(&entry.units);
        if !units.is_empty() {
            current.profile.push(ProfileEntry { units, ..entry.clone() });
        }
    }
    for entry in &added.support {
        let units = rename(&entry.units);
        if !units.is_empty() {
            current.support.push(SupportEntry { units, ..entry.clone() });
        }
    }
    current
}
