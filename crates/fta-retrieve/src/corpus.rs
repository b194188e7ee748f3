//! The units of one memory as retrieval needs them: in order, linked, and searchable by words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fta_segment::SessionId;
use fta_units::{Link, Longitudinal, MemorySnapshot, StoreOp, StoredSession, Unit, UnitId};

use crate::{
    lexical::Bm25,
    render::WHOLE_TURN,
    views::{head, quoted_text, tail},
};

/// The units of one memory with their sessions and links.
///
/// Built from a store's snapshot and kept in step with it by [`Corpus::apply`], which takes the store's own changes.
#[derive(Debug, Default, Clone)]
pub struct Corpus {
    sessions: HashMap<SessionId, StoredSession>,
    units: BTreeMap<UnitId, Unit>,
    links: BTreeMap<(UnitId, UnitId), Link>,
    newer: BTreeMap<UnitId, BTreeSet<UnitId>>,
    /// Units of each session in text order.
    by_session: HashMap<SessionId, Vec<UnitId>>,
    longitudinal: Longitudinal,
    words: Bm25,
    window_words: Bm25,
}

impl Corpus {
    /// Builds the corpus of a snapshot.
    pub fn new(snapshot: &MemorySnapshot) -> Self {
        let mut corpus = Self { longitudinal: snapshot.longitudinal.clone(), ..Self::default() };
        for session in &snapshot.sessions {
            corpus.sessions.insert(session.session.id.clone(), session.clone());
        }
        for unit in &snapshot.units {
            corpus.put_unit(unit.clone());
        }
        for &link in &snapshot.links {
            corpus.put_link(link);
        }
        corpus
    }

    /// Follows the changes that were written to the store, in the same order.
    pub fn apply(&mut self, changes: &[StoreOp]) {
        for change in changes {
            match change {
                StoreOp::PutSession(session) => {
                    self.sessions.insert(session.session.id.clone(), session.clone());
                }
                StoreOp::DeleteSession(id) => {
                    self.sessions.remove(id);
                }
                StoreOp::PutUnit(unit) => self.put_unit(unit.clone()),
                StoreOp::DeleteUnit(id) => self.delete_unit(*id),
                StoreOp::PutLink(link) => self.put_link(*link),
                StoreOp::PutLongitudinal(longitudinal) => self.longitudinal = longitudinal.clone(),
                StoreOp::DeleteAll => *self = Self::default(),
                StoreOp::PutMeta(_) | StoreOp::PutVector(_) | StoreOp::DeleteVectors(_) => {}
            }
        }
    }

    fn put_unit(&mut self, unit: Unit) {
        let id = unit.id;
        self.forget_place(id);
        if let Some(stored) = self.sessions.get(&unit.evidence.session) {
            let session = &stored.session;
            let mut text = quoted_text(&unit, session);
            if unit.provenance.corrected_at.is_some() {
                text.clone_from(&unit.fact.claim);
            }
            self.words.insert(id, &text);
            let first = unit.evidence.quotes.first().map_or(unit.evidence.turns.start, |q| q.turn);
            let last =
                unit.evidence.quotes.last().map_or(unit.evidence.turns.end.saturating_sub(1), |q| q.turn);
            let turn = |index: u32| session.turns.get(index as usize).map(|t| t.text.as_str());
            // Many units may share a long turn; none of them is about all that was said next to it.
            let before = first.checked_sub(1).and_then(turn).map(|t| tail(t, WHOLE_TURN));
            let after = last.checked_add(1).and_then(turn).map(|t| head(t, WHOLE_TURN));
            for around in [before, after].into_iter().flatten() {
                text.push_str(around);
                text.push('\n');
            }
            self.window_words.insert(id, &text);
        }
        let order = self.by_session.entry(unit.evidence.session.clone()).or_default();
        let place = |u: &Unit| (u.evidence.quotes.first().map(|q| (q.turn, q.start)), u.id);
        let position =
            order.partition_point(|other| self.units.get(other).is_some_and(|u| place(u) < place(&unit)));
        order.insert(position, id);
        self.units.insert(id, unit);
    }

    fn forget_place(&mut self, id: UnitId) {
        if let Some(old) = self.units.remove(&id)
            && let Some(order) = self.by_session.get_mut(&old.evidence.session)
        {
            order.retain(|&other| other != id);
        }
        self.words.remove(id);
        self.window_words.remove(id);
    }

    fn delete_unit(&mut self, id: UnitId) {
        self.forget_place(id);
        let gone: Vec<(UnitId, UnitId)> = self.links_of(id).map(|l| (l.from, l.to)).collect();
        for key in gone {
            self.links.remove(&key);
            if let Some(newer) = self.newer.get_mut(&key.1) {
                newer.remove(&key.0);
            }
        }
        self.newer.remove(&id);
    }

    fn put_link(&mut self, link: Link) {
        self.links.insert((link.from, link.to), link);
        self.newer.entry(link.to).or_default().insert(link.from);
    }

    /// A unit by id.
    pub fn unit(&self, id: UnitId) -> Option<&Unit> {
        self.units.get(&id)
    }

    /// Units by rising id.
    pub fn units(&self) -> impl ExactSizeIterator<Item = &Unit> {
        self.units.values()
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether there are no units.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// A session by id.
    pub fn session(&self, id: &SessionId) -> Option<&StoredSession> {
        self.sessions.get(id)
    }

    /// Sessions, oldest first; undated ones by order of ingestion, before the dated ones.
    pub fn sessions(&self) -> Vec<&StoredSession> {
        let mut sessions: Vec<&StoredSession> = self.sessions.values().collect();
        sessions.sort_by_key(|s| (s.session.started_at, s.ordinal));
        sessions
    }

    /// Units of a session in text order.
    pub fn units_of(&self, session: &SessionId) -> &[UnitId] {
        self.by_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// Links from and to a unit, by rising `(from, to)`.
    pub fn links_of(&self, id: UnitId) -> impl Iterator<Item = &Link> {
        let older = self.links.range((id, UnitId(0))..=(id, UnitId(u64::MAX))).map(|(_, link)| link);
        let newer =
            self.newer.get(&id).into_iter().flatten().filter_map(move |&from| self.links.get(&(from, id)));
        older.chain(newer)
    }

    /// All links by rising `(from, to)`.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &Link> {
        self.links.values()
    }

    /// `U` and `H`.
    pub fn longitudinal(&self) -> &Longitudinal {
        &self.longitudinal
    }

    /// Names of everyone who speaks, in order of the first turn.
    pub fn speakers(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for stored in self.sessions() {
            for name in stored.session.speakers() {
                if !names.iter().any(|n| n == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    /// BM25 scores of units for a query: over what each quotes, and over that with the turns around it.
    pub fn lexical(&self, query: &str) -> (BTreeMap<UnitId, f32>, BTreeMap<UnitId, f32>) {
        (self.words.scores(query), self.window_words.scores(query))
    }
}

#[cfg(test)]
mod tests {
    use fta_units::Relation;

    use super::*;
    use crate::fixture::{corpus, link, session, unit};

    fn parts() -> (Vec<StoredSession>, Vec<Unit>, Vec<Link>) {
        let first = session("s1", 1, &["I bought a canoe.", "Is it green?", "The canoe is red."]);
        let second = session("s2", 2, &["I sold it.", "A pity."]);
        let units = vec![unit(1, &first, 2), unit(2, &first, 0), unit(3, &second, 0)];
        let links = vec![link(3, 1, Relation::Update, 0.5), link(2, 1, Relation::SameSituation, 0.6)];
        (vec![first, second], units, links)
    }

    /// All that can be seen of a corpus.
    fn seen(corpus: &Corpus) -> String {
        let sessions = corpus.sessions();
        let of: Vec<_> = sessions.iter().map(|s| corpus.units_of(&s.session.id).to_vec()).collect();
        let units: Vec<&Unit> = corpus.units().collect();
        let links: Vec<Vec<&Link>> = units.iter().map(|u| corpus.links_of(u.id).collect()).collect();
        let words = corpus.lexical("the canoe is red or green");
        format!("{sessions:?} {of:?} {units:?} {links:?} {words:?} {:?}", corpus.longitudinal())
    }

    #[test]
    fn following_changes_ends_where_a_snapshot_does() {
        let (sessions, units, links) = parts();
        let built = corpus(sessions.clone(), units.clone(), links.clone());
        let mut followed = Corpus::default();
        let mut changes: Vec<StoreOp> = sessions.into_iter().map(StoreOp::PutSession).collect();
        // Once more in another order: replacing leaves one of each.
        changes.extend(units.iter().rev().chain(&units).cloned().map(StoreOp::PutUnit));
        changes.extend(links.into_iter().map(StoreOp::PutLink));
        followed.apply(&changes);
        assert_eq!(seen(&followed), seen(&built));
        followed.apply(&[StoreOp::DeleteAll]);
        assert!(followed.is_empty() && followed.links().len() == 0 && followed.sessions().is_empty());
    }

    #[test]
    fn units_of_a_session_are_in_text_order() {
        let (sessions, units, links) = parts();
        let corpus = corpus(sessions, units, links);
        assert_eq!(corpus.units_of(&SessionId::from("s1")), [UnitId(2), UnitId(1)]);
        assert_eq!(corpus.units_of(&SessionId::from("s9")), []);
        assert_eq!(corpus.speakers(), ["Ada", "Bo"]);
    }

    #[test]
    fn a_deleted_unit_takes_its_links_and_words_along() {
        let (sessions, units, links) = parts();
        let without = corpus(sessions.clone(), units[1..].to_vec(), Vec::new());
        let mut corpus = corpus(sessions, units, links);
        assert_eq!(corpus.links_of(UnitId(1)).count(), 2);
        corpus.apply(&[StoreOp::DeleteUnit(UnitId(1))]);
        assert_eq!(seen(&corpus), seen(&without));
        assert_eq!(corpus.links_of(UnitId(3)).count() + corpus.links_of(UnitId(2)).count(), 0);
    }

    #[test]
    fn a_correction_is_found_by_its_own_words() {
        let (sessions, mut units, links) = parts();
        units[0].provenance.corrected_at = units[0].time.said_at;
        units[0].fact.claim = "The kayak is blue.".to_owned();
        let corpus = corpus(sessions, units, links);
        assert!(corpus.lexical("kayak").0.contains_key(&UnitId(1)));
        assert!(!corpus.lexical("canoe").0.contains_key(&UnitId(1)));
    }
}
