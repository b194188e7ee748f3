//! Input checks that every [`VectorIndex`](crate::VectorIndex) runs before it changes anything.

use crate::error::IndexError;
use crate::vector::VectorId;

/// Ids must stay below this bound.
pub const ID_BOUND: VectorId = 1 << 63;

/// How far the norm of a vector may be from 1.
pub const NORM_TOLERANCE: f32 = 1e-3;

/// Checks a batch for [`VectorIndex::add`](crate::VectorIndex::add): `vectors` is `[ids.len(), dim]`, row-major.
///
/// # Errors
/// [`IndexError::Shape`], [`IndexError::Count`], [`IndexError::Id`] (too large or twice in the batch),
/// [`IndexError::NotFinite`] or [`IndexError::NotUnit`], for the first offender.
pub fn check_batch(dim: usize, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError> {
    if dim == 0 || !vectors.len().is_multiple_of(dim) {
        return Err(IndexError::Shape { dim, values: vectors.len() });
    }
    if vectors.len() / dim != ids.len() {
        return Err(IndexError::Count { ids: ids.len(), vectors: vectors.len() / dim });
    }
    check_ids(ids)?;
    vectors.chunks_exact(dim).enumerate().try_for_each(|(row, vector)| check_unit(row, vector))
}

/// Checks a query for [`VectorIndex::search`](crate::VectorIndex::search): `[dim]`, finite, of any norm.
///
/// # Errors
/// [`IndexError::Shape`] for a wrong length, [`IndexError::NotFinite`] for NaN or an infinity.
pub fn check_query(dim: usize, query: &[f32]) -> Result<(), IndexError> {
    if dim == 0 || query.len() != dim {
        return Err(IndexError::Shape { dim, values: query.len() });
    }
    check_finite(0, query)
}

/// Checks several queries for [`VectorIndex::search_batch`](crate::VectorIndex::search_batch): `[n, dim]`, finite.
///
/// # Errors
/// [`IndexError::Shape`] for a broken row, [`IndexError::NotFinite`] with the row of the first bad value.
pub fn check_queries(dim: usize, queries: &[f32]) -> Result<(), IndexError> {
    if dim == 0 || !queries.len().is_multiple_of(dim) {
        return Err(IndexError::Shape { dim, values: queries.len() });
    }
    queries.chunks_exact(dim).enumerate().try_for_each(|(row, query)| check_finite(row, query))
}

/// Checks that one vector is finite and of norm 1; `row` goes into the error.
pub(crate) fn check_unit(row: usize, vector: &[f32]) -> Result<(), IndexError> {
    check_finite(row, vector)?;
    // In f64, since the squares of large finite values overflow f32.
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt() as f32;
    if (norm - 1.0).abs() > NORM_TOLERANCE {
        return Err(IndexError::NotUnit { row, norm });
    }
    Ok(())
}

fn check_finite(row: usize, vector: &[f32]) -> Result<(), IndexError> {
    if vector.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(IndexError::NotFinite { row }) }
}

fn check_ids(ids: &[VectorId]) -> Result<(), IndexError> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    if let Some(&id) = sorted.last().filter(|&&id| id >= ID_BOUND) {
        return Err(IndexError::Id { id });
    }
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(IndexError::Id { id: pair[0] }),
        None => Ok(()),
    }
}
