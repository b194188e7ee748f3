//! The contract of `fta` with people and scripts: exit codes, what goes to which stream, the shape of the JSON.
//!
//! Needs the embedding model in the cache: `cargo xtask setup` fetches it, `cargo xtask test` runs that first.

mod backends;
mod memory;
mod model;
mod usage;

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

/// What a run gave.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// Standard output as JSON.
    #[track_caller]
    fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err));
        assert_eq!(value["schema_version"], 1);
        value
    }
}

/// Runs `fta` on a data directory, without the network and whatever the environment says.
fn fta(data: &Path, arguments: &[&str]) -> Ran {
    fta_with_input(data, arguments, "")
}

fn fta_with_input(data: &Path, arguments: &[&str], input: &str) -> Ran {
    use std::io::Write as _;

    let mut child = command(data).args(arguments).stdin(Stdio::piped()).spawn().expect("fta is built");
    // A command that reads nothing may be gone already.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("fta ends");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("data is UTF-8"),
        err: String::from_utf8(output.stderr).expect("remarks are UTF-8"),
    }
}

fn command(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fta"));
    let settings = [
        "USER",
        "OFFLINE",
        "CONFIG",
        "EMBEDDER",
        "INDEX",
        "PROFILE",
        "LLM_URL",
        "LLM_MODEL",
        "LLM_KEY",
        "LOCAL_MODEL",
        "STEPS",
    ];
    for setting in settings {
        command.env_remove(format!("FTA_{setting}"));
    }
    command.env("FTA_DATA", data).arg("--offline");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
