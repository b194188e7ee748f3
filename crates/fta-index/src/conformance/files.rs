//! The parts of the suite about saving and loading.

use std::path::Path;

use super::oracle::{Numbers, Oracle};
use crate::error::IndexError;
use crate::file::Label;
use crate::vector::{Hit, VectorIndex};

type Make<'a> = &'a dyn Fn(usize) -> Box<dyn VectorIndex>;

fn filled(make: Make<'_>, n: usize, dim: usize) -> (Box<dyn VectorIndex>, Oracle, Vec<f32>) {
    let mut numbers = Numbers(n as u64);
    let ids: Vec<_> = (0..n as u64).map(|i| i * 31 % 1009).collect();
    let vectors = numbers.unit_vectors(n, dim);
    let (mut index, mut oracle) = (make(dim), Oracle::default());
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

pub(super) fn round_trip(make: Make<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    // The larger file is overwritten by smaller ones.
    for n in [300, 1, 0] {
        let (index, oracle, queries) = filled(make, n, 12);
        index.save(&path, &label()).expect("saving");
        // What was there before is gone.
        let (mut loaded, ..) = filled(make, 5, 12);
        assert_eq!(loaded.load(&path).expect("loading"), label());
        oracle.compare_index(&*loaded, &queries);
        let search = |index: &dyn VectorIndex| -> Vec<Vec<Hit>> {
            queries.chunks(12).map(|query| index.search(query, 40, None).expect("legal")).collect()
        };
        assert_eq!(search(&*index), search(&*loaded));
        // A loaded index lives on.
        let unit = queries[..12].to_vec();
        loaded.add(&[5000], &unit).expect("a legal vector");
        assert_eq!(loaded.search(&unit, 1, None).expect("legal")[0].id, 5000);
        assert_eq!(loaded.remove(&[5000]).expect("removal"), 1);
        oracle.compare_index(&*loaded, &queries);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "saving leaves nothing else behind: {left:?}");
}

pub(super) fn failed_saves(make: Make<'_>) {
    let folder = folder();
    let (index, ..) = filled(make, 3, 4);
    let error =
        index.save(&folder.path().join("missing").join("index"), &label()).expect_err("no such folder");
    assert!(matches!(error, IndexError::Io { .. }), "{error:?}");
    let error = index.save(folder.path(), &label()).expect_err("a folder cannot be replaced");
    assert!(matches!(error, IndexError::Io { .. }), "{error:?}");
    assert!(folder.path().is_dir());
}

fn must_refuse(index: &mut dyn VectorIndex, oracle: &Oracle, queries: &[f32], path: &Path, what: &str) {
    let error = index.load(path).err().unwrap_or_else(|| panic!("{what} was loaded"));
    assert!(matches!(error, IndexError::File { .. } | IndexError::Io { .. }), "{what}: {error:?}");
    assert!(error.to_string().contains(&*path.to_string_lossy()), "{what}: the message names the file");
    oracle.compare_index(index, queries);
}

pub(super) fn foreign_files(make: Make<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    let (mut index, oracle, queries) = filled(make, 6, 8);
    must_refuse(&mut *index, &oracle, &queries, &path, "a missing file");
    must_refuse(&mut *index, &oracle, &queries, folder.path(), "a folder");
    for dim in [7, 9, 16, 4] {
        filled(make, 6, dim).0.save(&path, &label()).expect("saving");
        must_refuse(&mut *index, &oracle, &queries, &path, "an index of another dimension");
    }
    make(7).save(&path, &label()).expect("saving");
    must_refuse(&mut *index, &oracle, &queries, &path, "an empty index of another dimension");
    for foreign in [&b""[..], b"\0", b"no index at all, only some text that is long enough", &[0xFF; 4096]] {
        std::fs::write(&path, foreign).expect("writing");
        must_refuse(&mut *index, &oracle, &queries, &path, "a foreign file");
    }
}

pub(super) fn damaged_files(make: Make<'_>) {
    let folder = folder();
    let path = folder.path().join("index");
    let (mut index, oracle, queries) = filled(make, 9, 8);
    filled(make, 4, 8).0.save(&path, &label()).expect("saving");
    let good = std::fs::read(&path).expect("the file");
    let mut refuse = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).expect("writing");
        must_refuse(&mut *index, &oracle, &queries, &path, what);
    };
    // All places where the files of this size allow it, else a spread with both ends.
    let step = (good.len() / 500).max(1);
    let places = || (0..good.len()).filter(|at| at % step == 0 || *at < 64 || *at + 64 > good.len());
    for length in places() {
        refuse(&good[..length], &format!("a file cut to {length} of {} bytes", good.len()));
    }
    for at in places() {
        for bit in [0, 3, 7] {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            refuse(&bytes, &format!("a file with bit {bit} of byte {at} flipped"));
        }
    }
    for tail in [&[0][..], &[0; 8], &good] {
        refuse(&[&good, tail].concat(), "a file with trailing bytes");
    }
    std::fs::write(&path, &good).expect("writing");
    index.load(&path).expect("the file as it was is good");
    assert_eq!(index.len(), 4);
}
