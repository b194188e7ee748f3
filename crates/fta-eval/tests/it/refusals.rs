//! What a run refuses, and how it says so.

use std::fs;

use crate::support::{Bench, good, program, records, refused};

#[test]
fn experiments_arms_and_metrics_that_are_not_there() {
    let bench = Bench::new(1, 2);
    let said = refused(&mut bench.run("mian", "run"));
    assert!(said.contains("`mian`") && said.contains("`main`"), "{said}");
    let said = refused(bench.run("main", "run").args(["--arms", "ours"]));
    assert!(said.contains("no arm `ours`") && said.contains("fta-offline"), "{said}");
    let said = refused(bench.run("main", "run").args(["--metrics", "f1"]));
    assert!(said.contains("`f1` is no metric"), "{said}");
    let said = refused(bench.run("main", "run").args(["--conversations", "other"]));
    assert!(said.contains("no conversation `other`") && said.contains("`made-0`"), "{said}");
    let settings = bench.path("wrong.toml");
    fs::write(&settings, "title = \"W\"\nasks = \"?\"\nmetrics = [\"bleu1\"]\n[[arms]]\nname = \"a\"\nsystem = \"fta\"\nsettings = { retrieval = { kk = 3 } }\n").unwrap();
    let said = refused(&mut bench.run(settings.to_str().unwrap(), "run"));
    assert!(said.contains("arm `a`") && said.contains("`kk`"), "{said}");
    assert!(!bench.path("run").exists(), "nothing is made before all is checked");
}

#[test]
fn data_of_the_wrong_shape() {
    let bench = Bench::new(1, 2);
    let with = |text: &str| {
        fs::write(bench.path("data.json"), text).unwrap();
        refused(&mut bench.run("main", "run"))
    };
    let said = with("{\"rows\": []}");
    assert!(said.contains("data.json") && said.contains("`rows`") && said.contains("LoCoMo"), "{said}");
    let said = with("[{\"conversation\": {\"speaker_a\": \"A\", \"session_1\": 7}, \"qa\": []}]");
    assert!(said.contains("record 0") && said.contains("session_1"), "{said}");
    let said = with("[{\"conversation\": ");
    assert!(said.contains("not JSON") && said.contains("line 1"), "{said}");
    let no_questions = "[{\"sample_id\": \"x\", \"conversation\": {\"speaker_a\": \"A\", \"speaker_b\": \"B\", \
                        \"session_1_date_time\": \"1:00 pm on 1 May, 2021\", \"session_1\": [{\"speaker\": \"A\", \
                        \"dia_id\": \"D1:1\", \"text\": \"I bought a boat.\"}]}, \"qa\": []}]";
    let said = with(no_questions);
    assert!(said.contains("questions"), "{said}");
    fs::remove_file(bench.path("data.json")).unwrap();
    let said = refused(&mut bench.run("main", "run"));
    assert!(said.contains("data.json") && said.contains("cannot be read"), "{said}");
}

#[test]
fn a_missing_model() {
    let bench = Bench::new(1, 2);
    let said = refused(bench.run("main", "run").arg("--model-dir").arg(bench.path("no-model")));
    assert!(said.contains("no-model") && said.contains("embedding model"), "{said}");
    let profile = bench.path("fta.toml");
    fs::write(&profile, "profile = \"local\"\n[local]\nmodel = \"nowhere.gguf\"\n").unwrap();
    let said = refused(bench.run("main", "run").arg("--profile").arg(&profile));
    assert!(said.contains("nowhere.gguf"), "{said}");
    fs::write(&profile, "[retrieval]\nk = 3\n").unwrap();
    let said = refused(bench.run("main", "run").arg("--profile").arg(&profile));
    assert!(said.contains("names no model"), "{said}");
    let said = refused(bench.run("main", "run").arg("--bert").arg(bench.path("no-bert")));
    assert!(said.contains("no-bert"), "{said}");
}

#[test]
fn directories_of_something_else() {
    let bench = Bench::new(2, 4);
    let experiment = bench.experiment();
    fs::create_dir(bench.path("photos")).unwrap();
    fs::write(bench.path("photos").join("cat.jpg"), "miaow").unwrap();
    let said = refused(&mut bench.run(&experiment, "photos"));
    assert!(said.contains("photos") && said.contains("--out"), "{said}");
    let said = refused(bench.run(&experiment, "photos").arg("--restart"));
    assert!(said.contains("no directory of a run"), "{said}");
    assert_eq!(fs::read_to_string(bench.path("photos").join("cat.jpg")).unwrap(), "miaow");

    good(&mut bench.run(&experiment, "run"));
    let before = records(&bench.path("run"));
    let said = refused(bench.run(&experiment, "run").args(["--seed", "7"]));
    assert!(said.contains("`seed`: 0 there, 7 here") && said.contains("--restart"), "{said}");
    fs::write(
        bench.path("data.json"),
        fs::read_to_string(bench.path("data.json")).unwrap().replace("Porto", "Faro"),
    )
    .unwrap();
    let said = refused(&mut bench.run(&experiment, "run"));
    assert!(said.contains("`data_sha256`"), "{said}");
    assert_eq!(records(&bench.path("run")), before);
    good(bench.run(&experiment, "run").arg("--restart"));
    assert_ne!(records(&bench.path("run")), before);

    fs::write(bench.path("run").join("questions.jsonl"), "{}\n").unwrap();
    let said = refused(program().arg("report").arg(bench.path("run")));
    assert!(said.contains("questions.jsonl") && said.contains("line 1"), "{said}");
    let said = refused(program().arg("report").arg(bench.path("photos")));
    assert!(said.contains("manifest.json"), "{said}");
}

#[test]
fn two_runs_in_one_directory() {
    let bench = Bench::new(2, 60);
    let experiment = bench.experiment();
    let mut first = bench.run(&experiment, "run").stdout(std::process::Stdio::null()).spawn().unwrap();
    while !bench.path("run").join("manifest.json").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it must still run");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let said = refused(&mut bench.run(&experiment, "run"));
    assert!(said.contains("another run is writing into"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    // A killed run leaves no lock behind.
    good(bench.run(&experiment, "run").args(["--arms", "bm25", "--restart"]));
}

/// A full disk, as nearly as a test can have it: the system refuses to make files longer.
#[cfg(unix)]
#[test]
fn a_full_disk() {
    use std::process::Command;

    let bench = Bench::new(2, 20);
    let experiment = bench.experiment();
    good(&mut bench.run(&experiment, "whole"));
    // `ulimit -f` counts 512 bytes; the signal must be ignored for the write to return an error.
    let mut full = Command::new("sh");
    full.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$@\"", "sh"]);
    let run = bench.run(&experiment, "full");
    full.arg(run.get_program()).args(run.get_args());
    let said = refused(&mut full);
    assert!(said.contains("cannot be written") && said.contains("goes on where it stopped"), "{said}");
    // With room, it does.
    good(&mut bench.run(&experiment, "full"));
    assert_eq!(records(&bench.path("full")), records(&bench.path("whole")));
}
