//! [`Factory`]: the kinds of index that are supported, as faiss writes them. No other string reaches faiss, which
//! takes some for legal that never return or that divide by zero.

use std::{fmt, str::FromStr};

use crate::error::IndexError;

/// Links per vector of a graph: with one, faiss never returns; beyond some hundred, nothing is gained.
const LINKS: std::ops::RangeInclusive<u32> = 4..=256;
/// More lists than this need more training than a machine of ours can give.
const MOST_LISTS: u32 = 1 << 20;
/// Vectors that a list is trained from, at least: faiss warns below.
pub(super) const TRAINING_PER_LIST: usize = 39;
/// Centroids of one byte of a product quantiser.
pub(super) const CENTROIDS: usize = 256;

/// A kind of index.
///
/// | string | what | exact | bytes per vector of dimension `d` |
/// |---|---|---|---|
/// | `Flat` | a scan | yes | `4 d` |
/// | `HNSW32` | a graph with 32 links per vector | no | `4 d` + 8 per link |
/// | `SQ8` | a scan over values of one byte | no | `d` |
/// | `IVF256,Flat` | 256 lists, of which a few are scanned | no | `4 d` + 8 |
/// | `IVF,SQ8` | lists as many as the number of vectors asks for | no | `d` + 8 |
/// | `IVF,PQ48` | each vector is a code of 48 bytes | no | 48 + 8 |
///
/// To this the table of ids adds 30 to 40 bytes per vector.
///
/// # Examples
/// ```
/// use fta_index::faiss::Factory;
///
/// let factory: Factory = "IVF256,PQ48".parse()?;
/// assert_eq!(factory.to_string(), "IVF256,PQ48");
/// assert!("HNWS32".parse::<Factory>().is_err());
/// # Ok::<(), fta_index::IndexError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factory {
    /// Exact scan.
    Flat,
    /// Graph of neighbours.
    Hnsw {
        /// Links per vector.
        links: u32,
    },
    /// Scan over values of one byte.
    Sq8,
    /// Lists around centroids.
    Ivf {
        /// Number of lists; `None` chooses it from the number of vectors, and again when that has grown.
        lists: Option<u32>,
        /// How the vectors in the lists are kept.
        codes: Codes,
    },
}

/// How vectors are kept in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codes {
    /// As they are.
    Flat,
    /// One byte per value.
    Sq8,
    /// Product quantisation.
    Pq {
        /// Bytes per vector; divides the dimension.
        bytes: u32,
    },
}

impl Factory {
    /// Checks what depends on the dimension.
    pub(super) fn check(self, dim: usize) -> Result<(), IndexError> {
        match self {
            Self::Ivf { codes: Codes::Pq { bytes }, .. } if !dim.is_multiple_of(bytes as usize) => {
                Err(self.refused(&format!("`{bytes}` bytes do not divide the dimension `{dim}`")))
            }
            _ => Ok(()),
        }
    }

    /// Whether it must see vectors before it can hold any.
    pub(super) fn needs_training(self) -> bool {
        matches!(self, Self::Sq8 | Self::Ivf { .. })
    }

    /// Whether faiss holds the vectors as they were given and gives them back by row.
    pub(super) fn keeps_rows(self) -> bool {
        matches!(self, Self::Flat | Self::Hnsw { .. })
    }

    /// Whether every search looks at every vector.
    pub(super) fn is_scan(self) -> bool {
        matches!(self, Self::Flat | Self::Sq8)
    }

    /// Vectors without which training fails.
    pub(super) fn least_training(self) -> usize {
        match self {
            Self::Flat | Self::Hnsw { .. } => 0,
            Self::Sq8 => 1,
            Self::Ivf { lists, codes } => {
                let centroids = if matches!(codes, Codes::Pq { .. }) { CENTROIDS } else { 1 };
                centroids.max(lists.unwrap_or(1) as usize)
            }
        }
    }

    /// The same kind with the number of lists that suits `n` vectors: twice the root of it, if that leaves enough
    /// vectors per list to train from.
    pub(super) fn for_count(self, n: usize) -> Self {
        match self {
            Self::Ivf { lists: None, codes } => {
                let lists = (2.0 * (n as f64).sqrt()) as usize;
                let lists = lists.min(n / TRAINING_PER_LIST).clamp(1, MOST_LISTS as usize) as u32;
                Self::Ivf { lists: Some(lists), codes }
            }
            other => other,
        }
    }

    /// Number of lists, if it has a fixed number.
    pub(super) fn lists(self) -> Option<u32> {
        match self {
            Self::Ivf { lists, .. } => lists,
            _ => None,
        }
    }

    /// The kind as faiss is told. `np`: no polysemous training, which orders the codes for a way of searching that is
    /// not used here, and takes nearly all of the time of training.
    pub(super) fn description(self) -> String {
        match self {
            Self::Ivf { codes: Codes::Pq { .. }, .. } => format!("{self}np"),
            _ => self.to_string(),
        }
    }

    /// What a file that faiss wrote of this kind begins with.
    pub(super) fn magic(self) -> &'static [u8; 4] {
        match self {
            Self::Flat => b"IxFI",
            Self::Hnsw { .. } => b"IHNf",
            Self::Sq8 => b"IxSQ",
            Self::Ivf { codes: Codes::Flat, .. } => b"IwFl",
            Self::Ivf { codes: Codes::Sq8, .. } => b"IwSq",
            Self::Ivf { codes: Codes::Pq { .. }, .. } => b"IwPQ",
        }
    }

    fn refused(self, reason: &str) -> IndexError {
        IndexError::Spec { spec: self.to_string(), reason: reason.to_owned() }
    }
}

impl fmt::Display for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = match self {
            Self::Flat => return f.write_str("Flat"),
            Self::Hnsw { links } => return write!(f, "HNSW{links}"),
            Self::Sq8 => return f.write_str("SQ8"),
            Self::Ivf { lists, codes } => {
                f.write_str("IVF")?;
                lists.iter().try_for_each(|lists| write!(f, "{lists}"))?;
                codes
            }
        };
        match codes {
            Codes::Flat => f.write_str(",Flat"),
            Codes::Sq8 => f.write_str(",SQ8"),
            Codes::Pq { bytes } => write!(f, ",PQ{bytes}"),
        }
    }
}

impl FromStr for Factory {
    type Err = IndexError;

    fn from_str(text: &str) -> Result<Self, IndexError> {
        parse(text).map_err(|reason| IndexError::Spec { spec: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<Factory, String> {
    if text == "Flat" {
        return Ok(Factory::Flat);
    }
    if text == "SQ8" {
        return Ok(Factory::Sq8);
    }
    if let Some(links) = text.strip_prefix("HNSW") {
        return Ok(Factory::Hnsw { links: number(links, LINKS)? });
    }
    if let Some((lists, codes)) = text.strip_prefix("IVF").and_then(|rest| rest.split_once(',')) {
        let lists = if lists.is_empty() { None } else { Some(number(lists, 1..=MOST_LISTS)?) };
        let codes = match codes {
            "Flat" => Codes::Flat,
            "SQ8" => Codes::Sq8,
            _ => match codes.strip_prefix("PQ") {
                Some(bytes) => Codes::Pq { bytes: number(bytes, 1..=4096)? },
                None => {
                    return Err(format!(
                        "`{codes}` are no codes of lists: `Flat`, `SQ8` and `PQ<bytes>` are"
                    ));
                }
            },
        };
        return Ok(Factory::Ivf { lists, codes });
    }
    Err("it is none of `Flat`, `HNSW<links>`, `SQ8`, `IVF<lists>,Flat`, `IVF<lists>,SQ8`, `IVF<lists>,PQ<bytes>`"
        .to_owned())
}

fn number(text: &str, legal: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    // `+8` and `08` parse too, but are not what `Display` writes.
    let value = text.parse::<u32>().ok().filter(|value| value.to_string() == text && legal.contains(value));
    value.ok_or_else(|| format!("`{text}` is no number from {} to {}", legal.start(), legal.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_go_round() {
        for text in ["Flat", "HNSW32", "HNSW16", "SQ8", "IVF256,Flat", "IVF,Flat", "IVF,SQ8", "IVF100,PQ48"] {
            assert_eq!(text.parse::<Factory>().expect(text).to_string(), text);
        }
    }

    #[test]
    fn strings_that_faiss_must_not_see() {
        for text in [
            "",
            "flat",
            "Flat,",
            "HNSW",
            "HNSW1",
            "HNSW32,Flat",
            "HNSW99999",
            "HNSW-4",
            "HNSW+8",
            "HNSW032",
            "SQ4",
            "IVF",
            "IVF0,Flat",
            "IVF99999999999,Flat",
            "IVF8",
            "IVF8,",
            "IVF8,PQ",
            "IVF8,PQ0",
            "IVF8,PQ8x4",
            "IDMap,Flat",
            "PCA64,Flat",
            "IVF8,Flat\0",
            "\0",
        ] {
            let error = text.parse::<Factory>().expect_err(text);
            assert!(matches!(error, IndexError::Spec { .. }), "{error:?}");
        }
    }

    #[test]
    fn the_number_of_lists_leaves_enough_to_train_from() {
        let auto = Factory::Ivf { lists: None, codes: Codes::Flat };
        for n in [0, 1, 39, 100, 10_000, 1_000_000] {
            let lists = auto.for_count(n).lists().expect("a number") as usize;
            assert!(lists >= 1 && (lists == 1 || lists * TRAINING_PER_LIST <= n), "{n}: {lists}");
        }
        assert_eq!(auto.for_count(1_000_000).lists(), Some(2000));
        assert_eq!(Factory::Flat.for_count(5), Factory::Flat);
    }
}
