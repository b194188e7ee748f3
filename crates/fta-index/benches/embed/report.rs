//! Medians over rounds, ratios to the first peer, as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::data::Data;
use crate::ours::{DEPTHS, Recall};
use crate::{Latency, Result, Throughput};

/// What ratios are to: the same arithmetic, in the program that most people use.
const REFERENCES: [(&str, &str); 2] = [("f32", "onnxruntime f32"), ("int8", "onnxruntime int8")];

pub(crate) struct Report {
    data: String,
    turns: usize,
    queries: usize,
    rounds: usize,
    throughput: Vec<(String, usize, Throughput)>,
    latency: Vec<(String, Latency)>,
}

impl Report {
    pub(crate) fn new(data: &Data, rounds: usize) -> Self {
        Self {
            data: data.name.clone(),
            turns: data.turns.len(),
            queries: data.queries.len(),
            rounds,
            throughput: Vec::new(),
            latency: Vec::new(),
        }
    }

    pub(crate) fn add_throughput(&mut self, name: &str, threads: usize, found: Throughput) {
        self.throughput.push((name.to_owned(), threads, found));
    }

    pub(crate) fn add_latency(&mut self, name: &str, found: Latency) {
        self.latency.push((name.to_owned(), found));
    }

    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in &self.throughput {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.throughput.iter().map(|(_, threads, _)| *threads).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Texts per second of each round.
    fn rates(&self, name: &str, threads: usize, seconds: impl Fn(&Throughput) -> Option<f64>) -> Vec<f64> {
        self.throughput
            .iter()
            .filter(|(of, on, _)| of == name && *on == threads)
            .filter_map(|(.., found)| Some(self.turns as f64 / seconds(found)?))
            .collect()
    }

    /// The median over rounds of the ratio within a round.
    fn ratio(&self, name: &str, to: &str, threads: usize, cpu: bool) -> Option<f64> {
        let seconds = |found: &Throughput| if cpu { found.cpu_seconds } else { Some(found.wall_seconds) };
        let (ours, theirs) = (self.rates(name, threads, seconds), self.rates(to, threads, seconds));
        median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect())
    }

    fn rows(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for name in self.names() {
            let latency = |of: fn(&Latency) -> f64| {
                median(self.latency.iter().filter(|(n, _)| n == name).map(|(_, found)| of(found)).collect())
            };
            let mut row = json!({
                "name": name, "query_p50_ms": latency(|found| found.p50), "query_p99_ms": latency(|found| found.p99),
            });
            for threads in self.threads() {
                let mut of_threads = json!({
                    "texts_per_cpu_second": median(self.rates(name, threads, |found| found.cpu_seconds)),
                    "texts_per_second": median(self.rates(name, threads, |found| Some(found.wall_seconds))),
                });
                for (short, to) in REFERENCES {
                    of_threads[format!("cpu_ratio_to_{short}")] = json!(self.ratio(name, to, threads, true));
                    of_threads[format!("ratio_to_{short}")] = json!(self.ratio(name, to, threads, false));
                }
                row[format!("threads_{threads}")] = of_threads;
            }
            rows.push(row);
        }
        rows
    }

    /// Ratios first, since times depend on what else runs.
    pub(crate) fn print(&self) {
        println!("{} turns of {}, medians of {} rounds, {}", self.turns, self.data, self.rounds, machine());
        println!("ratios are to onnxruntime f32 and int8, in texts per CPU second (and per second)\n");
        let rows = self.rows();
        let number = |value: &Value, digits: usize| match value.as_f64() {
            Some(x) => format!("{x:.digits$}"),
            None => "-".to_owned(),
        };
        for threads in self.threads() {
            println!(
                "{:<28}{:>8}{:>9}{:>8}{:>9}{:>12}{:>10}",
                format!("{threads} threads"),
                "/f32",
                "(wall)",
                "/int8",
                "(wall)",
                "texts/CPU-s",
                "texts/s"
            );
            for row in &rows {
                let of = &row[format!("threads_{threads}")];
                println!(
                    "{:<28}{:>8}{:>9}{:>8}{:>9}{:>12}{:>10}",
                    row["name"].as_str().unwrap_or_default(),
                    number(&of["cpu_ratio_to_f32"], 2),
                    number(&of["ratio_to_f32"], 2),
                    number(&of["cpu_ratio_to_int8"], 2),
                    number(&of["ratio_to_int8"], 2),
                    number(&of["texts_per_cpu_second"], 0),
                    number(&of["texts_per_second"], 0),
                );
            }
            println!();
        }
        println!("{:<28}{:>8}{:>9}", format!("one query ({})", self.queries), "p50 ms", "p99 ms");
        for row in &rows {
            let name = row["name"].as_str().unwrap_or_default();
            println!(
                "{name:<28}{:>8}{:>9}",
                number(&row["query_p50_ms"], 2),
                number(&row["query_p99_ms"], 2)
            );
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let report = json!({
            "bench": "embed", "machine": machine(), "data": self.data, "turns": self.turns, "queries": self.queries,
            "rounds": self.rounds, "medians": self.rows(),
            "all": self.throughput.iter().map(|(name, threads, found)| json!({
                "name": name, "threads": threads,
                "cpu_seconds": found.cpu_seconds, "wall_seconds": found.wall_seconds,
            })).collect::<Vec<_>>(),
        });
        Ok(std::fs::write(path, format!("{report:#}\n"))?)
    }
}

pub(crate) fn print_recall(rows: &[Recall]) {
    print!("{:<14}", "recall at");
    for depth in DEPTHS {
        print!("{depth:>8}");
    }
    println!("{:>12}{:>14}{:>14}", "questions", "least cosine", "mean cosine");
    for row in rows {
        print!("{:<14}", row.name);
        for recall in row.at {
            print!("{recall:>8.4}");
        }
        println!("{:>12}{:>14.7}{:>14.7}", row.questions, row.cosine.0, row.cosine.1);
    }
}

pub(crate) fn write_recall(path: &Path, data: &Data, rows: &[Recall]) -> Result<()> {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name, "depths": DEPTHS, "recall": row.at, "questions": row.questions,
                "least_cosine_to_f32": row.cosine.0, "mean_cosine_to_f32": row.cosine.1,
            })
        })
        .collect();
    let report = json!({"bench": "embed recall", "machine": machine(), "data": data.name, "rows": rows});
    Ok(std::fs::write(path, format!("{report:#}\n"))?)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { None } else { Some(f64::midpoint(values[(n - 1) / 2], values[n / 2])) }
}

/// The processor and what it can do, as far as it matters here.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, value)| value.trim())
    };
    let flags: Vec<&str> = field("flags").split(' ').collect();
    let known = ["avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8"];
    let known: Vec<&str> = known.into_iter().filter(|flag| flags.contains(flag)).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (family, model) = (field("cpu family"), field("model\t"));
    format!("{} (family {family}, model {model}), {cores} cores, {}", field("model name"), known.join(" "))
}
