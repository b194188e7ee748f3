//! SIGKILL at random moments of an ingest: whole sessions or nothing, and a second ingest ends where one would have.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use fta_mem::segment::Session;

use crate::support::{export, in_memory, open, session, user};

const DIRECTORY: &str = "FTA_TEST_CRASH_DIRECTORY";
const KILLS: usize = 20;

/// A conversation of many short sessions, so that a kill can fall anywhere.
fn conversation() -> Vec<Session> {
    (0..30)
        .map(|i| {
            let date = jiff::civil::date(2024, 1, 1) + jiff::Span::new().days(3 * i);
            let first =
                format!("I went to the choir number {i} last Friday and sang alone for the first time.");
            let second = format!("My neighbour {i} complained about the noise again, and I felt ashamed.");
            let texts = [
                first.as_str(),
                "How did it go?",
                second.as_str(),
                "What will you do?",
                "I am going to write a letter tomorrow.",
                "Good idea.",
            ];
            session(&format!("s{i}"), &date.to_string(), &texts)
        })
        .collect()
}

/// The process that is killed: this test binary again, which ingests when the variable is set.
#[tokio::test(flavor = "multi_thread")]
async fn worker() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let memory = open(Path::new(&directory));
    let ines = user(&memory, "ines");
    for s in &conversation() {
        ines.ingest(s).await.unwrap();
    }
}

fn start_worker(directory: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", "crash::worker", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program can be started again")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_ingest_leaves_whole_sessions_and_can_go_on() {
    let undisturbed = user(&in_memory(), "ines");
    for s in &conversation() {
        undisturbed.ingest(s).await.unwrap();
    }
    let expected = export(&undisturbed);
    // Kills are spread over the time that a whole run takes on this machine.
    let whole_run = {
        let directory = tempfile::tempdir().unwrap();
        let start = Instant::now();
        assert!(start_worker(directory.path()).wait().unwrap().success());
        let elapsed = start.elapsed();
        assert!(export(&user(&open(directory.path()), "ines")) == expected, "the worker made another memory");
        elapsed
    };
    let mut interrupted = 0;
    let mut seed = 0x9e37_79b9_u32;
    for _ in 0..KILLS {
        let directory = tempfile::tempdir().unwrap();
        let mut child = start_worker(directory.path());
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(whole_run.mul_f32((seed >> 8) as f32 / 0x0100_0000_u32 as f32));
        child.kill().unwrap();
        child.wait().unwrap();

        let memory = open(directory.path());
        let ines = user(&memory, "ines");
        let there = ines.sessions();
        for (stored, whole) in there.iter().zip(conversation()) {
            assert_eq!(stored.session, whole, "a session is not whole");
        }
        interrupted += usize::from(!there.is_empty() && there.len() < conversation().len());
        for s in &conversation() {
            ines.ingest(s).await.unwrap();
        }
        let recovered = export(&ines);
        assert!(recovered == expected, "a memory after {} sessions and a kill is another one", there.len());
    }
    assert!(interrupted > 0, "no kill fell into an ingest; the moments must be chosen anew");
}
