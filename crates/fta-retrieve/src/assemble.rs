//! From ranked units to a packet: top-`K` within the token budget, linked neighbours, source spans, background.

use std::collections::{BTreeMap, BTreeSet};

use fta_segment::{SessionId, TurnSpan};
use fta_units::{Link, Quote, Relation, Unit, UnitId};

use crate::{
    config::{RetrievalConfig, SourceScope},
    corpus::Corpus,
    lexical::stems,
    packet::{Background, LinkedUnit, Packet, PacketStyle, PrimaryUnit, SourceSpan},
    query::Query,
    render::{WHOLE_TURN, relation_label, session_line, turn_line, unit_line, unit_notes},
    retriever::Ranked,
    views::claim_turn,
};

/// Builds the packet for a query from its ranked units.
///
/// Primary units are taken in rank order: at most `K`, and under a token budget only those that still fit (a smaller
/// unit further down may fit where a larger one did not). Linked neighbours and background fill what is left.
///
/// # Source
/// Eq. 10-11; the budget is this project's.
pub fn assemble(query: Query, ranked: &[Ranked], corpus: &Corpus, config: &RetrievalConfig) -> Packet {
    let mut shelf = Shelf::new(corpus, config);
    let mut primary = Vec::new();
    for (rank, candidate) in ranked.iter().enumerate() {
        if primary.len() >= config.k || shelf.is_full() {
            break;
        }
        let Some(unit) = corpus.unit(candidate.id) else { continue };
        if shelf.take(unit, "") {
            primary.push(PrimaryUnit { unit: unit.clone(), score: candidate.score, rank });
        }
    }
    if config.source_scope() == SourceScope::Said {
        // What is left of the budget goes to the questions that the claims answer.
        for taken in &primary {
            shelf.complete(&taken.unit);
        }
    }
    let linked = linked_units(&primary, &mut shelf, corpus, config);
    let background = background(&query, corpus, &mut shelf, config.background);
    let spans = shelf.spans();
    let when = |unit: &Unit| (unit.time.said_at, unit.id);
    primary.sort_by_key(|p| when(&p.unit));
    let mut linked = linked;
    linked.sort_by_key(|l| when(&l.unit));
    Packet { query, primary, linked, spans, background, style: config.style }
}

/// What is handed back so far, and what it costs.
struct Shelf<'c> {
    corpus: &'c Corpus,
    config: &'c RetrievalConfig,
    shown: BTreeMap<SessionId, Shown>,
    characters: usize,
}

/// What is handed back of one session.
#[derive(Default)]
struct Shown {
    turns: BTreeSet<u32>,
    /// Quotes of the units taken, which say what is shown of very long turns.
    quotes: Vec<Quote>,
}

impl<'c> Shelf<'c> {
    fn new(corpus: &'c Corpus, config: &'c RetrievalConfig) -> Self {
        // The full style opens three headed sections; their headings count like any other text.
        let characters = if config.style == PacketStyle::Full { 64 } else { 0 };
        Self { corpus, config, shown: BTreeMap::new(), characters }
    }

    fn fits(&self, characters: usize) -> bool {
        self.config.token_budget.is_none_or(|budget| characters <= budget.saturating_mul(4))
    }

    /// Whether not even a short turn would fit.
    fn is_full(&self) -> bool {
        !self.fits(self.characters + 40)
    }

    /// Puts a unit and its turns on the shelf if they fit. `label`: what stands before the unit in the full style.
    fn take(&mut self, unit: &Unit, label: &str) -> bool {
        let session = &unit.evidence.session;
        let Some(stored) = self.corpus.session(session) else { return false };
        let turn = |index: u32| stored.session.turns.get(index as usize);
        let nothing = Shown::default();
        let shown = self.shown.get(session).unwrap_or(&nothing);
        let quotes: Vec<Quote> = shown.quotes.iter().chain(&unit.evidence.quotes).copied().collect();
        let (mut more, mut less) = (0, 0);
        if shown.turns.is_empty() {
            more += count(&session_line(session, stored.session.started_at));
        }
        let turns: BTreeSet<u32> = source_turns(unit, self.config.source_scope()).into_iter().collect();
        let new = turns.difference(&shown.turns).copied();
        more += new.filter_map(turn).map(|t| count(&turn_line(t, &quotes))).sum::<usize>();
        // Of a very long turn that is shown already, other quotes show another part.
        let quoted: BTreeSet<u32> = unit.evidence.quotes.iter().map(|q| q.turn).collect();
        for turn in quoted.intersection(&shown.turns).copied().filter_map(turn) {
            if turn.text.len() > WHOLE_TURN {
                more += count(&turn_line(turn, &quotes));
                less += count(&turn_line(turn, &shown.quotes));
            }
        }
        more += match self.config.style {
            PacketStyle::Full => count(label) + count(&unit_line(unit)),
            PacketStyle::Compact => unit_notes(unit).iter().map(|(_, note)| count(note) + 3).sum(),
        };
        let characters = (self.characters + more).saturating_sub(less);
        if !self.fits(characters) {
            return false;
        }
        self.characters = characters;
        let shown = self.shown.entry(session.clone()).or_default();
        shown.turns.extend(turns);
        shown.quotes = quotes;
        true
    }

    /// Puts the turns that a unit quotes besides on the shelf, each if it fits.
    fn complete(&mut self, unit: &Unit) {
        let session = &unit.evidence.session;
        let Some(stored) = self.corpus.session(session) else { return };
        for index in source_turns(unit, SourceScope::Quoted) {
            let Some(turn) = stored.session.turns.get(index as usize) else { continue };
            let shown = self.shown.get(session).filter(|shown| !shown.turns.contains(&index));
            let Some(line) = shown.map(|shown| count(&turn_line(turn, &shown.quotes))) else { continue };
            if self.fits(self.characters + line) {
                self.characters += line;
                self.shown.entry(session.clone()).or_default().turns.insert(index);
            }
        }
    }

    fn take_text(&mut self, text: &str) -> bool {
        let characters = self.characters + count(text) + 3 + 13;
        let fits = self.fits(characters);
        if fits {
            self.characters = characters;
        }
        fits
    }

    /// The turns as contiguous spans, in time order.
    fn spans(self) -> Vec<SourceSpan> {
        let mut spans = Vec::new();
        for stored in self.corpus.sessions() {
            let Some(shown) = self.shown.get(&stored.session.id) else { continue };
            let mut runs: Vec<TurnSpan> = Vec::new();
            for &index in &shown.turns {
                match runs.last_mut() {
                    Some(run) if run.end == index => run.end += 1,
                    _ => runs.push(TurnSpan::new(index, index + 1)),
                }
            }
            spans.extend(runs.into_iter().map(|span| SourceSpan {
                session: stored.session.id.clone(),
                started_at: stored.session.started_at,
                span,
                turns: stored.session.span(span).to_vec(),
            }));
        }
        spans
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// The turns that a unit hands back, in order.
pub fn source_turns(unit: &Unit, scope: SourceScope) -> Vec<u32> {
    match scope {
        SourceScope::Exchange => unit.evidence.turns.range().collect(),
        SourceScope::Quoted => {
            let turns: BTreeSet<u32> = unit.evidence.quotes.iter().map(|quote: &Quote| quote.turn).collect();
            turns.into_iter().collect()
        }
        SourceScope::Said => vec![claim_turn(unit)],
    }
}

/// Up to `B` neighbours for each primary unit, best relation first; none twice, none that is primary.
fn linked_units(
    primary: &[PrimaryUnit],
    shelf: &mut Shelf<'_>,
    corpus: &Corpus,
    config: &RetrievalConfig,
) -> Vec<LinkedUnit> {
    let mut taken: BTreeSet<UnitId> = primary.iter().map(|p| p.unit.id).collect();
    let mut linked = Vec::new();
    for of in primary.iter().map(|p| p.unit.id) {
        let mut links: Vec<&Link> = corpus.links_of(of).collect();
        links.sort_by(|a, b| {
            importance(a.relation).cmp(&importance(b.relation)).then(b.similarity.total_cmp(&a.similarity))
        });
        let mut brought = 0;
        for link in links {
            if brought == config.linked_per_unit {
                break;
            }
            let other = if link.from == of { link.to } else { link.from };
            let Some(unit) = corpus.unit(other) else { continue };
            let newer = other == link.from;
            let label = relation_label(link.from, link.relation, link.to);
            if taken.contains(&other) || !shelf.take(unit, &label) {
                continue;
            }
            taken.insert(other);
            brought += 1;
            linked.push(LinkedUnit { unit: unit.clone(), of, relation: link.relation, newer });
        }
    }
    linked
}

/// Relations by how much a reader misses without them.
fn importance(relation: Relation) -> u8 {
    match relation {
        Relation::Update => 0,
        Relation::Contradiction => 1,
        Relation::FollowUp => 2,
        Relation::SameSituation => 3,
        Relation::Support => 4,
    }
}

/// Entries of `U` and `H` that share words with the question, most first.
fn background(query: &Query, corpus: &Corpus, shelf: &mut Shelf<'_>, most: usize) -> Background {
    let asked: BTreeSet<String> = stems(&query.text).into_iter().collect();
    let shared = |text: &str| stems(text).iter().filter(|stem| asked.contains(*stem)).count();
    let concerns = |person: &str| query.speakers.is_empty() || query.speakers.iter().any(|s| s == person);
    let longitudinal = corpus.longitudinal();
    let mut background = Background::default();
    let mut profile: Vec<_> = longitudinal
        .profile
        .iter()
        .filter(|entry| concerns(&entry.person))
        .map(|entry| (shared(&entry.text), entry))
        .filter(|(n, _)| *n > 1)
        .collect();
    profile.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    for (_, entry) in profile.into_iter().take(most) {
        if shelf.take_text(&entry.text) {
            background.profile.push(entry.clone());
        }
    }
    let mut support: Vec<_> = longitudinal
        .support
        .iter()
        .filter(|entry| concerns(&entry.seeker))
        .map(|entry| (shared(&entry.attempt), entry))
        .filter(|(n, _)| *n > 1)
        .collect();
    support.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    for (_, entry) in support.into_iter().take(most) {
        if shelf.take_text(&entry.attempt) {
            background.support.push(entry.clone());
        }
    }
    background
}

#[cfg(test)]
mod tests;
