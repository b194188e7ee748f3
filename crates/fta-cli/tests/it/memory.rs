//! A memory from file to answer and back to nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{fta, fta_with_input};

pub(crate) const CHAT: &str = r#"[
  {"id": "s1", "timestamp": "2024-03-04T18:30", "messages": [
    {"role": "seeker", "name": "Ines", "content": "I started as a night nurse at the Marienhof clinic two weeks ago."},
    {"role": "supporter", "name": "Robin", "content": "How do you sleep?"},
    {"role": "seeker", "name": "Ines", "content": "Badly. I feel exhausted."}]},
  {"id": "s2", "timestamp": "2024-03-18T18:30", "messages": [
    {"role": "seeker", "name": "Ines", "content": "My sister Greta called yesterday. She invited me to her wedding in June."},
    {"role": "supporter", "name": "Robin", "content": "How did that feel?"},
    {"role": "seeker", "name": "Ines", "content": "I was so relieved."}]}
]"#;

struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> String {
        std::fs::write(self.path(name), content).expect("the directory is writable");
        self.path(name).to_str().expect("paths of tests are UTF-8").to_owned()
    }

    fn data(&self) -> PathBuf {
        self.path("memory")
    }

    /// A memory of one user.
    fn filled() -> Self {
        let files = Self::new();
        let chat = files.write("ines.json", CHAT);
        let ran = fta(&files.data(), &["ingest", &chat]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        files
    }
}

fn units(data: &Path) -> Vec<Value> {
    fta(data, &["list", "--json"]).json()["units"].as_array().expect("a list").clone()
}

fn id_with(data: &Path, words: &str) -> String {
    let units = units(data);
    let unit = units
        .iter()
        .find(|u| u["claim"].as_str().expect("a text").contains(words))
        .expect("a unit holds the words");
    unit["id"].as_str().expect("a text").to_owned()
}

#[test]
fn a_second_ingest_changes_nothing() {
    let files = Files::new();
    let chat = files.write("ines.json", CHAT);
    let first = fta(&files.data(), &["ingest", &chat]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(
        first.out.contains("chat, 2 sessions, 6 turns") && first.out.contains("sessions 2 added"),
        "{}",
        first.out
    );
    let before = fta(&files.data(), &["export"]).out;
    let second = fta(&files.data(), &["ingest", "--json", &chat]).json();
    let sessions = second["files"][0]["cases"][0]["sessions"].as_array().unwrap();
    assert!(sessions.iter().all(|s| s["outcome"] == "unchanged"), "{second}");
    assert_eq!(fta(&files.data(), &["export"]).out, before);
}

#[test]
fn an_answer_cites_its_turn() {
    let files = Files::filled();
    let ran = fta(&files.data(), &["ask", "When", "did", "Greta", "call?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("17 March 2024\n"), "{}", ran.out);
    assert!(ran.out.contains("Ines, Mon 18 Mar 2024, 18:30, turn s2:1"), "{}", ran.out);
    let json = fta(&files.data(), &["ask", "--json", "--show-packet", "When did Greta call?"]).json();
    assert_eq!((&json["command"], &json["abstained"]), (&"ask".into(), &false.into()));
    assert_eq!(json["evidence"][0]["id"], "s2:1");
    assert_eq!(json["time"]["first"], "2024-03-17");
    assert!(json["packet"].as_str().unwrap().contains("Greta"));
}

#[test]
fn questions_may_come_from_standard_input() {
    let files = Files::filled();
    let input = "When did Greta call?\n\n/show 999\n/show u1\n/frob\n/quit\nnever read\n";
    let ran = fta_with_input(&files.data(), &["chat"], input);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains("17 March 2024") && ran.out.contains("Evidence, from session s1"),
        "{}",
        ran.out
    );
    assert!(
        ran.err.contains("there is no unit `u999`") && ran.err.contains("`/frob` is not known"),
        "{}",
        ran.err
    );
}

#[test]
fn units_and_sessions_can_be_seen() {
    let files = Files::filled();
    let data = files.data();
    let id = id_with(&data, "Greta called");
    let shown = fta(&data, &["show", &id]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    for part in [
        "said       Mon 18 Mar 2024, 18:30",
        "Sun 17 Mar 2024 (\"yesterday\")",
        "«My sister Greta called yesterday.",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert!(!shown.out.contains('\u{1b}'), "colours without a terminal");
    assert!(fta(&data, &["show", &id, "--color", "always"]).out.contains('\u{1b}'));
    let session = fta(&data, &["show", "--session", "s2", "--json"]).json();
    assert_eq!(session["turns"].as_array().unwrap().len(), 3);
    assert_eq!(fta(&data, &["show", "--session", "s9"]).code, Some(2));
    assert_eq!(fta(&data, &["list", "--person", "Nobody"]).code, Some(1));
    assert_eq!(
        fta(&data, &["stats", "--json"]).json()["covered_turns"],
        fta(&data, &["stats", "--json"]).json()["content_turns"]
    );
    assert!(fta(&data, &["search", "wedding"]).out.contains("wedding in June"));
    assert_eq!(fta(&data, &["users"]).out, "ines\n");
}

#[test]
fn a_correction_stays_and_is_shown() {
    let files = Files::filled();
    let data = files.data();
    let id = id_with(&data, "Greta called");
    let ran = fta(
        &data,
        &["correct", &id, "--claim", "Ines's sister Greta phoned.", "--event-time", "two days ago"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let unit = units(&data).into_iter().find(|u| u["id"] == id.as_str()).unwrap();
    assert_eq!(unit["claim"], "Ines's sister Greta phoned.");
    assert_eq!(unit["event_time"]["first"], "2024-03-16");
    assert!(unit["corrected_at"].is_string());
}

#[test]
fn deletion_asks_and_is_for_good() {
    let files = Files::filled();
    let data = files.data();
    let refused = fta(&data, &["delete", "--session", "s1"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    assert!(fta(&data, &["export"]).out.contains("Marienhof"));
    assert_eq!(fta(&data, &["delete", "--session", "s9", "--yes"]).code, Some(2));
    let deleted = fta(&data, &["delete", "--session", "s1", "--yes", "--json"]).json();
    assert_eq!(deleted["sessions"], 1);
    assert!(!fta(&data, &["export"]).out.contains("Marienhof"));
    assert_eq!(fta(&data, &["delete", "--all", "--yes"]).code, Some(0));
    assert_eq!(fta(&data, &["users"]).code, Some(1));
}

#[test]
fn an_export_can_be_imported_elsewhere() {
    let files = Files::filled();
    let exported = files.path("ines.jsonl");
    let ran = fta(&files.data(), &["export", "-o", exported.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let other = files.path("other");
    let nameless = fta(&other, &["import", exported.to_str().unwrap()]);
    assert_eq!(nameless.code, Some(2));
    assert!(nameless.err.contains("--user NAME") && !other.exists(), "{}", nameless.err);
    let ran = fta(&other, &["import", exported.to_str().unwrap(), "--user", "ines"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(fta(&other, &["export"]).out, fta(&files.data(), &["export"]).out);
    let broken = fta_with_input(&other, &["import", "-"], "no json");
    assert_eq!(broken.code, Some(2));
    assert!(broken.err.contains("line `1`"), "{}", broken.err);
}

#[test]
fn one_of_several_users_must_be_named() {
    let files = Files::filled();
    let data = files.data();
    let chat = files.write("bees.json", r#"[{"role": "user", "content": "I keep bees on the roof."}]"#);
    assert_eq!(fta(&data, &["ingest", &chat, "--user", "otto"]).code, Some(0));
    let ran = fta(&data, &["list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`ines`, `otto`"), "{}", ran.err);
    let otto = fta(&data, &["list", "--user", "otto"]);
    assert!(otto.out.contains("bees") && !otto.out.contains("Marienhof"), "{}", otto.out);
}
