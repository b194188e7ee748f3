//! What needs no memory.

use std::{io::Read as _, path::Path};

use crate::{command, fta};

const NOWHERE: &str = "there/is/no/such/directory";

#[test]
fn help_documents_the_exit_codes() {
    let ran = fta(Path::new(NOWHERE), &["--help"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in ["0  done", "1  ran, but the answer is negative", "2  error", "schema_version"] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn wrong_usage_is_an_error_on_standard_error() {
    for arguments in [
        &["ask"][..],
        &["frobnicate"],
        &["show"],
        &["show", "x1"],
        &["show", "u1", "--session", "s1"],
        &["correct", "u1"],
        &["delete"],
        &["delete", "--all", "--session", "s1"],
        &["list", "--situation", "nonsense"],
        &["ask", "--asked-on", "yesterday", "why"],
        &["ingest", "--format", "csv", "a"],
    ] {
        let ran = fta(Path::new(NOWHERE), arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.err.starts_with("error: "), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn reading_a_memory_that_is_not_there_makes_none() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("memory");
    for arguments in
        [&["stats"][..], &["users"], &["list"], &["ask", "why"], &["export"], &["delete", "--all", "--yes"]]
    {
        let ran = fta(&data, arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            ran.err.contains("there is no memory in") && ran.err.contains("fta ingest FILE"),
            "{}",
            ran.err
        );
        assert!(!data.exists(), "{arguments:?}");
    }
}

#[test]
fn a_wrong_file_is_told_before_anything_is_stored() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("memory");
    let good = directory.path().join("good.json");
    std::fs::write(&good, r#"[{"role": "user", "content": "I keep bees."}]"#).unwrap();
    for (name, content, expected) in [
        ("empty.json", "", "is empty"),
        ("text.json", "hello", "not JSON"),
        ("other.json", "[{\"a\": 1}]", "is no dialogue"),
    ] {
        let bad = directory.path().join(name);
        std::fs::write(&bad, content).unwrap();
        let ran = fta(&data, &["ingest", good.to_str().unwrap(), bad.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{name}");
        assert!(ran.err.contains(expected) && ran.err.contains(name), "{name}: {}", ran.err);
        assert!(!data.exists(), "{name}");
    }
}

#[test]
fn a_model_directory_without_the_model_is_an_error_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().to_str().unwrap();
    let ran = fta(directory.path(), &["setup", "--model-dir", empty]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("try: `fta setup`"), "{}", ran.err);
}

#[test]
fn completions_and_manual_name_every_command() {
    for arguments in
        [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"], &["man"]]
    {
        let ran = fta(Path::new(NOWHERE), arguments);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        for name in ["ingest", "ask", "correct", "delete", "profile"] {
            assert!(ran.out.to_lowercase().contains(name), "{arguments:?} lacks {name}");
        }
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = command(Path::new(NOWHERE)).args(["completions", "zsh"]).spawn().unwrap();
    // Nobody reads: the pipe is closed before the script fits into it.
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}
