//! The [`Embedder`] port: text in, unit vectors out. Back ends live in modules of their own.

use crate::error::EmbedError;

/// Row-major matrix of embeddings, `[n, dim]` `f32`, every row of Euclidean norm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    dim: usize,
    data: Vec<f32>,
}

impl Embeddings {
    /// Wraps row-major data.
    ///
    /// # Errors
    /// [`EmbedError::Shape`] if `dim` is 0 or `data` is not a whole number of rows.
    pub fn new(dim: usize, data: Vec<f32>) -> Result<Self, EmbedError> {
        if dim == 0 || !data.len().is_multiple_of(dim) {
            return Err(EmbedError::Shape { dim, values: data.len() });
        }
        Ok(Self { dim, data })
    }

    /// Number of values in a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Row `i`, or `None` past the end.
    pub fn row(&self, i: usize) -> Option<&[f32]> {
        self.data.get(i * self.dim..(i + 1) * self.dim)
    }

    /// Rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.data.chunks_exact(self.dim)
    }

    /// All values, row by row.
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }
}

/// Turns texts into unit vectors.
///
/// # Contract
/// - Row `i` of the result belongs to `texts[i]`; as many rows as texts; `[]` gives an empty matrix.
/// - Rows are finite and have norm 1 (within 1e-4). The empty text is legal and has a vector too.
/// - Deterministic: the same text gives the same vector to 1e-5, whatever else is in the batch.
/// - Texts longer than the model's window are cut at the window, never refused.
/// - Synchronous and batch-first, since it computes; callers in async code run it on a blocking thread.
pub trait Embedder: Send + Sync {
    /// Name and revision of the model; vectors of different ids must never be compared.
    fn model_id(&self) -> &str;

    /// Values per vector.
    fn dim(&self) -> usize;

    /// Embeds a batch, `[texts.len(), dim]`.
    ///
    /// # Errors
    /// [`EmbedError`] when the model cannot compute; no partial result.
    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError>;
}

macro_rules! forward {
    ($($t:ty),*) => {$(
        impl<E: Embedder + ?Sized> Embedder for $t {
            fn model_id(&self) -> &str {
                (**self).model_id()
            }
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
                (**self).embed(texts)
            }
        }
    )*};
}
forward!(&E, Box<E>, std::sync::Arc<E>);
