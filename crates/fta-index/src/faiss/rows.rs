//! [`Rows`]: which id each row of the index inside faiss belongs to. faiss itself knows rows only, so that every
//! kind of index can replace and remove.

use std::collections::HashMap;

use crate::check::ID_BOUND;
use crate::vector::VectorId;

/// A row whose vector was removed or replaced; no legal id.
pub(super) const GONE: VectorId = VectorId::MAX;

/// Ids by row and rows by id.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    ids: Vec<VectorId>,
    row_of: HashMap<VectorId, usize>,
}

impl Rows {
    /// Takes a table as [`Rows::ids`] gave it; `None` if an id is illegal or there twice.
    pub(super) fn from_ids(ids: Vec<VectorId>) -> Option<Self> {
        let mut row_of = HashMap::with_capacity(ids.len());
        for (row, &id) in ids.iter().enumerate().filter(|(_, id)| **id != GONE) {
            if id >= ID_BOUND || row_of.insert(id, row).is_some() {
                return None;
            }
        }
        Some(Self { ids, row_of })
    }

    /// Id of each row, [`GONE`] where there is none.
    pub(super) fn ids(&self) -> &[VectorId] {
        &self.ids
    }

    /// Rows, those that are gone among them.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Rows that are not gone.
    pub(super) fn live(&self) -> usize {
        self.row_of.len()
    }

    /// Rows that are gone.
    pub(super) fn dead(&self) -> usize {
        self.len() - self.live()
    }

    pub(super) fn row(&self, id: VectorId) -> Option<usize> {
        self.row_of.get(&id).copied()
    }

    /// The id of a label that faiss gave; `None` for no label, for a row it should not have and for one that is gone.
    pub(super) fn id(&self, label: i64) -> Option<VectorId> {
        self.id_of(usize::try_from(label).ok()?)
    }

    /// The id of a row; `None` if it is gone or not there.
    pub(super) fn id_of(&self, row: usize) -> Option<VectorId> {
        self.ids.get(row).copied().filter(|&id| id != GONE)
    }

    /// Appends a row; the row that the id had is gone then.
    pub(super) fn push(&mut self, id: VectorId) {
        if let Some(old) = self.row_of.insert(id, self.ids.len()) {
            self.ids[old] = GONE;
        }
        self.ids.push(id);
    }

    /// Appends rows that are gone, up to so many in all.
    pub(super) fn pad(&mut self, n_rows: usize) {
        self.ids.resize(n_rows.max(self.ids.len()), GONE);
    }

    /// Whether the id was there.
    pub(super) fn remove(&mut self, id: VectorId) -> bool {
        let Some(row) = self.row_of.remove(&id) else { return false };
        self.ids[row] = GONE;
        true
    }

    /// The rows that are not gone and whose ids are allowed.
    pub(super) fn mask(&self, allowed: impl Fn(VectorId) -> bool) -> Mask {
        let mut mask = Mask::new(self.len());
        for (row, _) in self.ids.iter().enumerate().filter(|(_, id)| **id != GONE && allowed(**id)) {
            mask.set(row);
        }
        mask
    }

    /// The rows of these ids.
    pub(super) fn mask_of(&self, ids: &[VectorId]) -> Mask {
        let mut mask = Mask::new(self.len());
        ids.iter().filter_map(|&id| self.row(id)).for_each(|row| mask.set(row));
        mask
    }
}

/// A set of rows.
#[derive(Debug, Clone)]
pub(super) struct Mask {
    bits: Vec<u8>,
    count: usize,
}

impl Mask {
    fn new(n_rows: usize) -> Self {
        Self { bits: vec![0; n_rows.div_ceil(8)], count: 0 }
    }

    fn set(&mut self, row: usize) {
        let (byte, bit) = (&mut self.bits[row / 8], 1 << (row % 8));
        self.count += usize::from(*byte & bit == 0);
        *byte |= bit;
    }

    /// Bit `row % 8` of byte `row / 8` says whether a row is in.
    pub(super) fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Rows in the set.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The rows, rising.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let bytes = self.bits.iter().enumerate().filter(|(_, byte)| **byte != 0);
        bytes.flat_map(|(at, byte)| {
            (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| 8 * at + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacement_and_removal_leave_gaps() {
        let mut rows = Rows::default();
        for id in [7, 9, 7, 3] {
            rows.push(id);
        }
        assert_eq!(rows.ids(), [GONE, 9, 7, 3]);
        assert!(rows.remove(9) && !rows.remove(9));
        assert_eq!((rows.len(), rows.live(), rows.dead()), (4, 2, 2));
        assert_eq!(
            [-1, 0, 1, 2, 3, 4].map(|label| rows.id(label)),
            [None, None, None, Some(7), Some(3), None]
        );
        let mask = rows.mask(|id| id != 3);
        assert_eq!((mask.count(), mask.rows().collect::<Vec<_>>()), (1, vec![2]));
        let mask = rows.mask_of(&[3, 3, 9, 7]);
        assert_eq!((mask.count(), mask.rows().collect::<Vec<_>>()), (2, vec![2, 3]));
        rows.pad(6);
        rows.push(1);
        assert_eq!(rows.row(1), Some(6));
        let again = Rows::from_ids(rows.ids().to_vec()).expect("a legal table");
        assert_eq!((again.live(), again.row(7)), (3, Some(2)));
        assert!(Rows::from_ids(vec![1, 1]).is_none() && Rows::from_ids(vec![1 << 63]).is_none());
    }
}
