//! Applies the changes of a reply to longitudinal memory, as far as units bear them out.

use std::collections::BTreeSet;

use fta_segment::SessionId;

use super::wire::{Op, ProfileChange, SupportChange};
use crate::{
    llm::{name_among, said},
    longitudinal::{Longitudinal, ProfileEntry, SupportEntry, SupportOutcome},
    offline::fuse::content_stems,
    text::same_name,
    unit::{Link, Relation, Unit, UnitId},
};

/// What a reply was asked about.
pub(super) struct Asked<'a> {
    pub(super) session: &'a SessionId,
    /// The units that were shown, by their number minus 1.
    pub(super) units: Vec<&'a Unit>,
    /// Positions in `U` of the entries that were shown, by their number minus 1.
    pub(super) profile: Vec<usize>,
    /// The same in `H`.
    pub(super) support: Vec<usize>,
    pub(super) links: &'a [Link],
}

impl<'a> Asked<'a> {
    /// The units of these numbers, by rising id; `None` if there are none or one of them was not shown.
    fn units(&self, numbers: &[u32]) -> Option<Vec<&'a Unit>> {
        let at = |number: &u32| self.units.get((*number as usize).checked_sub(1)?).copied();
        let mut units: Vec<&Unit> = numbers.iter().map(at).collect::<Option<_>>()?;
        units.sort_by_key(|unit| unit.id);
        units.dedup_by_key(|unit| unit.id);
        (!units.is_empty()).then_some(units)
    }

    /// The relations of the units to those that an entry rests on.
    fn relations(&self, units: &[&Unit], entry: &[UnitId]) -> impl Iterator<Item = Relation> {
        let between = |l: &&Link| units.iter().any(|u| u.id == l.from) && entry.contains(&l.to);
        self.links.iter().filter(between).map(|l| l.relation)
    }

    /// Applies the changes to `U`, in the order of the reply.
    pub(super) fn apply_profile(&self, memory: &mut Longitudinal, changes: &[ProfileChange]) {
        let mut removed: BTreeSet<usize> = BTreeSet::new();
        let mut added: Vec<ProfileEntry> = Vec::new();
        for change in changes {
            let Some(units) = self.units(&change.units) else { continue };
            let shown = number_to_index(change.entry, &self.profile);
            match (op_of(change.op, change.entry, &self.profile), shown) {
                (Op::Add, _) => added.extend(profile_entry(change, &units)),
                (Op::Replace, Some(at)) if !removed.contains(&at) => {
                    let Some(new) = profile_entry(change, &units) else { continue };
                    let entry = &memory.profile[at];
                    if !same_name(&new.person, &entry.person)
                        || holds(&memory.profile, &new)
                        || !self.touches(&units, &entry.person, &entry.text, &entry.units)
                    {
                        continue;
                    }
                    let entry = &mut memory.profile[at];
                    entry.text = new.text;
                    entry.topic = new.topic;
                    entry.last_said = entry.last_said.max(new.last_said);
                    join(&mut entry.units, &new.units);
                }
                (Op::Remove, Some(at)) => {
                    let entry = &memory.profile[at];
                    if self.denies(&units, &entry.person, &entry.units) {
                        removed.insert(at);
                    }
                }
                _ => {}
            }
        }
        let mut at = 0;
        memory.profile.retain(|_| {
            at += 1;
            !removed.contains(&(at - 1))
        });
        for entry in added {
            add_profile(&mut memory.profile, entry);
        }
        memory
            .profile
            .sort_by(|a, b| (&a.person, a.topic, a.units[0]).cmp(&(&b.person, b.topic, b.units[0])));
    }

    /// Applies the changes to `H`, in the order of the reply.
    pub(super) fn apply_support(&self, memory: &mut Longitudinal, changes: &[SupportChange]) {
        let mut removed: BTreeSet<usize> = BTreeSet::new();
        let mut added: Vec<SupportEntry> = Vec::new();
        for change in changes {
            let Some(units) = self.units(&change.units) else { continue };
            let shown = number_to_index(change.entry, &self.support);
            match (op_of(change.op, change.entry, &self.support), shown) {
                (Op::Add, _) => added.extend(self.support_entry(change, &units)),
                (Op::Replace, Some(at)) if !removed.contains(&at) => {
                    let entry = &mut memory.support[at];
                    if !names_person(&units, &entry.seeker)
                        || !self.touches(&units, &entry.seeker, &entry.attempt, &entry.units)
                    {
                        continue;
                    }
                    let outcome = SupportOutcome::from(change.outcome);
                    if outcome != SupportOutcome::Unknown {
                        entry.outcome = outcome;
                    }
                    let ids: Vec<UnitId> = units.iter().map(|u| u.id).collect();
                    join(&mut entry.units, &ids);
                }
                (Op::Remove, Some(at)) => {
                    let entry = &memory.support[at];
                    if self.denies(&units, &entry.seeker, &entry.units) {
                        removed.insert(at);
                    }
                }
                _ => {}
            }
        }
        let mut at = 0;
        memory.support.retain(|_| {
            at += 1;
            !removed.contains(&(at - 1))
        });
        for entry in added {
            let same = |known: &&SupportEntry| {
                same_name(&known.seeker, &entry.seeker) && same_text(&known.attempt, &entry.attempt)
                    || known.units == entry.units
            };
            if !memory.support.iter().any(|known| same(&known)) {
                memory.support.push(entry);
            }
        }
    }

    /// Whether the units can be a reason to drop what an entry says: they speak of the same person and are linked to what it
    /// rests on as what changes it. An order in the dialogue to forget something is not.
    fn denies(&self, units: &[&Unit], person: &str, entry: &[UnitId]) -> bool {
        let changes = |relation: Relation| {
            matches!(relation, Relation::Update | Relation::Contradiction | Relation::FollowUp)
        };
        names_person(units, person) && self.relations(units, entry).any(changes)
    }

    /// Whether the units speak of what an entry is about.
    fn touches(&self, units: &[&Unit], person: &str, text: &str, entry: &[UnitId]) -> bool {
        self.relations(units, entry).next().is_some() || shared_stems(units, person, text) >= 1
    }

    fn support_entry(&self, change: &SupportChange, units: &[&Unit]) -> Option<SupportEntry> {
        let attempt = said(&change.attempt)?;
        let names: Vec<&str> = units.iter().flat_map(|u| &u.fact.participants).map(String::as_str).collect();
        let seeker = name_among(&change.seeker, &distinct(&names))?;
        (shared_stems(units, seeker, attempt) >= 1).then(|| SupportEntry {
            session: self.session.clone(),
            seeker: seeker.to_owned(),
            attempt: attempt.to_owned(),
            outcome: change.outcome.into(),
            units: units.iter().map(|u| u.id).collect(),
            said_at: units[0].time.said_at,
        })
    }
}

/// What is meant: to replace nothing is to add.
fn op_of(op: Op, entry: Option<u32>, shown: &[usize]) -> Op {
    if op == Op::Replace && (entry.is_none() || shown.is_empty()) { Op::Add } else { op }
}

fn number_to_index(number: Option<u32>, shown: &[usize]) -> Option<usize> {
    shown.get((number? as usize).checked_sub(1)?).copied()
}

/// The entry that a change describes, if its units bear it out: they speak of the person and share a word with the text.
fn profile_entry(change: &ProfileChange, units: &[&Unit]) -> Option<ProfileEntry> {
    let text = said(&change.text)?;
    let participants = units.iter().flat_map(|u| &u.fact.participants);
    let names: Vec<&str> =
        participants.chain(units.iter().flat_map(|u| &u.fact.mentioned)).map(String::as_str).collect();
    let person = name_among(&change.person, &distinct(&names))?;
    (shared_stems(units, person, text) >= 1).then(|| ProfileEntry {
        person: person.to_owned(),
        topic: change.topic.into(),
        text: text.to_owned(),
        units: units.iter().map(|u| u.id).collect(),
        last_said: units.iter().filter_map(|u| u.time.said_at).max(),
    })
}

/// Adds an entry, or its units to the one that says the same.
fn add_profile(profile: &mut Vec<ProfileEntry>, entry: ProfileEntry) {
    let same = |known: &&mut ProfileEntry| {
        same_name(&known.person, &entry.person) && same_text(&known.text, &entry.text)
    };
    match profile.iter_mut().find(same) {
        Some(known) => {
            join(&mut known.units, &entry.units);
            known.last_said = known.last_said.max(entry.last_said);
        }
        None => profile.push(entry),
    }
}

/// Whether an entry says this already and rests on these units.
fn holds(profile: &[ProfileEntry], entry: &ProfileEntry) -> bool {
    profile.iter().any(|known| {
        same_name(&known.person, &entry.person)
            && same_text(&known.text, &entry.text)
            && entry.units.iter().all(|unit| known.units.contains(unit))
    })
}

/// The same words that say something, in whatever order.
fn same_text(a: &str, b: &str) -> bool {
    a.trim().eq_ignore_ascii_case(b.trim()) || {
        let (a, b) = (content_stems(a, &[]), content_stems(b, &[]));
        !a.is_empty() && a == b
    }
}

fn names_person(units: &[&Unit], person: &str) -> bool {
    let lower = person.trim().to_lowercase();
    units.iter().any(|unit| {
        unit.fact.participants.iter().chain(&unit.fact.mentioned).any(|p| same_name(p, person))
            || !lower.is_empty() && unit.fact.claim.to_lowercase().contains(&lower)
    })
}

/// Number of words that a text shares with the claims, the person's name left out.
fn shared_stems(units: &[&Unit], person: &str, text: &str) -> usize {
    let without = [person.to_owned()];
    let wanted = content_stems(text, &without);
    let mut claimed: BTreeSet<String> = BTreeSet::new();
    for unit in units {
        claimed.extend(content_stems(&unit.fact.claim, &without));
    }
    wanted.intersection(&claimed).count()
}

fn distinct<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut out: Vec<&str> = Vec::new();
    for name in names {
        if !out.iter().any(|known| same_name(known, name)) {
            out.push(name);
        }
    }
    out
}

fn join(units: &mut Vec<UnitId>, more: &[UnitId]) {
    units.extend(more);
    units.sort_unstable();
    units.dedup();
}
