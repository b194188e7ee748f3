//! Runs to their end, interrupted and not.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::support::{Bench, good, program, records, refused};

#[test]
fn a_run_is_byte_for_byte_the_same_twice_and_with_other_jobs() {
    let bench = Bench::new(3, 9);
    let experiment = bench.experiment();
    good(bench.run(&experiment, "once").args(["--jobs", "1"]));
    good(bench.run(&experiment, "twice").args(["--jobs", "3"]));
    let once = records(&bench.path("once"));
    assert_eq!(once, records(&bench.path("twice")));
    assert_eq!(once[0].split(|&b| b == b'\n').filter(|line| !line.is_empty()).count(), 3 * 3 * 9);
    assert!(!bench.path("once").join("journal").exists());
    for file in ["manifest.json", "timings.jsonl", "summary.json", "report.md", "report.html"] {
        assert!(bench.path("once").join(file).is_file(), "{file}");
    }
}

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let bench = Bench::new(2, 24);
    let experiment = bench.experiment();
    good(bench.run(&experiment, "whole").args(["--jobs", "1"]));
    let killed = bench.path("killed");
    let mut kills = 0;
    // Each start gets a little further before it is killed.
    for wanted in [3, 25, 55, 85, 115] {
        let mut command = bench.run(&experiment, "killed");
        let mut child = command.args(["--jobs", "1"]).stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while journalled(&killed) < wanted && child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_mins(5), "the run does not get on");
            std::thread::sleep(Duration::from_millis(2));
        }
        let before = journalled(&killed);
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(killed.join("questions.jsonl").exists() || journalled(&killed) >= before);
    }
    assert!(kills >= 3, "killed {kills} times only");
    let unfinished = refused(program().arg("report").arg(&killed));
    assert!(unfinished.contains("is not at its end"), "{unfinished}");
    // Half a line, as a kill in the middle of a write leaves it.
    let journal = journals(&killed).into_iter().next().expect("something was done");
    let mut torn = fs::read(&journal).unwrap();
    torn.truncate(torn.len() - 20);
    fs::write(&journal, torn).unwrap();
    good(bench.run(&experiment, "killed").args(["--jobs", "2"]));
    assert_eq!(records(&killed), records(&bench.path("whole")));
}

#[test]
fn a_finished_run_is_reported_anew_and_not_run_again() {
    let bench = Bench::new(2, 6);
    let experiment = bench.experiment();
    good(&mut bench.run(&experiment, "run"));
    let run = bench.path("run");
    let (before, report) = (records(&run), fs::read(run.join("report.md")).unwrap());
    fs::remove_file(run.join("report.md")).unwrap();
    good(program().arg("report").arg(&run));
    assert_eq!(fs::read(run.join("report.md")).unwrap(), report);
    let again = good(&mut bench.run(&experiment, "run"));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is at its end already"));
    assert_eq!(records(&run), before);
}

#[test]
fn two_runs_are_compared() {
    let bench = Bench::new(3, 8);
    let experiment = bench.experiment();
    good(&mut bench.run(&experiment, "first"));
    good(bench.run(&experiment, "second").args(["--questions", "6"]));
    let page = bench.path("compared.html");
    let mut command = program();
    command.arg("compare").args([bench.path("first"), bench.path("second")]).arg("--html").arg(&page);
    let same = String::from_utf8(good(&mut command).stdout).unwrap();
    assert!(same.contains("set_f1_simple") && fs::read_to_string(&page).unwrap().starts_with("<!"), "{same}");
    let mut command = program();
    command.arg("compare").args([bench.path("first"), bench.path("first")]).args(["--arms", "question=fta"]);
    let said = refused(&mut command);
    assert!(said.contains("question"), "{said}");
    let mut command = program();
    command.arg("compare").args([bench.path("first"), bench.path("first")]).args(["--arms", "bm25=fta"]);
    let other = String::from_utf8(good(&mut command).stdout).unwrap();
    assert!(other.contains("bm25") && other.contains("fta"), "{other}");
}

#[test]
fn every_experiment_runs_to_its_end() {
    let bench = Bench::new(3, 4);
    for (experiment, _) in fta_eval::run::EXPERIMENTS {
        let output = good(&mut bench.run_with_cache(experiment, experiment));
        let tables = String::from_utf8(output.stdout).unwrap();
        assert!(tables.contains('|'), "{experiment}: {tables}");
    }
    let sheet = fs::read_to_string(bench.path("audit").join("audit.csv")).unwrap();
    assert!(sheet.starts_with("id,conversation,unit,claim,") && sheet.lines().count() > 20, "{sheet}");
    let summary = fs::read_to_string(bench.path("granularity").join("summary.json")).unwrap();
    assert!(summary.contains("\"extract\""), "calls of the stand-in are counted by step");
}

#[test]
fn filled_sheets_give_their_agreement() {
    let bench = Bench::new(2, 4);
    good(&mut bench.run("audit", "audit"));
    let sheet = fs::read_to_string(bench.path("audit").join("audit.csv")).unwrap();
    let filled = |name: &str, judge: &dyn Fn(usize) -> &'static str| {
        let mut reader = csv::Reader::from_reader(sheet.as_bytes());
        let mut writer = csv::Writer::from_path(bench.path(name)).unwrap();
        writer.write_record(reader.headers().unwrap()).unwrap();
        for (row, record) in reader.records().enumerate() {
            let mut cells: Vec<String> = record.unwrap().iter().map(str::to_owned).collect();
            let last = cells.len();
            judge(row).clone_into(&mut cells[last - 5]);
            writer.write_record(&cells).unwrap();
        }
        writer.flush().unwrap();
        bench.path(name)
    };
    let first = filled("first.csv", &|row| ["0", "1", "2"][row % 3]);
    let second = filled("second.csv", &|row| ["0", "1", "2", "2"][row % 4]);
    let output = good(program().arg("agreement").arg(&first).arg(&second));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("| fact") && !table.contains("| affect"), "{table}");
    let same = good(program().arg("agreement").arg(&first).arg(&first));
    assert!(String::from_utf8(same.stdout).unwrap().contains("1.000"));
    let bad = filled("bad.csv", &|_| "good");
    let said = refused(program().arg("agreement").arg(&first).arg(&bad));
    assert!(said.contains("bad.csv") && said.contains("`judged_fact`") && said.contains("`good`"), "{said}");
}

fn journals(run: &Path) -> Vec<std::path::PathBuf> {
    let Ok(arms) = fs::read_dir(run.join("journal")) else { return Vec::new() };
    let files = arms.flatten().flat_map(|arm| fs::read_dir(arm.path()).into_iter().flatten().flatten());
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    files
}

/// Lines in all journals of a run.
fn journalled(run: &Path) -> usize {
    let lines = |path: std::path::PathBuf| fs::read_to_string(path).unwrap_or_default().matches('\n').count();
    journals(run).into_iter().map(lines).sum()
}
