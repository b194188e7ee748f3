//! The suite finds what is wrong with back ends that are wrong.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use fta_index::{
    ExactIndex, Filter, Hit, IndexError, Label, VectorId, VectorIndex,
    conformance::{self, Bounds},
};

/// How a back end is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// Of many vectors it never finds the second best.
    Misses,
    /// It says less than the score by a hundredth.
    Score,
    /// It shows a hit that the filter refuses.
    Filter,
    /// It keeps what was removed.
    Removal,
    /// It takes every file.
    Damage,
}

struct Faulty {
    index: ExactIndex,
    fault: Fault,
}

impl Faulty {
    fn boxed(dim: usize, fault: Fault) -> Box<dyn VectorIndex> {
        Box::new(Self { index: ExactIndex::new(dim).expect("a legal dimension"), fault })
    }
}

impl VectorIndex for Faulty {
    fn dim(&self) -> usize {
        self.index.dim()
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn contains(&self, id: VectorId) -> bool {
        self.index.contains(id)
    }

    fn add(&mut self, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError> {
        self.index.add(ids, vectors)
    }

    fn remove(&mut self, ids: &[VectorId]) -> Result<usize, IndexError> {
        let kept = usize::from(self.fault == Fault::Removal && self.len() > 3);
        self.index.remove(&ids[kept.min(ids.len())..])
    }

    fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<Hit>, IndexError> {
        let filter = filter.filter(|_| self.fault != Fault::Filter);
        let misses = self.fault == Fault::Misses && self.len() > 1000 && k == 10;
        let mut hits = self.index.search(query, k + usize::from(misses), filter)?;
        if misses && hits.len() > k {
            hits.remove(1);
        }
        if self.fault == Fault::Score {
            for hit in &mut hits {
                hit.score -= 0.01;
            }
        }
        Ok(hits)
    }

    fn save(&self, path: &Path, label: &Label) -> Result<(), IndexError> {
        self.index.save(path, label)
    }

    fn load(&mut self, path: &Path) -> Result<Label, IndexError> {
        match self.index.load(path) {
            Err(IndexError::File { .. }) if self.fault == Fault::Damage => Ok(Label::default()),
            other => other,
        }
    }
}

fn passes(fault: Fault, bounds: Bounds) -> bool {
    let suite = || conformance::approximate_index(|dim| Faulty::boxed(dim, fault), bounds);
    catch_unwind(AssertUnwindSafe(suite)).is_ok()
}

#[test]
fn faults_are_found() {
    for fault in [Fault::Misses, Fault::Score, Fault::Filter, Fault::Removal, Fault::Damage] {
        assert!(!passes(fault, Bounds::EXACT), "{fault:?}");
    }
    for fault in [Fault::Filter, Fault::Removal, Fault::Damage] {
        assert!(!passes(fault, Bounds { recall: 0.0, score_error: 2.0 }), "{fault:?}");
    }
}

#[test]
fn what_is_within_the_bounds_passes() {
    assert!(passes(Fault::Misses, Bounds { recall: 0.8, score_error: 1e-5 }));
    assert!(!passes(Fault::Misses, Bounds { recall: 0.95, score_error: 1e-5 }));
    assert!(passes(Fault::Score, Bounds { recall: 0.99, score_error: 0.011 }));
}
