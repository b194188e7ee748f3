//! [`IndexSpec`]: a vector index named in a word, as settings files and command lines do.

use std::{fmt, str::FromStr};

use crate::{
    error::IndexError,
    exact::{ExactConfig, ExactIndex, Precision},
    vector::VectorIndex,
};

/// From so many vectors on, [`IndexSpec::auto`] scans codes of 8 bits: below, the vectors fit the caches of common
/// machines, and a scan takes less than a millisecond either way.
pub const INT8_FROM: usize = 10_000;

/// Which vector index, with its settings.
///
/// Written as a word: `auto`, `exact`, `exact-int8`, or with the feature `faiss` `faiss:` and a factory string, as
/// in `faiss:HNSW32`. The exact ones take a number of threads: `exact-int8 threads=2`; those of faiss take `threads`,
/// `ef_construction`, `ef_search`, `probe_share` and `train_from`.
///
/// # Examples
/// ```
/// use fta_index::{IndexSpec, VectorIndex};
///
/// let spec: IndexSpec = "exact-int8".parse()?;
/// let index = spec.build(384, 100_000)?;
/// assert!(index.is_empty());
/// # Ok::<(), fta_index::IndexError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum IndexSpec {
    /// What suits the number of vectors, as [`IndexSpec::auto`] says.
    #[default]
    Auto,
    /// An [`ExactIndex`].
    Exact(ExactConfig),
    /// A [`FaissIndex`](crate::faiss::FaissIndex).
    #[cfg(feature = "faiss")]
    Faiss(crate::faiss::FaissConfig),
}

impl IndexSpec {
    /// The index for a number of vectors: exact always, since that costs no more than coming near until far beyond
    /// what one person says in a life; from [`INT8_FROM`] vectors on by 8-bit codes.
    pub fn auto(n_vectors: usize) -> Self {
        let precision = if n_vectors < INT8_FROM { Precision::F32 } else { Precision::Int8 };
        Self::Exact(ExactConfig { precision, ..ExactConfig::default() })
    }

    /// Makes an empty index for vectors of `dim` values; `n_vectors`, about how many there will be, matters for
    /// [`IndexSpec::Auto`] alone.
    ///
    /// # Errors
    /// [`IndexError::Shape`] for a dimension that the index does not take; [`IndexError::Spec`],
    /// [`IndexError::Setting`] and [`IndexError::Processor`] for what faiss or this machine does not take.
    pub fn build(&self, dim: usize, n_vectors: usize) -> Result<Box<dyn VectorIndex>, IndexError> {
        match self {
            Self::Auto => Self::auto(n_vectors).build(dim, n_vectors),
            Self::Exact(config) => Ok(Box::new(ExactIndex::with_config(dim, *config)?)),
            #[cfg(feature = "faiss")]
            Self::Faiss(config) => Ok(Box::new(crate::faiss::FaissIndex::new(dim, config.clone())?)),
        }
    }
}

impl fmt::Display for IndexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exact(config) => {
                f.write_str(match config.precision {
                    Precision::F32 => "exact",
                    Precision::Int8 => "exact-int8",
                })?;
                if config.threads == 1 { Ok(()) } else { write!(f, " threads={}", config.threads) }
            }
            #[cfg(feature = "faiss")]
            Self::Faiss(config) => write!(f, "faiss:{config}"),
        }
    }
}

impl FromStr for IndexSpec {
    type Err = IndexError;

    fn from_str(text: &str) -> Result<Self, IndexError> {
        let wrong = |reason: String| IndexError::Spec { spec: text.to_owned(), reason };
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let options = words.map(|word| {
            word.split_once('=').ok_or_else(|| wrong(format!("`{word}` is no setting such as `threads=2`")))
        });
        let options = options.collect::<Result<Vec<_>, _>>()?;
        let number = |key: &str, value: &str| {
            let number = value.parse::<usize>().ok().filter(|&number| number > 0);
            number.ok_or_else(|| wrong(format!("`{key}` takes a number from 1 on, not `{value}`")))
        };
        let precision = match name {
            "auto" if options.is_empty() => return Ok(Self::Auto),
            "auto" => return Err(wrong("`auto` takes no settings".to_owned())),
            "exact" => Precision::F32,
            "exact-int8" => Precision::Int8,
            #[cfg(feature = "faiss")]
            _ if name.starts_with("faiss:") => {
                let config = text.trim().trim_start_matches("faiss:").parse::<crate::faiss::FaissConfig>();
                return config.map(Self::Faiss);
            }
            _ if name.starts_with("faiss:") => {
                return Err(wrong("this program was built without faiss".to_owned()));
            }
            _ => {
                return Err(wrong(
                    "expected `auto`, `exact`, `exact-int8` or `faiss:` and a kind".to_owned(),
                ));
            }
        };
        let mut config = ExactConfig { precision, ..ExactConfig::default() };
        for (key, value) in options {
            match key {
                "threads" => config.threads = number(key, value)?,
                _ => return Err(wrong(format!("there is no setting `{key}`, only `threads`"))),
            }
        }
        Ok(Self::Exact(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["auto", "exact", "exact-int8", "exact threads=4", "exact-int8 threads=2"] {
            assert_eq!(text.parse::<IndexSpec>().expect(text).to_string(), text);
        }
        assert_eq!(" exact  threads=1 ".parse::<IndexSpec>().expect("spaces").to_string(), "exact");
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| text.parse::<IndexSpec>().expect_err(text).to_string();
        assert!(wrong("").contains("`exact-int8`"));
        assert!(wrong("exakt").contains("`exakt`"));
        assert!(wrong("auto threads=2").contains("no settings"));
        assert!(wrong("exact threads").contains("`threads`"));
        assert!(wrong("exact threads=0").contains("from 1 on"));
        assert!(wrong("exact ef=3").contains("`ef`"));
    }

    #[cfg(feature = "faiss")]
    #[test]
    fn kinds_of_faiss_take_settings() {
        for text in ["faiss:HNSW32", "faiss:IVF,PQ48 train_from=500", "faiss:HNSW16 threads=2 ef_search=100"]
        {
            assert_eq!(text.parse::<IndexSpec>().expect(text).to_string(), text);
        }
        let wrong = |text: &str| text.parse::<IndexSpec>().expect_err(text).to_string();
        assert!(wrong("faiss:HNWS32").contains("`HNWS32`"));
        assert!(wrong("faiss:Flat ef=1").contains("`ef`"));
        assert!(wrong("faiss:IVF,Flat probe_share=2").contains("`probe_share`"));
        assert!(wrong("faiss:IVF,Flat probe_share=x").contains("`probe_share`"));
        assert_eq!("faiss:Flat".parse::<IndexSpec>().expect("legal").build(3, 0).expect("legal").dim(), 3);
    }

    #[cfg(not(feature = "faiss"))]
    #[test]
    fn a_program_without_faiss_says_so() {
        let error = "faiss:HNSW32".parse::<IndexSpec>().expect_err("no faiss").to_string();
        assert!(error.contains("without faiss"), "{error}");
    }

    #[test]
    fn auto_goes_by_size() {
        assert_eq!(IndexSpec::auto(INT8_FROM - 1).to_string(), "exact");
        assert_eq!(IndexSpec::auto(INT8_FROM).to_string(), "exact-int8");
        assert_eq!(IndexSpec::Auto.build(3, 0).expect("a legal dimension").dim(), 3);
        assert!(IndexSpec::Auto.build(0, 0).is_err());
    }
}
