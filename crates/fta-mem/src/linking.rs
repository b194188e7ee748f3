//! Linking new units to older ones (Eq. 6): which are compared, and what a link changes.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use fta_retrieve::views::{RHO, unit_view, vector_id};
use fta_units::{
    Comparison, FallbackMark, FallbackStep, Link, Neighbour, Relation, StoredSession, StoredVector, Unit,
    UnitId, link,
};
use futures_util::future::try_join_all;

use crate::{
    Error, fallback,
    parts::Parts,
    state::{Loaded, UserState},
};

/// What linking made.
#[derive(Debug, Default)]
pub(crate) struct Linked {
    pub(crate) links: Vec<Link>,
    pub(crate) marks: Vec<FallbackMark>,
}

/// One write's new units and what they are compared with.
pub(crate) struct Linking<'a> {
    parts: &'a Parts,
    state: &'a UserState,
    units: &'a [Unit],
    /// The vector of `rho(m)` of each unit, same order.
    rho: Vec<&'a StoredVector>,
    own: BTreeMap<UnitId, &'a Unit>,
    replaced: BTreeSet<UnitId>,
    /// Units of sessions that took place after this one: it is made anew, or comes in late.
    later: BTreeSet<UnitId>,
}

/// A unit with the older units that it is compared with and their similarity.
type Gathered = (Unit, Vec<(Unit, f32)>);
type Labels = Vec<Vec<Option<Relation>>>;

impl<'a> Linking<'a> {
    /// `units`: the new ones, in order; `vectors`: theirs; `stored`: their session; `replaced`: units that vanish with this
    /// write.
    pub(crate) fn new(
        (parts, state): (&'a Parts, &'a UserState),
        (units, vectors): (&'a [Unit], &'a [StoredVector]),
        stored: &StoredSession,
        replaced: &[UnitId],
    ) -> Self {
        let replaced: BTreeSet<UnitId> = replaced.iter().copied().collect();
        let later = {
            let corpus = &state.read().corpus;
            let sessions = corpus.sessions().into_iter().filter(|other| is_later(other, stored));
            let units = sessions.flat_map(|other| corpus.units_of(&other.session.id));
            units.copied().filter(|id| !replaced.contains(id)).collect()
        };
        Self {
            parts,
            state,
            units,
            rho: vectors.iter().filter(|v| v.view == RHO).collect(),
            own: units.iter().map(|u| (u.id, u)).collect(),
            replaced,
            later,
        }
    }

    /// Links each new unit to its nearest older units, those of the same write included, then units of later sessions to
    /// the new ones. `changed`: units that the write changes, to which those are added that a link changes.
    ///
    /// A classifier that takes one unit at a time sees what the links before changed; batches are asked all at once, and
    /// see units as they were before the write. Links come in the order of units either way.
    pub(crate) async fn run(&self, changed: &mut BTreeMap<UnitId, Unit>) -> Result<Linked, Error> {
        let batch_size = self.parts.classifier.batch_size().max(1);
        let round_size = if batch_size == 1 { 1 } else { self.units.len().max(1) };
        let positions: Vec<usize> = (0..self.units.len()).collect();
        let mut linked = Linked::default();
        for round in positions.chunks(round_size) {
            let mut gathered: Vec<Gathered> = Vec::with_capacity(round.len());
            for &position in round {
                gathered.push((self.units[position].clone(), self.older(position, changed)?));
            }
            self.link(gathered, changed, &mut linked).await?;
        }
        let later = self.later_units(changed)?;
        let round_size = if batch_size == 1 { 1 } else { later.len().max(1) };
        for round in later.chunks(round_size) {
            self.link(round.to_vec(), changed, &mut linked).await?;
        }
        Ok(linked)
    }

    /// Classifies the comparisons, in batches at the same time, and adds the links.
    async fn link(
        &self,
        mut gathered: Vec<Gathered>,
        changed: &mut BTreeMap<UnitId, Unit>,
        linked: &mut Linked,
    ) -> Result<(), Error> {
        gathered.retain(|(_, older)| !older.is_empty());
        let batch_size = self.parts.classifier.batch_size().max(1);
        let asked = gathered.chunks(batch_size).map(|batch| self.classify(batch));
        let (labels, marks): (Vec<Labels>, Vec<_>) = try_join_all(asked).await?.into_iter().unzip();
        linked.marks.extend(marks.into_iter().flatten());
        for ((unit, older), labels) in gathered.into_iter().zip(labels.into_iter().flatten()) {
            for ((older, similarity), relation) in older.into_iter().zip(labels) {
                let Some(relation) = relation else { continue };
                linked.links.push(Link { from: unit.id, to: older.id, relation, similarity });
                // An earlier link of the round may have changed it since it was gathered.
                let mut older = changed.get(&older.id).cloned().unwrap_or(older);
                if link::effect(&unit, &older, relation).apply(&mut older) {
                    changed.insert(older.id, older);
                }
            }
        }
        Ok(())
    }

    /// Units of later sessions with the new units that are near to them, by rising id.
    fn later_units(&self, changed: &BTreeMap<UnitId, Unit>) -> Result<Vec<Gathered>, Error> {
        if self.later.is_empty() {
            return Ok(Vec::new());
        }
        let linking = &self.parts.config.linking;
        let allowed = |id: u64| {
            let (unit, view) = unit_view(id);
            view == RHO && self.later.contains(&unit)
        };
        let mut near: BTreeMap<UnitId, Vec<(Unit, f32)>> = BTreeMap::new();
        for (unit, vector) in self.units.iter().zip(&self.rho) {
            let search =
                |loaded: &Loaded| loaded.index().search(&vector.values, linking.neighbours, Some(&allowed));
            for hit in self.state.search(self.parts, search)? {
                if hit.score >= linking.min_similarity {
                    let unit = changed.get(&unit.id).unwrap_or(unit).clone();
                    near.entry(unit_view(hit.id).0).or_default().push((unit, hit.score));
                }
            }
        }
        let loaded = self.state.read();
        let unit = |id: UnitId| changed.get(&id).or_else(|| loaded.corpus.unit(id)).cloned();
        Ok(near.into_iter().filter_map(|(id, older)| Some((unit(id)?, older))).collect())
    }

    /// Labels a batch; by the fallback, with a mark, if the classifier fails.
    async fn classify(&self, batch: &[Gathered]) -> Result<(Labels, Option<FallbackMark>), Error> {
        let neighbours: Vec<Vec<Neighbour<'_>>> = batch
            .iter()
            .map(|(_, older)| {
                older.iter().map(|(unit, similarity)| Neighbour { unit, similarity: *similarity })
            })
            .map(Iterator::collect)
            .collect();
        let comparisons: Vec<Comparison<'_>> = batch
            .iter()
            .zip(&neighbours)
            .map(|((unit, _), neighbours)| Comparison { unit, neighbours })
            .collect();
        match self.parts.classifier.classify_batch(&comparisons).await {
            Ok(mut labels) => {
                // A classifier that breaks its contract must not shift the labels of other batches.
                labels.resize(comparisons.len(), Vec::new());
                Ok((labels, None))
            }
            Err(error) => {
                let (fallback, reason) = fallback::after(self.parts.fallback.as_ref(), error)?;
                let labels = fallback.classifier.classify_batch(&comparisons).await?;
                let units = comparisons.iter().map(|c| c.unit.id).collect();
                Ok((labels, Some(FallbackMark { step: FallbackStep::Relations(units), reason })))
            }
        }
    }

    /// The older units that the new unit at `position` is compared with, as they are now.
    fn older(&self, position: usize, changed: &BTreeMap<UnitId, Unit>) -> Result<Vec<(Unit, f32)>, Error> {
        let mut near = self.nearest(position)?;
        near.extend(self.of_interest(position, &near)?);
        let loaded = self.state.read();
        let current = |id: UnitId| {
            changed.get(&id).or_else(|| self.own.get(&id).copied()).or_else(|| loaded.corpus.unit(id))
        };
        Ok(near.iter().filter_map(|&(id, similarity)| Some((current(id)?.clone(), similarity))).collect())
    }

    /// The nearest older units, nearest first: from the index and from the same write.
    ///
    /// Looks at every older unit once, as an exact index does: `O(units * dim)`.
    fn nearest(&self, position: usize) -> Result<Vec<(UnitId, f32)>, Error> {
        let linking = &self.parts.config.linking;
        let query = self.rho[position];
        let allowed = |id: u64| {
            let (unit, view) = unit_view(id);
            view == RHO && !self.replaced.contains(&unit) && !self.later.contains(&unit)
        };
        let hits = self.state.search(self.parts, |loaded| {
            loaded.index().search(&query.values, linking.neighbours, Some(&allowed))
        })?;
        let mut near: Vec<(UnitId, f32)> =
            hits.into_iter().map(|hit| (unit_view(hit.id).0, hit.score)).collect();
        near.extend(self.rho[..position].iter().map(|v| (v.unit, dot(&v.values, &query.values))));
        near.retain(|(_, similarity)| *similarity >= linking.min_similarity);
        let nearer = |a: &(UnitId, f32), b: &(UnitId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if linking.neighbours > 0 && near.len() > linking.neighbours {
            near.select_nth_unstable_by(linking.neighbours - 1, nearer);
        }
        near.truncate(linking.neighbours);
        near.sort_by(nearer);
        Ok(near)
    }

    /// Older units that are not among the nearest, and may have a link all the same: those that share rare words, open
    /// plans of the same person, and what was said just before.
    fn of_interest(&self, position: usize, near: &[(UnitId, f32)]) -> Result<Vec<(UnitId, f32)>, Error> {
        let (linking, unit, query) = (&self.parts.config.linking, &self.units[position], self.rho[position]);
        let known = |id: &UnitId| {
            near.iter().any(|(n, _)| n == id) || self.replaced.contains(id) || self.later.contains(id)
        };
        let loaded = self.state.read();
        let mut by_words: Vec<(UnitId, f32)> =
            loaded.corpus.lexical(&unit.fact.claim).0.into_iter().collect();
        by_words.retain(|(id, _)| !known(id));
        by_words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        by_words.truncate(linking.by_words);
        let person = unit.fact.participants.first();
        let mut plans: Vec<UnitId> = loaded
            .corpus
            .units()
            .filter(|u| link::is_open(u) && u.fact.participants.first() == person)
            .map(|u| u.id)
            .collect();
        plans.retain(|id| !known(id));
        let plans = plans.iter().rev().take(linking.open_plans).copied();
        let wanted: BTreeSet<UnitId> = by_words.iter().map(|(id, _)| *id).chain(plans).collect();
        let mut found: Vec<(UnitId, f32)> = Vec::new();
        if !wanted.is_empty() {
            drop(loaded);
            let ids: Vec<u64> = wanted.iter().map(|&unit| vector_id(unit, RHO)).collect();
            let hits = self
                .state
                .search(self.parts, |loaded| loaded.index().search_among(&query.values, ids.len(), &ids))?;
            found.extend(hits.into_iter().map(|hit| (unit_view(hit.id).0, hit.score)));
        }
        let preceding = &self.rho[position.saturating_sub(linking.preceding)..position];
        let preceding = preceding.iter().filter(|v| !known(&v.unit));
        found.extend(preceding.map(|v| (v.unit, dot(&v.values, &query.values))));
        Ok(found)
    }
}

/// Whether `other` took place after `stored`; sessions without a time count as they came in.
fn is_later(other: &StoredSession, stored: &StoredSession) -> bool {
    let order = match (other.session.started_at, stored.session.started_at) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    };
    order.then(other.ordinal.cmp(&stored.ordinal)).is_gt()
}

/// Scalar product, in eight sums side by side: a single sum fixes an order that no vector instruction can keep.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for (x, y) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}
