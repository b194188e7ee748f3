//! [`FaissConfig`], and how it is written as a word and settings.

use std::{fmt, str::FromStr};

use super::factory::{Factory, TRAINING_PER_LIST};
use crate::error::IndexError;

/// How a [`FaissIndex`](super::FaissIndex) is built and searched.
#[derive(Debug, Clone, PartialEq)]
pub struct FaissConfig {
    /// Kind of index.
    pub factory: Factory,
    /// Candidates that are kept while a vector is linked into a graph.
    pub ef_construction: usize,
    /// Candidates that are kept while a graph is searched. More than twice as many results are scanned for.
    pub ef_search: usize,
    /// Share of the lists that a search scans, above 0 and at most 1; at least eight are scanned.
    pub probe_share: f32,
    /// Vectors to wait for before lists or codes are trained; until then they are scanned. At least as many as
    /// training cannot do without are waited for. `None`: 10,000, or 39 per list if that is more.
    pub train_from: Option<usize>,
    /// Threads of a batch of searches, of training and of adding. A graph that several threads built is another one
    /// each time.
    pub threads: usize,
}

impl FaissConfig {
    /// The settings that suit most memories.
    pub fn new(factory: Factory) -> Self {
        Self {
            factory,
            ef_construction: 40,
            ef_search: 64,
            probe_share: 1.0 / 8.0,
            train_from: None,
            threads: 1,
        }
    }
}

impl FaissConfig {
    /// Checks what must not reach faiss.
    pub(super) fn check(&self, dim: usize) -> Result<(), IndexError> {
        if dim == 0 || dim >= 1 << 16 {
            return Err(IndexError::Shape { dim, values: 0 });
        }
        self.factory.check(dim)?;
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<(), IndexError> {
        let legal = [
            ("ef_construction", (1..=1 << 16).contains(&self.ef_construction)),
            ("ef_search", (1..=1 << 20).contains(&self.ef_search)),
            ("probe_share", self.probe_share > 0.0 && self.probe_share <= 1.0),
            ("threads", (1..=1024).contains(&self.threads)),
        ];
        match legal.into_iter().find(|(_, legal)| !legal) {
            Some((name, _)) => Err(IndexError::Setting { name }),
            None => Ok(()),
        }
    }

    /// Vectors to train at.
    pub(super) fn train_at(&self) -> usize {
        let per_list = self.factory.lists().map_or(0, |lists| lists as usize * TRAINING_PER_LIST);
        self.train_from.unwrap_or(10_000.max(per_list)).max(self.factory.least_training())
    }
}

impl fmt::Display for FaissConfig {
    /// The kind, and the settings that are not the usual ones, as in `HNSW32 ef_search=128`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::new(self.factory);
        write!(f, "{}", self.factory)?;
        if self.threads != usual.threads {
            write!(f, " threads={}", self.threads)?;
        }
        if self.ef_construction != usual.ef_construction {
            write!(f, " ef_construction={}", self.ef_construction)?;
        }
        if self.ef_search != usual.ef_search {
            write!(f, " ef_search={}", self.ef_search)?;
        }
        if (self.probe_share - usual.probe_share).abs() > 0.0 {
            write!(f, " probe_share={}", self.probe_share)?;
        }
        self.train_from.iter().try_for_each(|n| write!(f, " train_from={n}"))
    }
}

impl FromStr for FaissConfig {
    type Err = IndexError;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, IndexError> {
        let wrong = |reason: String| IndexError::Spec { spec: text.to_owned(), reason };
        let mut words = text.split_whitespace();
        let mut config = Self::new(words.next().unwrap_or_default().parse()?);
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number =
                || value.parse().map_err(|_| wrong(format!("`{key}` takes a number, not `{value}`")));
            match key {
                "threads" => config.threads = number()?,
                "ef_construction" => config.ef_construction = number()?,
                "ef_search" => config.ef_search = number()?,
                "train_from" => config.train_from = Some(number()?),
                "probe_share" => {
                    let share = value.parse();
                    config.probe_share = share
                        .map_err(|_| wrong(format!("`{key}` takes a share such as `0.1`, not `{value}`")))?;
                }
                _ => return Err(wrong(format!("there is no setting `{key}`"))),
            }
        }
        config.check_numbers()?;
        Ok(config)
    }
}
