use std::{fs, sync::Mutex};

use tempfile::TempDir;

use super::*;
use crate::{
    store::{MemoryMeta, StoredSession, conformance},
    unit::{Link, Relation, Unit},
};

/// What nobody may find after a purge.
const SECRET: &str = "the diary lies under the third floorboard";

fn name(text: &str) -> Namespace {
    Namespace::new(text).unwrap()
}

fn file_of(directory: &TempDir) -> PathBuf {
    directory.path().join("store.redb")
}

/// A store with some hundred records in two memories, and what they hold.
fn filled(path: &Path) -> Vec<(Namespace, MemorySnapshot)> {
    let store = RedbStore::open(path).unwrap();
    for memory in ["ines", "tomas"] {
        let mut changes = vec![
            StoreOp::PutMeta(conformance::sample_meta()),
            StoreOp::PutSession(conformance::sample_session("s1", 0)),
            StoreOp::PutLongitudinal(conformance::sample_longitudinal()),
        ];
        for id in 1..=40_u64 {
            changes.push(StoreOp::PutUnit(conformance::sample_unit(id)));
            changes.push(StoreOp::PutVector(StoredVector {
                unit: UnitId(id),
                view: 0,
                values: vec![0.5; 64],
            }));
            let link =
                Link { from: UnitId(id + 1), to: UnitId(id), relation: Relation::Update, similarity: 0.5 };
            changes.push(StoreOp::PutLink(link));
        }
        for chunk in changes.chunks(25) {
            store.apply(&name(memory), chunk).unwrap();
        }
    }
    contents(&store).unwrap()
}

fn contents(store: &RedbStore) -> Result<Vec<(Namespace, MemorySnapshot)>, StoreError> {
    store.namespaces()?.into_iter().map(|n| store.read(&n).map(|s| (n, s))).collect()
}

fn finds(directory: &TempDir, text: &str) -> bool {
    fs::read_dir(directory.path()).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|w| w == text.as_bytes())
    })
}

#[test]
fn conforms() {
    let directories = Mutex::new(Vec::new());
    conformance::unit_store(|| {
        let directory = TempDir::new().unwrap();
        let store = RedbStore::open(&file_of(&directory)).unwrap();
        directories.lock().unwrap().push(directory);
        Box::new(store)
    });
}

#[test]
fn survives_closing() {
    let directory = TempDir::new().unwrap();
    conformance::durable_store(|| Box::new(RedbStore::open(&file_of(&directory)).unwrap()));
}

#[test]
fn one_handle_at_a_time() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    let first = RedbStore::open(&path).unwrap();
    assert!(matches!(RedbStore::open(&path), Err(StoreError::InUse { .. })));
    first.purge().unwrap();
    assert!(matches!(RedbStore::open(&path), Err(StoreError::InUse { .. })), "the purged file is locked too");
    drop(first);
    RedbStore::open(&path).unwrap();
}

#[test]
fn makes_directories_and_refuses_a_directory() {
    let directory = TempDir::new().unwrap();
    RedbStore::open(&directory.path().join("a/b/store.redb")).unwrap();
    assert!(matches!(RedbStore::open(directory.path()), Err(StoreError::Backend { .. })));
}

#[test]
fn purge_leaves_no_byte_of_what_was_deleted() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    filled(&path);
    let store = RedbStore::open(&path).unwrap();
    let mut unit = conformance::sample_unit(90);
    unit.fact.claim = SECRET.to_owned();
    let mut session = conformance::sample_session("s9", 9);
    session.session.turns[0].text = format!("Do not tell: {SECRET}.");
    let mut other = conformance::sample_unit(91);
    other.fact.summary = SECRET.to_uppercase();
    store.apply(&name("ines"), &[StoreOp::PutUnit(unit), StoreOp::PutSession(session)]).unwrap();
    store.apply(&name("tomas"), &[StoreOp::PutUnit(other)]).unwrap();
    let gone = [StoreOp::DeleteUnit(UnitId(90)), StoreOp::DeleteSession("s9".into())];
    store.apply(&name("ines"), &gone).unwrap();
    assert!(finds(&directory, SECRET), "the engine keeps old pages: without this the test shows nothing");

    let before = contents(&store).unwrap();
    store.purge().unwrap();
    assert!(!finds(&directory, SECRET));
    assert!(finds(&directory, &SECRET.to_uppercase()), "what was not deleted stays");
    assert_eq!(contents(&store).unwrap(), before);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no other file is left");

    // Still gone after further work, closing and opening; and a replaced text goes as well.
    store.apply(&name("tomas"), &[StoreOp::PutUnit(conformance::sample_unit(91))]).unwrap();
    store.purge().unwrap();
    drop(store);
    assert!(!finds(&directory, SECRET) && !finds(&directory, &SECRET.to_uppercase()));
    assert_eq!(RedbStore::open(&path).unwrap().read(&name("tomas")).unwrap().units.len(), 41);
}

#[test]
fn a_file_left_by_a_broken_off_purge_is_removed() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    let leftover = directory.path().join("store.redb.new");
    // Broken off while the very first file was made, then while it was rewritten.
    fs::write(&leftover, SECRET).unwrap();
    drop(RedbStore::open(&path).unwrap());
    assert!(!leftover.exists());
    let expect = filled(&path);
    for left in [SECRET.as_bytes().to_vec(), fs::read(&path).unwrap()] {
        fs::write(&leftover, left).unwrap();
        let store = RedbStore::open(&path).unwrap();
        assert!(!leftover.exists());
        assert_eq!(contents(&store).unwrap(), expect);
    }
}

#[test]
fn a_purge_that_cannot_write_loses_nothing() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    let expect = filled(&path);
    let store = RedbStore::open(&path).unwrap();
    // A directory in the place of the temporary file cannot be removed as a file.
    fs::create_dir(directory.path().join("store.redb.new")).unwrap();
    assert!(matches!(store.purge(), Err(StoreError::Backend { .. })));
    assert_eq!(contents(&store).unwrap(), expect);
    store.apply(&name("ines"), &[StoreOp::DeleteUnit(UnitId(1))]).unwrap();
}

/// An image of the file while it is open is what a crash leaves.
#[test]
fn recovers_after_a_crash() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    filled(&path);
    let store = RedbStore::open(&path).unwrap();
    for id in 100..110 {
        store.apply(&name("ines"), &[StoreOp::PutUnit(conformance::sample_unit(id))]).unwrap();
        let crashed = directory.path().join("crashed.redb");
        fs::copy(&path, &crashed).unwrap();
        assert_eq!(contents(&RedbStore::open(&crashed).unwrap()).unwrap(), contents(&store).unwrap());
    }
}

#[test]
fn foreign_files_stay_as_they_are() {
    let directory = TempDir::new().unwrap();
    let check = |file: &str, bytes: &[u8]| {
        let path = directory.path().join(file);
        fs::write(&path, bytes).unwrap();
        let opened = RedbStore::open(&path);
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{file}: {opened:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{file} was changed");
    };
    check("empty", b"");
    check("short", b"redb");
    check("magic-only", b"redb\x1a\x0a\xa9\x0d\x0a\x00");
    check("text", &b"Dear diary, ".repeat(2000));
    check("zeros", &[0; 8192]);
    let other = directory.path().join("other.redb");
    let definition: TableDefinition<'_, &str, u64> = TableDefinition::new("format");
    for table in [TableDefinition::new("something"), definition] {
        let database = Database::create(&other).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(table).unwrap().insert("one", 1).unwrap();
        transaction.commit().unwrap();
        drop(database);
        check("other-program", &fs::read(&other).unwrap());
        fs::remove_file(&other).unwrap();
    }
}

#[test]
fn other_versions_are_named() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    filled(&path);
    let change = |definition: TableDefinition<'_, Bytes, Bytes>, key: &[u8], value: &[u8]| {
        let database = Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(definition).unwrap().insert(key, value).unwrap();
        transaction.commit().unwrap();
    };
    let unit = key("ines", &[&id_bytes(UnitId(1))]);
    let mut newer = record::encode(&conformance::sample_unit(1)).unwrap();
    newer[0] = 9;
    change(UNITS, &unit, &newer);
    let read = RedbStore::open(&path).unwrap().read(&name("ines"));
    assert!(matches!(read, Err(StoreError::Version { found: 9, .. })), "{read:?}");
    change(FORMAT, b"version", &7_u32.to_le_bytes());
    let before = fs::read(&path).unwrap();
    let opened = RedbStore::open(&path);
    assert!(matches!(opened, Err(StoreError::Version { found: 7, supported: 1, .. })), "{opened:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Opens a file with these bytes: the right content, or a typed error and the same bytes.
fn check_damaged(path: &Path, bytes: &[u8], expect: &[(Namespace, MemorySnapshot)], what: &str) -> bool {
    fs::write(path, bytes).unwrap();
    let result = RedbStore::open(path).and_then(|store| contents(&store));
    match result {
        Ok(content) => {
            assert_eq!(content, expect, "{what}: other content");
            true
        }
        Err(StoreError::Damaged { .. } | StoreError::Version { .. }) => {
            assert!(fs::read(path).unwrap() == bytes, "{what}: the damaged file was changed");
            false
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn altered_files_are_found() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    let expect = filled(&path);
    check_altered(&directory, &fs::read(&path).unwrap(), &expect, 0..8);
}

/// Recovery after a crash must not take an altered file for one that a crash left half written.
#[test]
fn altered_files_that_were_not_closed_are_found() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    filled(&path);
    let store = RedbStore::open(&path).unwrap();
    store.apply(&name("ines"), &[StoreOp::PutUnit(conformance::sample_unit(100))]).unwrap();
    store.apply(&name("ines"), &[StoreOp::DeleteUnit(UnitId(3))]).unwrap();
    // Bit 0 says which of two commits is the newest; turned round, the file is just what a crash before the end of the
    // newest leaves, and the one before is right.
    check_altered(&directory, &fs::read(&path).unwrap(), &contents(&store).unwrap(), 1..8);
}

fn check_altered(
    directory: &TempDir,
    whole: &[u8],
    expect: &[(Namespace, MemorySnapshot)],
    flags: std::ops::Range<u8>,
) {
    let path = directory.path().join("altered.redb");
    let mut state = 0x5eed_u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let mut unharmed = 0;
    // The flags after the magic number: which commit is the newest, whether the file was closed.
    for bit in flags {
        let mut bytes = whole.to_vec();
        bytes[9] ^= 1 << bit;
        check_damaged(&path, &bytes, expect, &format!("flag {bit}"));
    }
    for case in 0..400 {
        // Headers and pages in use deserve more than their share of the bytes.
        let at = match case % 4 {
            0 => random(400),
            1 => random(whole.len()),
            _ => used[random(used.len())],
        };
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << random(8);
        unharmed += usize::from(check_damaged(&path, &bytes, expect, &format!("flip at {at}")));
    }
    assert!(unharmed < 350, "{unharmed} of 400 flips were not seen");
    for case in 0..120 {
        let len = if case < 40 { case * 16 } else { random(whole.len()) };
        assert!(!check_damaged(&path, &whole[..len], expect, &format!("cut to {len}")));
    }
}

/// A file that is as it was closed is opened without reading all of it; a touched one is verified.
#[test]
fn a_noted_file_is_verified_when_it_was_touched() {
    let directory = TempDir::new().unwrap();
    let path = file_of(&directory);
    filled(&path);
    let note = directory.path().join(format!("{}.checked", path.file_name().unwrap().to_string_lossy()));
    assert!(!note.exists(), "a small file has no note");
    let expect = contents(&RedbStore::open_noted(&path, 0).unwrap()).unwrap();
    assert!(note.exists());
    let store = RedbStore::open_noted(&path, 0).unwrap();
    assert!(!note.exists(), "an open file may change");
    assert_eq!(contents(&store).unwrap(), expect);
    drop(store);
    // A byte of a page in use, in a file that was closed well and has a note.
    let whole = fs::read(&path).unwrap();
    let mut unseen = 0;
    for at in (4096..whole.len()).filter(|at| whole[*at] != 0).step_by(1 + whole.len() / 60) {
        drop(RedbStore::open_noted(&path, 0));
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 4;
        fs::write(&path, &bytes).unwrap();
        match RedbStore::open_noted(&path, 0).and_then(|store| contents(&store)) {
            Ok(content) => {
                unseen += 1;
                assert_eq!(content, expect);
            }
            Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(unseen < 60, "{unseen}");
    // Without its note a file is verified as ever.
    drop(RedbStore::open_noted(&path, 0));
    fs::write(&note, b"FTACHECK of something else").unwrap();
    assert_eq!(contents(&RedbStore::open_noted(&path, 0).unwrap()).unwrap(), expect);
}

#[test]
fn a_record_that_was_swapped_or_altered_is_found() {
    let record = record::encode(&conformance::sample_unit(1)).unwrap();
    for at in 0..record.len() {
        let mut bytes = record.clone();
        bytes[at] ^= 0x10;
        assert!(record::decode::<Unit>(&bytes).is_err(), "byte {at}");
        assert!(record::decode::<Unit>(&record[..at]).is_err(), "cut to {at}");
    }
    assert_eq!(record::decode::<Unit>(&record).unwrap(), conformance::sample_unit(1));
}

fn line(kind: &str, bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = format!("{kind}: ");
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text + "\n"
}

/// The bytes of one record of each kind are those of the released format. If this fails because a stored type changed:
/// raise `RECORD_VERSION`, keep reading the old version, and add a new fixture beside the old one.
#[test]
fn format_is_that_of_the_fixture() {
    let link = Link { from: UnitId(2), to: UnitId(1), relation: Relation::FollowUp, similarity: 0.75 };
    let records = [
        ("meta", record::encode(&conformance::sample_meta()).unwrap()),
        ("session", record::encode(&conformance::sample_session("s1", 4)).unwrap()),
        ("unit", record::encode(&conformance::sample_unit(1)).unwrap()),
        ("link", record::encode(&link).unwrap()),
        ("vector", record::encode_vector(&[0.6, -0.8]).unwrap()),
        ("longitudinal", record::encode(&conformance::sample_longitudinal()).unwrap()),
        ("unit key", key("ines", &[&id_bytes(UnitId(258))])),
    ];
    let text: String = records.iter().map(|(kind, bytes)| line(kind, bytes)).collect();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/records-v1.txt");
    assert_eq!(text, fs::read_to_string(fixture).unwrap_or_default(), "the stored format changed");
    assert_eq!(record::decode::<MemoryMeta>(&records[0].1).unwrap(), conformance::sample_meta());
    assert_eq!(record::decode::<StoredSession>(&records[1].1).unwrap(), conformance::sample_session("s1", 4));
    assert_eq!(record::decode::<Unit>(&records[2].1).unwrap(), conformance::sample_unit(1));
    assert_eq!(record::decode::<Link>(&records[3].1).unwrap(), link);
    assert_eq!(record::decode_vector(&records[4].1).unwrap(), [0.6, -0.8]);
}
