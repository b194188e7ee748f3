//! The parts of the suite about saving and loading.

use std::path::Path;

use super::{Suite, numbers::Numbers, oracle::Oracle};
use crate::error::IndexError;
use crate::file::Label;
use crate::vector::{Hit, VectorIndex};

/// Damaged files per suite, beside those of a tiny index that is damaged everywhere.
const N_DAMAGED: usize = 2000;

fn filled(suite: &Suite<'_>, n: usize, dim: usize) -> (Box<dyn VectorIndex>, Oracle, Vec<f32>) {
    let mut numbers = Numbers(n as u64);
    let ids: Vec<_> = (0..n as u64).map(|i| i * 31 % 1009).collect();
    let vectors = numbers.unit_vectors(n, dim);
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    index.add(&ids, &vectors).expect("legal vectors");
    oracle.add(&ids, &vectors);
    (index, oracle, numbers.unit_vectors(2, dim))
}

fn label() -> Label {
    Label { model_id: "model, revision 1".to_owned(), generation: 7 }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

pub(super) fn round_trip(suite: &Suite<'_>) {
    let folder = folder();
    let path = folder.path().join(file_name());
    // The larger file is overwritten by smaller ones.
    for n in [420, 1, 0] {
        let (index, oracle, queries) = filled(suite, n, 12);
        index.save(&path, &label()).expect("saving");
        // What was there before is gone.
        let (mut loaded, ..) = filled(suite, 5, 12);
        assert_eq!(loaded.load(&path).expect("loading"), label());
        suite.compare_index(&oracle, &*loaded, &queries);
        let search = |index: &dyn VectorIndex| -> Vec<Vec<Hit>> {
            queries.chunks(12).map(|query| index.search(query, 40, None).expect("legal")).collect()
        };
        assert_eq!(search(&*index), search(&*loaded));
        let mut opened = suite.make(12);
        assert_eq!(opened.open(&path).expect("opening"), label());
        assert_eq!(search(&*index), search(&*opened));
        drop(opened);
        // A loaded index lives on.
        let unit = queries[..12].to_vec();
        loaded.add(&[5000], &unit).expect("a legal vector");
        assert_eq!(loaded.search(&unit, 1, None).expect("legal")[0].id, 5000);
        assert_eq!(loaded.remove(&[5000]).expect("removal"), 1);
        suite.compare_index(&oracle, &*loaded, &queries);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "saving leaves nothing else behind: {left:?}");
}

/// A name that is no UTF-8, where there are such.
#[cfg(unix)]
fn file_name() -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(b"index \xFF".to_vec())
}

#[cfg(not(unix))]
fn file_name() -> std::ffi::OsString {
    "index".into()
}

pub(super) fn failed_saves(suite: &Suite<'_>) {
    let folder = folder();
    let (index, ..) = filled(suite, 3, 4);
    let error =
        index.save(&folder.path().join("missing").join("index"), &label()).expect_err("no such folder");
    assert!(matches!(error, IndexError::Io { .. }), "{error:?}");
    let error = index.save(folder.path(), &label()).expect_err("a folder cannot be replaced");
    assert!(matches!(error, IndexError::Io { .. }), "{error:?}");
    assert!(folder.path().is_dir());
}

/// An index, and what it must still hold after a file was refused.
struct Victim<'a> {
    suite: &'a Suite<'a>,
    index: Box<dyn VectorIndex>,
    oracle: Oracle,
    queries: Vec<f32>,
    /// What searches for so many find in the file before it is damaged.
    good: Vec<(usize, Vec<Hit>)>,
}

impl<'a> Victim<'a> {
    fn new(suite: &'a Suite<'a>, n: usize, dim: usize) -> Self {
        let (index, oracle, queries) = filled(suite, n, dim);
        Self { suite, index, oracle, queries, good: Vec::new() }
    }

    fn must_refuse(&mut self, path: &Path, what: &str) {
        let error = self.index.load(path).err().unwrap_or_else(|| panic!("{what} was loaded"));
        assert!(matches!(error, IndexError::File { .. } | IndexError::Io { .. }), "{what}: {error:?}");
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{what}: the message names the file");
        self.suite.compare_index(&self.oracle, &*self.index, &self.queries);
        self.must_not_be_misled(path, what);
    }

    /// An index that reads later may find out later, or never if it does not need what is damaged; but what it finds
    /// must be what the file held when it was `good`.
    fn must_not_be_misled(&self, path: &Path, what: &str) {
        let mut lazy = self.suite.make(self.index.dim());
        if let Err(error) = lazy.open(path) {
            assert!(matches!(error, IndexError::File { .. } | IndexError::Io { .. }), "{what}: {error:?}");
            return;
        }
        for (k, expect) in &self.good {
            match lazy.search(&self.queries[..self.index.dim()], *k, None) {
                Ok(hits) => assert_eq!(hits, *expect, "{what} was opened and misled a search"),
                Err(error) => assert!(matches!(error, IndexError::File { .. }), "{what}: {error:?}"),
            }
        }
        assert!(!self.good.is_empty(), "{what} was opened");
    }

    /// Learns what searches find in an undamaged file.
    fn learn(&mut self, index: &dyn VectorIndex) {
        let query = &self.queries[..index.dim()];
        let search = |k| (k, index.search(query, k, None).expect("a legal query"));
        self.good = [1, usize::MAX].map(search).to_vec();
    }
}

pub(super) fn foreign_files(suite: &Suite<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    let mut victim = Victim::new(suite, 6, 8);
    victim.must_refuse(&path, "a missing file");
    victim.must_refuse(folder.path(), "a folder");
    for dim in [7, 9, 16, 4] {
        filled(suite, 6, dim).0.save(&path, &label()).expect("saving");
        victim.must_refuse(&path, "an index of another dimension");
    }
    suite.make(7).save(&path, &label()).expect("saving");
    victim.must_refuse(&path, "an empty index of another dimension");
    for foreign in [&b""[..], b"\0", b"no index at all, only some text that is long enough", &[0xFF; 4096]] {
        std::fs::write(&path, foreign).expect("writing");
        victim.must_refuse(&path, "a foreign file");
    }
}

pub(super) fn damaged_files(suite: &Suite<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    let mut victim = Victim::new(suite, 9, 8);
    let (index, ..) = filled(suite, 4, 8);
    index.save(&path, &label()).expect("saving");
    victim.learn(&*index);
    let good = std::fs::read(&path).expect("the file");
    let mut refuse = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).expect("writing");
        victim.must_refuse(&path, what);
    };
    // All places where the files of this size allow it, else a spread with both ends.
    let step = (good.len() / 100).max(1);
    let places = || (0..good.len()).filter(|at| at % step == 0 || *at < 32 || *at + 32 > good.len());
    for length in places() {
        refuse(&good[..length], &format!("a file cut to {length} of {} bytes", good.len()));
    }
    for at in places() {
        for bit in [0, 7] {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            refuse(&bytes, &format!("a file with bit {bit} of byte {at} flipped"));
        }
    }
    for tail in [&[0][..], &[0; 8], &good] {
        refuse(&[&good, tail].concat(), "a file with trailing bytes");
    }
    std::fs::write(&path, &good).expect("writing");
    victim.index.load(&path).expect("the file as it was is good");
    assert_eq!(victim.index.len(), 4);
}

/// An index of some size, as it is after training, damaged in all the ways that discs and programs do it.
pub(super) fn many_damaged_files(suite: &Suite<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    let mut victim = Victim::new(suite, 9, 8);
    let (mut index, ..) = filled(suite, 420, 8);
    index.remove(&[0, 31, 62]).expect("removal");
    index.save(&path, &label()).expect("saving");
    victim.learn(&*index);
    let good = std::fs::read(&path).expect("the file");
    let mut numbers = Numbers(9);
    for number in 0..N_DAMAGED {
        let bytes = damage(&good, number % 8, &mut numbers);
        if bytes != good {
            std::fs::write(&path, bytes).expect("writing");
            victim.must_refuse(&path, &format!("damaged file {number}"));
        }
    }
    std::fs::write(&path, &good).expect("writing");
    victim.index.load(&path).expect("the file as it was is good");
    assert_eq!(victim.index.len(), index.len());
}

fn damage(good: &[u8], way: usize, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let length = good.len() as u64;
    let at = numbers.below(length) as usize;
    let end = (at + 1 + numbers.below(64) as usize).min(good.len());
    match way {
        // Cut, anywhere or near the end.
        0 => bytes.truncate(at),
        1 => bytes.truncate(good.len() - 1 - numbers.below(length.min(64)) as usize),
        // One bit, anywhere or in the header; several.
        2 => bytes[at] ^= 1 << numbers.below(8),
        3 => bytes[at % 200.min(good.len())] ^= 1 << numbers.below(8),
        4 => (0..2 + numbers.below(15)).for_each(|_| {
            bytes[numbers.below(length) as usize] ^= 1 << numbers.below(8);
        }),
        // A stretch that was never written, or that another file wrote; one that was written twice.
        5 => bytes[at..end].fill(0),
        6 => bytes[at..end].fill_with(|| numbers.below(256) as u8),
        _ => {
            let stretch = good[at..end].to_vec();
            bytes.splice(at..at, stretch);
        }
    }
    bytes
}
