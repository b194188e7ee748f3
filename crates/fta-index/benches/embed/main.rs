//! How fast texts are embedded, beside other programs that run the same model, and what precision costs.
//!
//! `cargo bench -p fta-index --features candle --bench embed -- --data FILE [--peers PYTHON --onnx FOLDER]`
//!
//! `FILE` is a data set in the form of LoCoMo. All programs embed the same turns, tokenising included, in rounds that
//! take turns, so that what else runs on the machine strikes all alike; ratios of one run are what counts.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for the terminal")]

mod data;
mod ours;
mod peers;
mod report;

use std::path::PathBuf;

use data::Data;
use peers::Peers;
use report::Report;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What was measured of one program in one round.
#[derive(Debug, Clone, Copy)]
struct Throughput {
    /// User and system time of all threads, where the system tells.
    cpu_seconds: Option<f64>,
    wall_seconds: f64,
}

/// Milliseconds for one short text, alone.
#[derive(Debug, Clone, Copy)]
struct Latency {
    p50: f64,
    p99: f64,
}

/// A program that embeds.
trait Contender {
    fn name(&self) -> &str;
    /// Embeds all turns on a number of threads.
    fn throughput(&mut self, threads: usize) -> Result<Throughput>;
    /// Embeds questions one by one, on one thread.
    fn latency(&mut self) -> Result<Latency>;
}

#[derive(Debug)]
struct Options {
    data: PathBuf,
    turns: usize,
    rounds: usize,
    threads: Vec<usize>,
    model: Option<PathBuf>,
    peers: Option<PathBuf>,
    onnx: PathBuf,
    json: Option<PathBuf>,
    recall: bool,
    only: Option<String>,
}

fn main() -> Result<()> {
    let options = options()?;
    let data = Data::read(&options.data, options.turns)?;
    let files = ours::files(options.model.clone())?;
    let mut contenders = ours::all(&files, &data)?;
    let wanted = |name: &str| {
        options.only.as_ref().is_none_or(|only| only.split(',').any(|part| name.contains(part.trim())))
    };
    contenders.retain(|ours| wanted(ours.name()));
    if options.recall {
        let rows: Vec<_> = contenders.iter().map(|ours| ours.recall(&data)).collect::<Result<_>>()?;
        report::print_recall(&rows);
        if let Some(path) = &options.json {
            report::write_recall(path, &data, &rows)?;
        }
        return Ok(());
    }
    let peers = options
        .peers
        .as_ref()
        .map(|python| Peers::start(python, &files.directory, &options.onnx, &data))
        .transpose()?;
    let mut all: Vec<Box<dyn Contender + '_>> = Vec::new();
    all.extend(contenders.drain(..).map(|ours| Box::new(ours) as Box<dyn Contender>));
    if let Some(peers) = &peers {
        all.extend(peers.contenders().into_iter().map(|peer| Box::new(peer) as Box<dyn Contender>));
    }
    all.retain(|contender| wanted(contender.name()));
    let mut report = Report::new(&data, options.rounds);
    for round in 0..options.rounds {
        for &threads in &options.threads {
            for contender in &mut all {
                let found = contender.throughput(threads)?;
                eprintln!(
                    "round {round}, {threads} threads, {}: {:.2} s",
                    contender.name(),
                    found.wall_seconds
                );
                report.add_throughput(contender.name(), threads, found);
            }
        }
        for contender in &mut all {
            let found = contender.latency()?;
            report.add_latency(contender.name(), found);
        }
    }
    report.print();
    if let Some(path) = &options.json {
        report.write(path)?;
    }
    Ok(())
}

fn options() -> Result<Options> {
    let mut options = Options {
        data: PathBuf::new(),
        turns: 3000,
        rounds: 5,
        threads: vec![1, 2],
        model: None,
        peers: None,
        onnx: std::env::temp_dir().join("fta-onnx"),
        json: None,
        recall: false,
        only: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--data" => options.data = value()?.into(),
            "--turns" => options.turns = value()?.parse()?,
            "--rounds" => options.rounds = value()?.parse()?,
            "--threads" => {
                options.threads =
                    value()?.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
            }
            "--model" => options.model = Some(value()?.into()),
            "--peers" => options.peers = Some(value()?.into()),
            "--onnx" => options.onnx = value()?.into(),
            "--json" => options.json = Some(value()?.into()),
            "--only" => options.only = Some(value()?),
            "--recall" => options.recall = true,
            // Cargo adds this.
            "--bench" => {}
            _ => {
                return Err(
                    format!("`{argument}` is not known; see the head of benches/embed/main.rs").into()
                );
            }
        }
    }
    if options.data.as_os_str().is_empty() {
        return Err("name a data set with `--data FILE`".into());
    }
    Ok(options)
}
