//! A [`LongitudinalUpdater`] without a model: sentence patterns over the claims, and cue words for outcomes.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use async_trait::async_trait;
use fta_segment::SessionId;
use regex::Regex;

use super::{
    Longitudinal, LongitudinalError, LongitudinalUpdater, ProfileEntry, ProfileTopic, SupportEntry,
    SupportOutcome, remove_units,
};
use crate::{
    link,
    text::{Reading, same_name, sentences},
    unit::{Link, Relation, SituationType, Unit, UnitId},
};

/// Takes stable facts and support attempts from units by general patterns of English.
///
/// A sentence of a claim that fits a pattern ("works as", "lives in", "has a dog", "wants to") becomes a profile entry
/// of the first participant. Sentences that say the same of the same person become one entry, with the newest wording.
/// An entry whose unit is updated goes if the newer unit is about the same. Questions, past habits and guesses are
/// left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleUpdater;

/// Share of the stems of both sentences from which they say the same.
const SAME_FACT: f32 = 0.5;
/// Turns after an attempt in which an answer to it is looked for.
const ANSWER_TURNS: u32 = 8;

/// Patterns over lower-case text, the first that fits gives the topic.
static PATTERNS: LazyLock<Vec<(ProfileTopic, Regex)>> = LazyLock::new(|| {
    const ONE: &str = r"(?:an?|two|three|four|five|several|some|many|his|her|their|my|\d+)";
    let patterns = [
        (
            ProfileTopic::Goal,
            r"\b(?:wants? to|hopes? to|aims? to|would (?:like|love) to|dreams of|dreaming of|dream is|goal is|saving up for|working towards?)\b".to_owned(),
        ),
        (
            ProfileTopic::Health,
            r"\b(?:diagnosed with|suffer(?:s|ing)? from|allergic to|in therapy|on medication|sees a therapist|has (?:an? |chronic |severe )*(?:allerg|asthma|diabetes|depression|insomnia|migraine|anemia|arthritis|epilepsy|adhd|anxiety|cancer|high blood pressure)|is (?:disabled|pregnant|diabetic|asthmatic|depressed))".to_owned(),
        ),
        (
            ProfileTopic::Relationship,
            format!(
                r"\b(?:(?:is|was|got|been|are) (?:married|engaged|divorced|dating|single|widowed|separated)|married to|has {ONE} (?:\w+ )?(?:kids?|child(?:ren)?|sons?|daughters?|sisters?|brothers?|siblings?|girlfriend|boyfriend|wife|husband|partner|flatmates?|friends?|twins?|nieces?|nephews?|grandchild(?:ren)?)\b|(?:'s|his|her|my|their) (?:\w+ )?(?:sister|brother|mother|mom|mum|father|dad|wife|husband|partner|boyfriend|girlfriend|son|daughter|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|best friend|roommate|boss)(?: \w+)? (?:is|are|has|lives?|works?)\b|(?:'s|his|her|my|their) (?:flatmate|housemate|roommate) \w+)"
            ),
        ),
        (
            ProfileTopic::Occupation,
            r"\b(?:(?:works?|working) (?:as|at|for|in)\b|is (?:an? )?(?:\w+ )?(?:student|teacher|nurse|doctor|engineer|lawyer|designer|writer|artist|musician|manager|programmer|developer|chef|cook|baker|accountant|scientist|researcher|journalist|photographer|therapist|counselor|social worker|electrician|carpenter|plumber|mechanic|driver|farmer|pilot|librarian|cashier|waiter|waitress|salesperson|consultant|entrepreneur|soldier|firefighter|police officer|pharmacist|dentist|psychologist|architect|translator|retired|unemployed)\b|(?:studies|studying|majors? in|majoring in) \w|(?:lost|quit|left) (?:his|her|their|my|the) job|(?:his|her|their|my|'s) (?:job|career|profession) is\b|runs (?:an? |his |her |their )(?:own )?(?:\w+ )?(?:business|shop|store|studio|company|restaurant|cafe|bakery)\b)".to_owned(),
        ),
        (
            ProfileTopic::Place,
            r"\b(?:lives?|living|resides?|moved|grew up|was born|born|is based|comes?|is originally|is) (?:in|to|from|near)\b".to_owned(),
        ),
        (
            ProfileTopic::Possession,
            format!(
                r"\b(?:has|have|owns?|adopted|bought|got) {ONE} (?:\w+ ){{0,2}}(?:dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|birds?|parrots?|horses?|rabbits?|hamsters?|fish|turtles?|cars?|bikes?|bicycles?|motorcycles?|boats?|vans?|trucks?|houses?|apartments?|flats?|cabins?|gardens?|guitars?|pianos?|violins?|cellos?|cameras?|telescopes?)\b"
            ),
        ),
        (
            ProfileTopic::Preference,
            r"\b(?:goes \w+ing|times a (?:week|month)|joined an? (?:\w+ )?(?:choir|club|team|class|band|gym|group)|likes|loves|enjoys|hates|dislikes|prefers|adores|(?:i|we|they|really|also|still|always) (?:like|love|enjoy|hate|dislike|prefer|adore)|favou?rite|fan of|can't stand|can not stand|is (?:really )?(?:into|fond of|passionate about)|(?:does not|doesn't) (?:like|enjoy|eat|drink)|is (?:an? )?(?:vegetarian|vegan))\b".to_owned(),
        ),
        (
            ProfileTopic::Belief,
            r"\b(?:believes? (?:that|in)|is convinced|(?:sees|considers) (?:him|her|them)sel(?:f|ves)|thinks of (?:him|her|them)sel(?:f|ves)|is (?:religious|an atheist|catholic|muslim|jewish|buddhist|hindu|christian))\b".to_owned(),
        ),
    ];
    let compiled =
        patterns.into_iter().map(|(topic, p)| (topic, Regex::new(&p).expect("the pattern is a constant")));
    compiled.collect()
});

/// Sentences that state no lasting fact.
const UNSTABLE: &[&str] = &[
    "used to",
    "no longer",
    "anymore",
    "any more",
    "maybe",
    "perhaps",
    "might",
    "if",
    "would be",
    "not sure",
    "wonders",
    "wondering",
    "dreamed that",
    "pretended",
];

/// Words of a plan for the next days, which is no goal that lasts.
const SOON: &[&str] = &[
    "today",
    "tonight",
    "tomorrow",
    "this weekend",
    "this week",
    "next week",
    "next weekend",
    "soon",
    "later today",
    "this evening",
    "this afternoon",
];

/// Wishes of others, which are no goal of the speaker; and idioms that hold no wish.
const OTHERS: &[&str] = &[
    "they want",
    "he wants",
    "she wants",
    "they want to",
    "want me to",
    "wants me to",
    "sleep on it",
    "want to say",
    "want to know",
];

const DID_NOT_HELP: &[&str] = &[
    "didn't help",
    "did not help",
    "doesn't help",
    "does not help",
    "not helpful",
    "didn't work",
    "did not work",
    "doesn't work",
    "does not work",
    "no use",
    "useless",
    "refused",
    "refuses",
    "rejects",
    "rejected",
    "won't",
    "can't do",
    "cannot do",
    "not ready",
    "doesn't want",
    "does not want",
    "don't want",
    "already tried",
    "tried that",
    "made it worse",
    "made things worse",
    "not interested",
    "doubts",
    "declined",
    "declines",
    "skeptical",
    "sceptical",
    "disagrees",
];

const HELPED: &[&str] = &[
    "helped",
    "helps",
    "helpful",
    "worked",
    "works well",
    "feels better",
    "feel better",
    "felt better",
    "feeling better",
    "relieved",
    "relief",
    "useful",
    "made a difference",
    "calmer",
    "comforted",
    "encouraged",
    "reassured",
    "took the advice",
    "followed the advice",
];

const AGREED: &[&str] = &[
    "will try",
    "going to try",
    "wants to try",
    "gives it a try",
    "give it a try",
    "i'll try",
    "good idea",
    "great idea",
    "agrees",
    "agreed",
    "agree",
    "sounds good",
    "will do",
    "promises",
    "promised",
    "considers",
    "plans to try",
    "thank",
    "thanks",
    "thanked",
    "thankful",
    "grateful",
    "appreciates",
    "appreciate",
    "appreciated",
];

const CARRIED_OUT: &[&str] =
    &["tried", "did", "went", "called", "started", "talked", "wrote", "spoke", "done"];

#[async_trait]
impl LongitudinalUpdater for RuleUpdater {
    fn id(&self) -> &'static str {
        "longitudinal-rules/1"
    }

    async fn update(
        &self,
        current: &Longitudinal,
        session: &SessionId,
        units: &[Unit],
        links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError> {
        Ok(self.apply(current, session, units, links))
    }

    async fn rederive(
        &self,
        current: &Longitudinal,
        deleted: &[UnitId],
        remaining: &[Unit],
        links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError> {
        Ok(self.reapply(current, deleted, remaining, links))
    }
}

impl RuleUpdater {
    /// What [`LongitudinalUpdater::update`] gives, without waiting.
    pub fn apply(
        &self,
        current: &Longitudinal,
        session: &SessionId,
        units: &[Unit],
        links: &[Link],
    ) -> Longitudinal {
        let mut by_newer: BTreeMap<UnitId, Vec<&Link>> = BTreeMap::new();
        for link in links {
            by_newer.entry(link.from).or_default().push(link);
        }
        let links_from = |id: UnitId| by_newer.get(&id).map_or(&[][..], Vec::as_slice);
        let mut profile: Vec<Noted> = current.profile.iter().cloned().map(Noted::new).collect();
        for unit in units {
            let facts = facts(unit);
            let updates = links_from(unit.id).iter().filter(|l| l.relation == Relation::Update);
            let updated: BTreeSet<UnitId> = updates.map(|l| l.to).collect();
            if !updated.is_empty() {
                profile.retain(|noted| !is_replaced(noted, unit, &facts, &updated));
            }
            for fact in facts {
                merge(&mut profile, fact);
            }
        }
        let mut profile: Vec<ProfileEntry> = profile.into_iter().map(|noted| noted.entry).collect();
        profile.sort_by(|a, b| (&a.person, a.topic, a.units[0]).cmp(&(&b.person, b.topic, b.units[0])));
        let mut support = current.support.clone();
        for unit in units {
            note_outcome(&mut support, unit, links_from(unit.id));
        }
        let mut known: BTreeSet<UnitId> = support.iter().flat_map(|e| e.units.iter().copied()).collect();
        for (position, unit) in units.iter().enumerate() {
            if known.contains(&unit.id) {
                continue;
            }
            if let Some(entry) = attempt(unit, session, units, position) {
                known.extend(&entry.units);
                support.push(entry);
            }
        }
        Longitudinal { profile, support }
    }

    /// `current` after units were deleted: entries that rested on them are made again from what `remaining` says.
    ///
    /// What [`LongitudinalUpdater::rederive`] gives, without waiting. Only units that lost an entry are looked at.
    pub fn reapply(
        &self,
        current: &Longitudinal,
        deleted: &[UnitId],
        remaining: &[Unit],
        links: &[Link],
    ) -> Longitudinal {
        let mut result = remove_units(current, deleted);
        let named = |l: &Longitudinal| -> BTreeSet<UnitId> {
            let profile = l.profile.iter().flat_map(|e| e.units.iter().copied());
            profile.chain(l.support.iter().flat_map(|e| e.units.iter().copied())).collect()
        };
        let orphans = &named(current) - &named(&result);
        let mut units: Vec<Unit> = remaining
            .iter()
            .filter(|u| orphans.contains(&u.id) && !deleted.contains(&u.id))
            .cloned()
            .collect();
        units.sort_by_key(|u| u.id);
        for group in units.chunk_by(|a, b| a.evidence.session == b.evidence.session) {
            result = self.apply(&result, &group[0].evidence.session, group, links);
        }
        result
    }
}

/// A profile entry, whose text is taken apart once at most.
struct Noted {
    entry: ProfileEntry,
    reading: OnceCell<Reading>,
}

impl Noted {
    fn new(entry: ProfileEntry) -> Self {
        Self { entry, reading: OnceCell::new() }
    }

    fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| Reading::new(&self.entry.text, [self.entry.person.as_str()]))
    }
}

/// The profile entries that one unit gives on its own.
fn facts(unit: &Unit) -> Vec<ProfileEntry> {
    let Some(person) = unit.fact.participants.first() else { return Vec::new() };
    if matches!(unit.fact.situation, SituationType::SupportInteraction)
        || unit.lifecycle.superseded_by.is_some()
    {
        return Vec::new();
    }
    let entry = |sentence: &str| {
        let lower = sentence.to_lowercase().replace('’', "'");
        let reading = Reading::new(sentence, []);
        // A question that is quoted with its answer is no statement of the person.
        if reading.asks || sentence.starts_with("Asked \"") || reading.has_any(UNSTABLE) {
            return None;
        }
        let (topic, _) = PATTERNS.iter().find(|(_, pattern)| pattern.is_match(&lower))?;
        let topic =
            if unit.fact.situation == SituationType::BeliefCandidate { ProfileTopic::Belief } else { *topic };
        if topic == ProfileTopic::Goal && (reading.has_any(SOON) || reading.has_any(OTHERS)) {
            return None;
        }
        let named = lower.contains(&person.to_lowercase());
        let text = if named { sentence.to_owned() } else { format!("{person}: {sentence}") };
        Some(ProfileEntry {
            person: person.clone(),
            topic,
            text,
            units: vec![unit.id],
            last_said: unit.time.said_at,
        })
    };
    sentences(&unit.fact.claim).filter_map(entry).collect()
}

/// Whether `unit`, which updates the units `updated`, takes the place of an entry.
fn is_replaced(noted: &Noted, unit: &Unit, facts: &[ProfileEntry], updated: &BTreeSet<UnitId>) -> bool {
    let entry = &noted.entry;
    if !entry.units.iter().any(|u| updated.contains(u)) {
        return false;
    }
    let same_topic = facts.iter().any(|f| f.topic == entry.topic && same_name(&f.person, &entry.person));
    same_topic || Reading::new(&unit.fact.claim, [entry.person.as_str()]).shared(noted.reading()) >= 1
}

/// Adds a fact, or joins it to the entry that says the same.
fn merge(profile: &mut Vec<Noted>, fact: ProfileEntry) {
    let fact = Noted::new(fact);
    let says_the_same = |known: &Noted| {
        if known.entry.topic != fact.entry.topic || !same_name(&known.entry.person, &fact.entry.person) {
            return false;
        }
        let (old, new) = (known.reading(), fact.reading());
        old.negated == new.negated
            && !old.counts_differ(new)
            && (old.jaccard(new) >= SAME_FACT || old.shared(new) >= 2 && old.overlap(new) >= 0.99)
    };
    let Some(position) = profile.iter().position(says_the_same) else {
        profile.push(fact);
        return;
    };
    let known = &mut profile[position];
    let Noted { entry: fact, reading } = fact;
    // Ids are given in the order of saying, so the largest has the newest wording.
    if known.entry.units.iter().all(|u| *u <= fact.units[0]) {
        known.entry.text = fact.text;
        known.entry.last_said = fact.last_said.max(known.entry.last_said);
        // Names are compared without case, and so are the words that a reading leaves out.
        known.reading = reading;
    }
    known.entry.units.extend(fact.units);
    known.entry.units.sort_unstable();
    known.entry.units.dedup();
}

/// The support attempt that `units[position]` is, if it is one and the other person is known.
fn attempt(unit: &Unit, session: &SessionId, units: &[Unit], position: usize) -> Option<SupportEntry> {
    if unit.fact.situation != SituationType::SupportInteraction || Reading::new(&unit.fact.claim, []).asks {
        return None;
    }
    // "Robin can imagine" tries nothing.
    if !link::is_said_for_support(unit) {
        return None;
    }
    let giver = giver(unit)?;
    let seeker = seeker(unit, giver, units)?;
    let mut entry = SupportEntry {
        session: session.clone(),
        seeker: seeker.to_owned(),
        attempt: unit.fact.claim.clone(),
        outcome: SupportOutcome::Unknown,
        units: vec![unit.id],
        said_at: unit.time.said_at,
    };
    // The exchange may hold the answer already. An answer comes first in what is said; the rest is news.
    let own = sentences(&unit.fact.claim).skip(1).find_map(|s| says(s, seeker).then(|| outcome(s)).flatten());
    let turns = unit.evidence.turns;
    let answers = units[position + 1..].iter().filter(|other| {
        other.evidence.session == unit.evidence.session
            && other.evidence.turns.start < turns.end + ANSWER_TURNS
            && other.fact.situation != SituationType::SupportInteraction
            && other.fact.participants.first().is_some_and(|p| same_name(p, seeker))
    });
    let found = own.map(|o| (o, unit.id)).or_else(|| {
        let mut answers =
            answers.filter_map(|other| Some((outcome(sentences(&other.fact.claim).next()?)?, other.id)));
        answers.next()
    });
    if let Some((outcome, id)) = found {
        entry.outcome = outcome;
        entry.units.push(id);
        entry.units.dedup();
    }
    Some(entry)
}

/// A follow-up on an attempt of an earlier session tells how it went. `links`: those from the unit.
fn note_outcome(support: &mut [SupportEntry], unit: &Unit, links: &[&Link]) {
    let followed: BTreeSet<UnitId> =
        links.iter().filter(|l| l.relation == Relation::FollowUp).map(|l| l.to).collect();
    if followed.is_empty() {
        return;
    }
    let words = Reading::new(&unit.fact.claim, []);
    for entry in support.iter_mut().filter(|e| followed.contains(&e.units[0]) && !e.units.contains(&unit.id))
    {
        let by_seeker = unit.fact.participants.first().is_some_and(|p| same_name(p, &entry.seeker));
        let found = outcome(&unit.fact.claim)
            .filter(|o| *o != SupportOutcome::Agreed)
            .or_else(|| (!words.negated && words.has_any(CARRIED_OUT)).then_some(SupportOutcome::Helped));
        if let Some(found) = found.filter(|_| by_seeker && !words.asks) {
            entry.outcome = found;
            entry.units.push(unit.id);
        }
    }
}

/// How an answer takes an attempt; refusal is looked for first, since "did not help" holds "help".
fn outcome(answer: &str) -> Option<SupportOutcome> {
    let words = Reading::new(answer, []);
    if words.asks {
        return None;
    }
    if words.has_any(DID_NOT_HELP) {
        return Some(SupportOutcome::DidNotHelp);
    }
    if words.has_any(HELPED) && !words.negated {
        return Some(SupportOutcome::Helped);
    }
    (words.has_any(AGREED) && !words.negated).then_some(SupportOutcome::Agreed)
}

fn says(sentence: &str, person: &str) -> bool {
    sentence.to_lowercase().contains(&person.to_lowercase())
}

/// The participant who is named first in the claim, else the first.
fn giver(unit: &Unit) -> Option<&str> {
    let claim = unit.fact.claim.to_lowercase();
    let named = unit.fact.participants.iter().filter_map(|p| Some((claim.find(&p.to_lowercase())?, p)));
    let first = named.min_by_key(|(at, _)| *at).map(|(_, p)| p);
    first.or(unit.fact.participants.first()).map(String::as_str)
}

/// The other participant; else the one other person of the session's units, if there is just one.
fn seeker<'a>(unit: &'a Unit, giver: &str, units: &'a [Unit]) -> Option<&'a str> {
    if let Some(other) = unit.fact.participants.iter().find(|p| !same_name(p, giver)) {
        return Some(other);
    }
    let mut others = units.iter().flat_map(|u| &u.fact.participants).filter(|p| !same_name(p, giver));
    let first = others.next()?;
    others.all(|p| same_name(p, first)).then_some(first.as_str())
}

#[cfg(test)]
mod tests;
