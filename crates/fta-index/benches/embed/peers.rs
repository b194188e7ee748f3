//! Other programs, in a process of their own that takes commands: one line of JSON each way.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::data::Data;
use crate::{Contender, Latency, Result, Throughput};

pub(crate) struct Peers {
    names: Vec<String>,
    connection: RefCell<Connection>,
}

struct Connection {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It ends by itself at the end of its input; this is for one that hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection {
    fn ask(&mut self, question: &Value) -> Result<Value> {
        writeln!(self.input, "{question}")?;
        self.input.flush()?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the program of the peers ended; its message is above".into());
        }
        let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("a peer failed: {error}").into()),
            None => Ok(answer),
        }
    }
}

impl Peers {
    /// Starts the program; it says which peers are installed.
    pub(crate) fn start(python: &Path, model: &Path, onnx: &Path, data: &Data) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/embed_peers.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{}`: {error}", python.display()))?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let mut connection = Connection { child, input, output };
        let answer = connection.ask(&json!({
            "command": "load", "model": model, "onnx": onnx, "turns": data.turns, "queries": data.queries,
        }))?;
        let names = answer["peers"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let names = names.map(str::to_owned).collect();
        Ok(Self { names, connection: RefCell::new(connection) })
    }

    pub(crate) fn contenders(&self) -> Vec<Peer<'_>> {
        self.names.iter().map(|name| Peer { name, connection: &self.connection }).collect()
    }
}

pub(crate) struct Peer<'a> {
    name: &'a str,
    connection: &'a RefCell<Connection>,
}

impl Contender for Peer<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn throughput(&mut self, threads: usize) -> Result<Throughput> {
        let question = json!({"command": "throughput", "peer": self.name, "threads": threads});
        let answer = self.connection.borrow_mut().ask(&question)?;
        let wall_seconds = answer["wall_seconds"].as_f64().ok_or("no time in the answer")?;
        Ok(Throughput { cpu_seconds: answer["cpu_seconds"].as_f64(), wall_seconds })
    }

    fn latency(&mut self) -> Result<Latency> {
        let answer = self.connection.borrow_mut().ask(&json!({"command": "latency", "peer": self.name}))?;
        let at = |name: &str| answer[name].as_f64().ok_or("no time in the answer");
        Ok(Latency { p50: at("p50")?, p99: at("p99")? })
    }
}
