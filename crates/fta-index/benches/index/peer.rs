//! The process that measures other libraries, `benches/peers/index/peer.py`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::{
    contenders::{Run, Search},
    data::DIM,
};

pub(crate) struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it with a Python that has what `requirements.txt` names.
    pub(crate) fn start(python: &Path) -> Result<Self> {
        let script: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "benches", "peers", "index", "peer.py"].iter().collect();
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` cannot be run", python.display()))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, stdin, stdout })
    }

    fn ask(&mut self, command: &Value) -> Result<Value> {
        writeln!(self.stdin, "{command}")?;
        self.stdin.flush()?;
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            bail!("the peer ended: {}", self.child.wait()?);
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Hands it the vectors.
    pub(crate) fn data(&mut self, folder: &Path, base: &[f32], queries: &[f32]) -> Result<()> {
        let write = |name: &str, values: &[f32]| -> Result<PathBuf> {
            let path = folder.join(name);
            let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            std::fs::write(&path, bytes)?;
            Ok(path)
        };
        let (base, queries) = (write("base", base)?, write("queries", queries)?);
        self.ask(&json!({"do": "data", "base": base, "queries": queries, "dim": DIM})).map(drop)
    }

    /// Builds an index on one thread; gives seconds by the clock and on processors, and the version of the library.
    pub(crate) fn build(&mut self, name: &str) -> Result<([f64; 2], String)> {
        let reply = self.ask(&json!({"do": "build", "name": name, "threads": 1}))?;
        let seconds = reply["seconds"].as_f64().context("no seconds")?;
        let processor = reply["processor"].as_f64().context("no time on processors")?;
        Ok(([seconds, processor], reply["version"].as_str().unwrap_or_default().to_owned()))
    }

    pub(crate) fn search(&mut self, name: &str, search: &Search<'_>) -> Result<Run> {
        let reply = self.ask(&json!({
            "do": "search", "name": name, "first": search.first, "count": search.count, "batch": search.batch,
            "threads": search.threads,
        }))?;
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        let ids = reply["labels"].as_array().into_iter().flatten();
        let ids = ids.map(|row| numbers(row).into_iter().map(|id| id as u64).collect()).collect();
        Ok(Run { seconds: numbers(&reply["seconds"]), processor: numbers(&reply["processor"]), ids })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends when its input does; if not, it is of no more use.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
