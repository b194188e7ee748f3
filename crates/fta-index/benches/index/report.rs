//! The outcome: a JSON document and a table, ratios first.

use std::fmt::Write as _;

use serde::Serialize;

/// One contender at one size with one number of threads.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) size: usize,
    pub(crate) threads: usize,
    pub(crate) name: String,
    /// Median time of one query against that of `exact f32`, and queries per second in batches: above 1 is faster.
    pub(crate) single_ratio: f64,
    pub(crate) batch_ratio: f64,
    /// The same against the same kind in the wheel of faiss.
    pub(crate) single_against_wheel: Option<f64>,
    pub(crate) batch_against_wheel: Option<f64>,
    /// The same by time on processors, which other programs disturb less.
    pub(crate) single_processor_against_wheel: Option<f64>,
    pub(crate) batch_processor_against_wheel: Option<f64>,
    pub(crate) recall_at_10: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) least_ms: f64,
    /// Median time on processors per query.
    pub(crate) processor_ms: f64,
    pub(crate) processor_ms_in_batches: f64,
    /// Of batches of 64, by the median and by the best.
    pub(crate) queries_per_second: f64,
    pub(crate) most_queries_per_second: f64,
    pub(crate) build_seconds: f64,
    pub(crate) build_processor_seconds: f64,
    pub(crate) bytes_per_vector: Option<f64>,
}

/// What the machine can read.
#[derive(Serialize)]
pub(crate) struct Limit {
    pub(crate) size: usize,
    pub(crate) threads: usize,
    pub(crate) gigabytes_per_second: f64,
    /// One pass over all vectors in `f32`.
    pub(crate) pass_ms: f64,
}

#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) dim: usize,
    pub(crate) seed: u64,
    pub(crate) processor: String,
    pub(crate) load_before: String,
    pub(crate) load_after: String,
    pub(crate) peers: Vec<String>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) rows: Vec<Row>,
}

/// Fills in what is relative to others of the same size and threads.
pub(crate) fn compare(rows: &mut [Row]) {
    let values =
        |row: &Row| (row.p50_ms, row.queries_per_second, row.processor_ms, row.processor_ms_in_batches);
    let all: Vec<(String, _)> = rows.iter().map(|row| (row.name.clone(), values(row))).collect();
    let find = |name: &str| all.iter().find(|(other, _)| other == name);
    for row in rows {
        if let Some((_, (p50, queries, ..))) = find("exact f32") {
            row.single_ratio = p50 / row.p50_ms;
            row.batch_ratio = row.queries_per_second / queries;
        }
        let wheel = row.name.strip_prefix("faiss ").and_then(|kind| find(&format!("wheel {kind}")));
        if let Some((_, (p50, queries, single, batch))) = wheel {
            row.single_against_wheel = Some(p50 / row.p50_ms);
            row.batch_against_wheel = Some(row.queries_per_second / queries);
            row.single_processor_against_wheel = Some(single / row.processor_ms);
            row.batch_processor_against_wheel = Some(batch / row.processor_ms_in_batches);
        }
    }
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{}; load {} to {}; {} dimensions, seed {}; peers: {}\nfaster than `exact f32` (1q: one query, median; \
             b64: batches of 64), than the same kind in the wheel, then what it is made of\n\n",
            self.processor,
            self.load_before,
            self.load_after,
            self.dim,
            self.seed,
            if self.peers.is_empty() { "none".to_owned() } else { self.peers.join(", ") }
        );
        text.push_str(
            "| vectors | threads | index | 1q x | b64 x | 1q x wheel | b64 x wheel | 1q x wheel, cpu | b64 x wheel, cpu | recall@10 | p50 ms | p99 ms | \
             least ms | cpu ms | cpu ms b64 | q/s b64 | best q/s | build s | build cpu s | bytes/vector |\n",
        );
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        let optional =
            |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
        for row in &self.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.2} | {:.2} | {} | {} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.0} | {:.0} | {:.1} | {:.1} | {} |",
                row.size,
                row.threads,
                row.name,
                row.single_ratio,
                row.batch_ratio,
                optional(row.single_against_wheel, 2),
                optional(row.batch_against_wheel, 2),
                optional(row.single_processor_against_wheel, 2),
                optional(row.batch_processor_against_wheel, 2),
                row.recall_at_10,
                row.p50_ms,
                row.p99_ms,
                row.least_ms,
                row.processor_ms,
                row.processor_ms_in_batches,
                row.queries_per_second,
                row.most_queries_per_second,
                row.build_seconds,
                row.build_processor_seconds,
                optional(row.bytes_per_vector, 0),
            );
        }
        text.push_str("\n| vectors | threads | read GB/s | one pass in f32, ms |\n|---|---|---|---|\n");
        for limit in &self.limits {
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.3} |",
                limit.size, limit.threads, limit.gigabytes_per_second, limit.pass_ms
            );
        }
        text
    }
}
