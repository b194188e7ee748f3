//! What every [`UnitStore`] must do, as tests that an implementation runs.
//!
//! The functions panic where a store breaks the contract, as tests do.

use fta_segment::{BoundaryCue, Fragment, Role, Session, SessionId, Turn, TurnSpan};
use jiff::civil::date;

use super::{
    MemoryMeta, MemorySnapshot, Namespace, SessionState, StoreError, StoreOp, StoredSession, StoredVector,
    UnitStore,
};
use crate::{
    longitudinal::{Longitudinal, ProfileEntry, ProfileTopic},
    time::{DateInterval, EventTime, Granularity, TimeBound},
    unit::{
        AffectAnchor, Completion, Evidence, FactAnchor, Lifecycle, Link, Provenance, Quote, Relation,
        SituationType, TimeAnchor, TimeOrientation, Unit, UnitId, UnitStatus,
    },
};

/// Runs the whole suite; `make` gives a new empty store at each call.
///
/// # Panics
/// If the store breaks its contract.
pub fn unit_store(make: impl Fn() -> Box<dyn UnitStore>) {
    empty(make().as_ref());
    round_trip(make().as_ref());
    order_of_results(make().as_ref());
    replaces(make().as_ref());
    deletes_units(make().as_ref());
    deletes_everything(make().as_ref());
    keeps_namespaces_apart(make().as_ref());
    refuses_whole_batches(make().as_ref());
    reads_while_writing(make().as_ref());
    for seed in 0..12 {
        random_changes(make().as_ref(), seed);
    }
}

/// Checks that changes survive closing; `open` opens the same store at each call, which must be empty at first.
///
/// # Panics
/// If the store breaks its contract.
pub fn durable_store(open: impl Fn() -> Box<dyn UnitStore>) {
    let names = [name("a"), name("ab")];
    let mut models = [MemorySnapshot::default(), MemorySnapshot::default()];
    for seed in 0..8 {
        let mut random = Random(seed);
        let store = open();
        for (name, model) in names.iter().zip(&mut models) {
            assert_eq!(store.read(name).expect("readable"), *model, "after opening again");
            let changes: Vec<StoreOp> = (0..20).map(|_| random.change()).collect();
            store.apply(name, &changes).expect("applied");
            model_apply_all(model, &changes);
            if seed % 3 == 2 {
                store.purge().expect("purged");
            }
            assert_eq!(store.read(name).expect("readable"), *model, "before closing");
        }
    }
}

fn empty(store: &dyn UnitStore) {
    assert_eq!(store.namespaces().expect("readable"), []);
    assert_eq!(store.read(&name("nobody")).expect("readable"), MemorySnapshot::default());
    store.apply(&name("nobody"), &[]).expect("nothing to do");
    let nothing = [StoreOp::DeleteUnit(UnitId(7)), StoreOp::DeleteSession("s".into()), StoreOp::DeleteAll];
    store.apply(&name("nobody"), &nothing).expect("deleting what is not there is no error");
    store.purge().expect("an empty store can be purged");
    assert_eq!(store.namespaces().expect("readable"), [], "an empty memory is none");
}

fn round_trip(store: &dyn UnitStore) {
    let all = vec![
        StoreOp::PutMeta(sample_meta()),
        StoreOp::PutSession(sample_session("s1", 0)),
        StoreOp::PutUnit(sample_unit(1)),
        StoreOp::PutUnit(sample_unit(2)),
        StoreOp::PutLink(link(2, 1, Relation::FollowUp)),
        StoreOp::PutVector(vector(1, 0, &[0.6, -0.8, f32::MIN_POSITIVE, -0.0])),
        StoreOp::PutLongitudinal(sample_longitudinal()),
    ];
    store.apply(&name("a"), &all).expect("applied");
    let read = store.read(&name("a")).expect("readable");
    let mut expect = MemorySnapshot::default();
    model_apply_all(&mut expect, &all);
    assert_eq!(read, expect);
    assert_eq!(store.namespaces().expect("readable"), [name("a")]);
}

fn order_of_results(store: &dyn UnitStore) {
    let ids = [700, 3, 256, 255, 1, u64::MAX, 65_536];
    let mut changes = Vec::new();
    for (position, id) in ids.into_iter().enumerate() {
        changes.push(StoreOp::PutUnit(sample_unit(id)));
        changes.push(StoreOp::PutVector(vector(id, 300, &[1.0])));
        changes.push(StoreOp::PutVector(vector(id, 2, &[1.0])));
        changes.push(StoreOp::PutLink(link(id, ids[(position + 1) % ids.len()], Relation::Update)));
        // Names that sort against the ordinals.
        changes.push(StoreOp::PutSession(sample_session(&format!("s{}", 9 - position), position as u64)));
    }
    store.apply(&name("a"), &changes).expect("applied");
    let read = store.read(&name("a")).expect("readable");
    assert_eq!(read.units.len(), ids.len());
    assert!(read.units.is_sorted_by_key(|u| u.id), "units by rising id");
    assert!(read.links.is_sorted_by_key(|l| (l.from, l.to)), "links by rising ids");
    assert!(read.vectors.is_sorted_by_key(|v| (v.unit, v.view)), "vectors by rising id and view");
    assert!(read.sessions.is_sorted_by_key(|s| s.ordinal), "sessions by rising ordinal");
}

fn replaces(store: &dyn UnitStore) {
    let a = name("a");
    let mut changed = sample_unit(1);
    changed.fact.claim.push_str(" It broke.");
    let mut session = sample_session("s1", 0);
    session.state = SessionState::Running;
    let changes = [
        StoreOp::PutUnit(sample_unit(1)),
        StoreOp::PutUnit(changed.clone()),
        StoreOp::PutLink(link(2, 1, Relation::Support)),
        StoreOp::PutLink(link(2, 1, Relation::Update)),
        StoreOp::PutVector(vector(1, 0, &[1.0, 0.0])),
        StoreOp::PutVector(vector(1, 0, &[0.0, 1.0])),
        StoreOp::PutSession(sample_session("s1", 0)),
    ];
    store.apply(&a, &changes).expect("applied");
    store.apply(&a, &[StoreOp::PutSession(session.clone())]).expect("applied");
    let read = store.read(&a).expect("readable");
    assert_eq!(read.units, [changed]);
    assert_eq!(read.links, [link(2, 1, Relation::Update)]);
    assert_eq!(read.vectors, [vector(1, 0, &[0.0, 1.0])]);
    assert_eq!(read.sessions, [session]);
}

fn deletes_units(store: &dyn UnitStore) {
    let a = name("a");
    let mut changes: Vec<StoreOp> = (1..=4).map(|id| StoreOp::PutUnit(sample_unit(id))).collect();
    for (from, to) in [(2, 1), (3, 2), (4, 2), (4, 3), (3, 1)] {
        changes.push(StoreOp::PutLink(link(from, to, Relation::SameSituation)));
    }
    for id in 1..=4 {
        changes.push(StoreOp::PutVector(vector(id, 0, &[1.0])));
        changes.push(StoreOp::PutVector(vector(id, 1, &[1.0])));
    }
    store.apply(&a, &changes).expect("applied");
    store.apply(&a, &[StoreOp::DeleteUnit(UnitId(2))]).expect("applied");
    let read = store.read(&a).expect("readable");
    let pairs: Vec<_> = read.links.iter().map(|l| (l.from.0, l.to.0)).collect();
    assert_eq!(read.units.iter().map(|u| u.id.0).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(pairs, [(3, 1), (4, 3)], "links of a deleted unit go, both ways");
    assert!(read.vectors.iter().all(|v| v.unit != UnitId(2)) && read.vectors.len() == 6);
    // The unit put back has none of its old links.
    store.apply(&a, &[StoreOp::PutUnit(sample_unit(2)), StoreOp::DeleteUnit(UnitId(2))]).expect("applied");
    assert_eq!(store.read(&a).expect("readable"), read);
}

fn deletes_everything(store: &dyn UnitStore) {
    let mut random = Random(99);
    for memory in ["a", "b"] {
        let changes: Vec<StoreOp> = (0..60).map(|_| random.put()).collect();
        store.apply(&name(memory), &changes).expect("applied");
    }
    let b = store.read(&name("b")).expect("readable");
    store.apply(&name("a"), &[StoreOp::DeleteAll]).expect("applied");
    assert_eq!(store.read(&name("a")).expect("readable"), MemorySnapshot::default());
    assert_eq!(store.read(&name("b")).expect("readable"), b);
    assert_eq!(store.namespaces().expect("readable"), [name("b")]);
    let fresh = [StoreOp::PutUnit(sample_unit(9)), StoreOp::DeleteAll, StoreOp::PutUnit(sample_unit(5))];
    store.apply(&name("a"), &fresh).expect("applied");
    let read = store.read(&name("a")).expect("readable");
    assert_eq!(read.units, [sample_unit(5)], "changes apply in order");
}

fn keeps_namespaces_apart(store: &dyn UnitStore) {
    assert!(matches!(Namespace::new("a\u{1}"), Err(StoreError::Namespace { .. })));
    assert!(matches!(Namespace::new("a\0b"), Err(StoreError::Namespace { .. })));
    let names =
        ["a", "a ", "a b", "a!", "aa", "ab", "aé", "a\u{10ffff}", "é", "日本", "日", &"x".repeat(200)];
    for (position, text) in names.iter().enumerate() {
        // The session id continues the name, so that a key without an end of the name would be another one's.
        let session = sample_session(&format!("b{position}"), 0);
        let unit = sample_unit(position as u64 + 1);
        store.apply(&name(text), &[StoreOp::PutSession(session), StoreOp::PutUnit(unit)]).expect("applied");
    }
    let mut expect: Vec<Namespace> = names.iter().map(|text| name(text)).collect();
    expect.sort();
    assert_eq!(store.namespaces().expect("readable"), expect);
    for (position, text) in names.iter().enumerate() {
        let read = store.read(&name(text)).expect("readable");
        assert_eq!(read.units, [sample_unit(position as u64 + 1)], "memory `{text}`");
        assert_eq!(read.sessions.len(), 1, "memory `{text}`");
    }
    store.apply(&name("a"), &[StoreOp::DeleteAll]).expect("applied");
    assert_eq!(store.namespaces().expect("readable"), expect[1..], "only `a` is gone");
    assert_eq!(store.read(&name("a b")).expect("readable").units.len(), 1);
}

fn refuses_whole_batches(store: &dyn UnitStore) {
    let a = name("a");
    store.apply(&a, &[StoreOp::PutUnit(sample_unit(1))]).expect("applied");
    let before = store.read(&a).expect("readable");
    for values in [&[][..], &[f32::NAN], &[1.0, f32::INFINITY]] {
        let changes = [
            StoreOp::DeleteUnit(UnitId(1)),
            StoreOp::PutUnit(sample_unit(2)),
            StoreOp::PutMeta(sample_meta()),
            StoreOp::PutVector(vector(2, 0, values)),
            StoreOp::PutUnit(sample_unit(3)),
        ];
        assert!(matches!(store.apply(&a, &changes), Err(StoreError::Refused { .. })));
        assert_eq!(store.read(&a).expect("readable"), before, "a refused batch changes nothing");
    }
}

/// A writer puts pairs of units with equal texts; readers must never see half a pair.
fn reads_while_writing(store: &dyn UnitStore) {
    let a = name("a");
    let rounds = 30;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                let mut pair = [sample_unit(1), sample_unit(2)];
                for unit in &mut pair {
                    unit.fact.claim = format!("round {round}");
                }
                let changes: Vec<StoreOp> = pair.into_iter().map(StoreOp::PutUnit).collect();
                store.apply(&name("a"), &changes).expect("applied");
                if round % 10 == 9 {
                    store.purge().expect("purged");
                }
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 * rounds {
                    let units = store.read(&a).expect("readable").units;
                    assert!(units.is_empty() || units.len() == 2, "half a batch was seen");
                    assert!(
                        units.windows(2).all(|w| w[0].fact.claim == w[1].fact.claim),
                        "two batches were mixed"
                    );
                    std::thread::yield_now();
                }
            });
        }
    });
    let units = store.read(&a).expect("readable").units;
    assert_eq!(units[0].fact.claim, format!("round {}", rounds - 1));
}

fn random_changes(store: &dyn UnitStore, seed: u64) {
    let mut random = Random(seed);
    let names = [name("a"), name("ab")];
    let mut models = [MemorySnapshot::default(), MemorySnapshot::default()];
    for _ in 0..12 {
        let which = random.below(2) as usize;
        let changes: Vec<StoreOp> = (0..random.below(12)).map(|_| random.change()).collect();
        store.apply(&names[which], &changes).expect("applied");
        model_apply_all(&mut models[which], &changes);
        if random.below(6) == 0 {
            store.purge().expect("purged");
        }
        for (name, model) in names.iter().zip(&models) {
            assert_eq!(store.read(name).expect("readable"), *model, "seed {seed}");
            parts_agree(store, name, model);
        }
    }
}

/// Records and vectors that are read apart are those that are read together.
fn parts_agree(store: &dyn UnitStore, name: &Namespace, model: &MemorySnapshot) {
    let records = store.read_records(name).expect("readable");
    assert_eq!(records, MemorySnapshot { vectors: Vec::new(), ..model.clone() });
    for (from, to) in [(0, u64::MAX), (0, 0), (2, 5), (5, 2), (3, 4)] {
        let range = UnitId(from)..UnitId(to);
        let mut expect = model.vectors.clone();
        expect.retain(|vector| range.contains(&vector.unit));
        assert_eq!(store.read_vectors(name, range).expect("readable"), expect, "units {from} to {to}");
    }
}

fn model_apply_all(memory: &mut MemorySnapshot, changes: &[StoreOp]) {
    for op in changes {
        model_apply(memory, op);
    }
}

/// The contract of [`StoreOp`] in the plainest way.
fn model_apply(memory: &mut MemorySnapshot, op: &StoreOp) {
    match op {
        StoreOp::PutMeta(meta) => memory.meta = meta.clone(),
        StoreOp::PutSession(session) => {
            memory.sessions.retain(|s| s.session.id != session.session.id);
            memory.sessions.push(session.clone());
            memory.sessions.sort_by_key(|s| (s.ordinal, s.session.id.clone()));
        }
        StoreOp::DeleteSession(id) => memory.sessions.retain(|s| s.session.id != *id),
        StoreOp::PutUnit(unit) => {
            memory.units.retain(|u| u.id != unit.id);
            memory.units.push(unit.clone());
            memory.units.sort_by_key(|u| u.id);
        }
        StoreOp::DeleteUnit(id) => {
            memory.units.retain(|u| u.id != *id);
            memory.links.retain(|l| l.from != *id && l.to != *id);
            memory.vectors.retain(|v| v.unit != *id);
        }
        StoreOp::PutLink(link) => {
            memory.links.retain(|l| (l.from, l.to) != (link.from, link.to));
            memory.links.push(*link);
            memory.links.sort_by_key(|l| (l.from, l.to));
        }
        StoreOp::PutVector(vector) => {
            memory.vectors.retain(|v| (v.unit, v.view) != (vector.unit, vector.view));
            memory.vectors.push(vector.clone());
            memory.vectors.sort_by_key(|v| (v.unit, v.view));
        }
        StoreOp::DeleteVectors(id) => memory.vectors.retain(|v| v.unit != *id),
        StoreOp::PutLongitudinal(longitudinal) => memory.longitudinal = longitudinal.clone(),
        StoreOp::DeleteAll => *memory = MemorySnapshot::default(),
    }
}

/// The splitmix64 generator: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Ids that are few, so that they meet, and of different byte lengths.
    fn id(&mut self) -> u64 {
        [1, 2, 3, 255, 256, 257, 1 << 40][self.below(7) as usize]
    }

    fn put(&mut self) -> StoreOp {
        match self.below(12) {
            0 => StoreOp::PutMeta(MemoryMeta { next_unit: self.below(9), ..sample_meta() }),
            1 => {
                let ordinal = self.below(4);
                StoreOp::PutSession(sample_session(&format!("s{ordinal}"), ordinal))
            }
            2..=5 => {
                let mut unit = sample_unit(self.id());
                unit.fact.claim = format!("claim {}", self.below(100));
                StoreOp::PutUnit(unit)
            }
            6..=8 => StoreOp::PutLink(link(self.id(), self.id(), Relation::Update)),
            9 | 10 => {
                let value = self.below(100) as f32;
                StoreOp::PutVector(vector(self.id(), self.below(3) as u16, &[value, 1.0]))
            }
            _ => StoreOp::PutLongitudinal(sample_longitudinal()),
        }
    }

    fn change(&mut self) -> StoreOp {
        match self.below(24) {
            0..=2 => StoreOp::DeleteUnit(UnitId(self.id())),
            3 => StoreOp::DeleteSession(SessionId(format!("s{}", self.below(4)))),
            4 if self.below(4) == 0 => StoreOp::DeleteAll,
            5 => StoreOp::DeleteVectors(UnitId(self.id())),
            _ => self.put(),
        }
    }
}

fn name(text: &str) -> Namespace {
    Namespace::new(text).expect("a name of this suite is valid")
}

fn link(from: u64, to: u64, relation: Relation) -> Link {
    Link { from: UnitId(from), to: UnitId(to), relation, similarity: 0.75 }
}

fn vector(unit: u64, view: u16, values: &[f32]) -> StoredVector {
    StoredVector { unit: UnitId(unit), view, values: values.to_vec() }
}

/// Constants with every field set.
pub(crate) fn sample_meta() -> MemoryMeta {
    MemoryMeta { embedder: "model@1".to_owned(), dim: 4, next_unit: 3, next_session: 1 }
}

/// A session with every field set.
pub(crate) fn sample_session(id: &str, ordinal: u64) -> StoredSession {
    let at = date(2024, 3, 8).at(18, 30, 0, 0);
    let turn = |index: u32, speaker: &str, text: &str| Turn {
        index,
        source_id: format!("{id}:{}", index + 1),
        speaker: speaker.to_owned(),
        role: Role::Peer,
        at: Some(at),
        text: text.to_owned(),
        caption: Some("a red kite over a field".to_owned()),
    };
    let turns = vec![turn(0, "Ines", "I flew my kite yesterday."), turn(1, "Tomas", "Ça a marché ?")];
    StoredSession {
        session: Session { id: id.into(), started_at: Some(at), turns },
        fragments: vec![Fragment { span: TurnSpan::new(0, 2), cue: BoundaryCue::SessionEnd }],
        state: SessionState::Finished,
        fingerprint: 0x0123_4567_89ab_cdef,
        ordinal,
    }
}

/// A unit with every field set.
pub(crate) fn sample_unit(id: u64) -> Unit {
    let said_at = date(2024, 3, 8).at(18, 30, 0, 0);
    let event = EventTime {
        text: "yesterday".to_owned(),
        interval: Some(DateInterval::day(date(2024, 3, 7))),
        granularity: Granularity::Day,
        orientation: TimeOrientation::Past,
        bound: TimeBound::Within,
    };
    Unit {
        id: UnitId(id),
        fact: FactAnchor {
            claim: "Ines flew her kite.".to_owned(),
            situation: SituationType::Event,
            participants: vec!["Ines".to_owned()],
            mentioned: vec!["my sister".to_owned()],
            summary: "Ines flies a kite".to_owned(),
        },
        time: TimeAnchor {
            said_at: Some(said_at),
            event: Some(event.clone()),
            mentions: vec![event],
            orientation: TimeOrientation::Past,
            completion: Completion::Completed,
        },
        affect: AffectAnchor {
            emotions: vec!["joy".to_owned()],
            intention: Some("fly it again".to_owned()),
            relation_cues: vec!["support".to_owned()],
        },
        evidence: Evidence {
            session: "s1".into(),
            turns: TurnSpan::new(0, 2),
            quotes: vec![Quote { turn: 0, start: 0, end: 25 }],
        },
        status: UnitStatus::Complete,
        provenance: Provenance {
            extractor: "rules/1".to_owned(),
            prompt: Some("extract/1".to_owned()),
            model: Some("model".to_owned()),
            corrected_at: Some(said_at),
        },
        lifecycle: Lifecycle {
            valid_from: Some(date(2024, 3, 7)),
            valid_until: Some(date(2024, 3, 9)),
            superseded_by: Some(UnitId(300)),
        },
    }
}

/// Longitudinal memory with an entry of each kind.
pub(crate) fn sample_longitudinal() -> Longitudinal {
    use crate::longitudinal::{SupportEntry, SupportOutcome};
    let said_at = Some(date(2024, 3, 8).at(18, 30, 0, 0));
    Longitudinal {
        profile: vec![ProfileEntry {
            person: "Ines".to_owned(),
            topic: ProfileTopic::Preference,
            text: "Ines likes kites".to_owned(),
            units: vec![UnitId(1), UnitId(2)],
            last_said: said_at,
        }],
        support: vec![SupportEntry {
            session: "s1".into(),
            seeker: "Ines".to_owned(),
            attempt: "Tomas suggests a walk".to_owned(),
            outcome: SupportOutcome::Agreed,
            units: vec![UnitId(2)],
            said_at,
        }],
    }
}
