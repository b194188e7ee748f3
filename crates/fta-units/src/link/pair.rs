//! The rules of one pair of units.

use super::{
    Neighbour,
    effect::{is_open, same_subject},
    rules::LinkRules,
    statement::{Sentence, Statement, is_specific, names},
    words::{
        ADVICE, AS_PLANNED, ASK, CHANGE, COMFORT, ENDED, JOB, NO_PLAN, NOW, OPPOSITES, PLAN, REPORT,
        REVERSAL, SLOTS,
    },
};
use crate::{
    text::{Reading, same_name},
    time::DateInterval,
    unit::{Completion, SituationType, TimeOrientation, Unit},
};

/// Days of a planned time from which it is too vague to tell by it that the plan was carried out.
const VAGUE_DAYS: i64 = 8;

/// A newer and an older unit with a person in common.
pub(super) struct Pair<'a> {
    rules: LinkRules,
    newer: &'a Unit,
    older: &'a Unit,
    similarity: f32,
    new: Statement,
    old: Statement,
    same_subject: bool,
    later_day: bool,
}

impl<'a> Pair<'a> {
    /// `None` if the two have nobody in common.
    pub(super) fn new(newer: &'a Unit, neighbour: Neighbour<'a>, rules: LinkRules) -> Option<Self> {
        let older = neighbour.unit;
        let common = people(newer).any(|a| people(older).any(|b| same_name(a, b)));
        let one_session = newer.evidence.session == older.evidence.session;
        if newer.id == older.id || !(common || one_session && comforts(newer)) {
            return None;
        }
        // A name that one of the two mentions is no topic in the other either.
        let names = names(newer, older);
        let days = [newer, older].map(|u| u.time.said_at.map(jiff::civil::DateTime::date));
        Some(Self {
            rules,
            newer,
            older,
            // NaN compares false with every threshold, so it counts as not similar.
            similarity: neighbour.similarity,
            new: Statement::new(newer, &names),
            old: Statement::new(older, &names),
            same_subject: same_subject(newer, older),
            later_day: matches!(days, [Some(new), Some(old)] if new > old),
        })
    }

    pub(super) fn follows_up(&self) -> bool {
        let open = is_open(self.older);
        let advised = !open && self.is_advice_to_newer();
        if !(open || advised) || self.told_before() {
            return false;
        }
        let asks = self.new.asks() || self.new.question.as_ref().is_some_and(|q| q.has_any(ASK));
        let reports = self.newer.time.orientation == TimeOrientation::Past
            || matches!(self.newer.time.completion, Completion::Completed | Completion::Cancelled)
            || self.new.said.has_any(REPORT);
        if !(reports || asks) || self.newer.time.orientation == TimeOrientation::Future {
            return false;
        }
        if is_open(self.newer) && !asks {
            return false;
        }
        if !(self.same_subject || advised || self.new.asks()) {
            return false;
        }
        if asks && !advised && self.asks_about_plan() {
            return true;
        }
        let later = self.newer.evidence.session != self.older.evidence.session && self.later_day;
        reports && later && !self.new.asks() && if advised { self.took_advice() } else { self.carries_out() }
    }

    /// The question names what was planned, and little else.
    fn asks_about_plan(&self) -> bool {
        let own = self.new.sentences.iter().filter(|s| s.reading.asks).map(|s| &s.reading);
        own.chain(&self.new.question).any(|question| {
            let about: Vec<&String> = question.content.iter().filter(|stem| is_specific(stem)).collect();
            let least = if question.has_any(ASK) { 1 } else { 2 };
            let planned =
                self.plans().any(|old| about.iter().all(|stem| old.reading.content.contains(*stem)));
            about.len() >= least && planned && self.similarity >= self.rules.topic_similarity
        })
    }

    /// Sentences of the older unit that say what somebody means to do.
    fn plans(&self) -> impl Iterator<Item = &Sentence> {
        self.old.sentences.iter().filter(|s| s.reading.has_any(PLAN) && !s.reading.has_any(NO_PLAN))
    }

    /// The report is of the planned thing, or of the planned time.
    fn carries_out(&self) -> bool {
        let at_its_time = self.times_meet()
            && [self.newer, self.older].iter().all(|u| interval(u).is_some_and(|i| i.days() <= VAGUE_DAYS));
        let alike = self.similarity >= self.rules.topic_similarity;
        self.plans().any(|old| {
            self.new.sentences.iter().any(|new| {
                let (specific, overlap) = (new.specific(old), new.reading.overlap(&old.reading));
                specific >= 1 && (at_its_time && overlap >= 0.2 || alike && new.reading.has_any(AS_PLANNED))
                    || alike
                        && reports(new, self.newer)
                        && (specific >= 2 && overlap >= 0.5
                            || specific >= 3 && overlap >= self.rules.topic_overlap)
            })
        })
    }

    /// What was advised is done.
    fn took_advice(&self) -> bool {
        self.new.specific(&self.old) >= 1 && self.similarity >= self.rules.topic_similarity
    }

    /// The older unit is advice of somebody else to the person whom the newer is about.
    fn is_advice_to_newer(&self) -> bool {
        self.older.fact.situation == SituationType::SupportInteraction
            && !self.same_subject
            && self.newer.fact.situation != SituationType::SupportInteraction
            && (self.old.said.has_any(ADVICE) || self.old.asks())
    }

    /// The newer unit tells of a time before the plan was made.
    fn told_before(&self) -> bool {
        let said = self.older.time.said_at.map(jiff::civil::DateTime::date);
        matches!((interval(self.newer), said), (Some(told), Some(said)) if told.last < said)
    }

    pub(super) fn supports(&self) -> bool {
        let needs = self.older.fact.situation == SituationType::RiskSignal
            || self.older.fact.situation != SituationType::SupportInteraction
                && self.older.affect.emotions.iter().any(|e| !GLAD.contains(&e.as_str()));
        if !comforts(self.newer) || !needs || self.same_subject {
            return false;
        }
        // Without a named person it is not known whom the support is for.
        let Some(seeker) = self.older.fact.participants.first() else { return false };
        let for_them = self.newer.fact.participants.iter().any(|p| same_name(p, seeker));
        let near = self.newer.evidence.session == self.older.evidence.session && {
            let (new, old) = (self.newer.evidence.turns, self.older.evidence.turns);
            new.start.saturating_sub(old.end.saturating_sub(1)) <= self.rules.support_distance
                && new.end >= old.start
        };
        let about_the_same = self.similarity >= self.rules.restated_similarity
            && self.sentence_pairs().any(|(new, old)| new.specific(old) >= 2);
        (for_them || self.newer.fact.participants.len() < 2) && (near || about_the_same)
    }

    pub(super) fn updates(&self) -> bool {
        if self.new.asks() || self.old.asks() || !self.same_subject {
            return false;
        }
        let by_change = self
            .sentence_pairs()
            .any(|(new, old)| changes(new) && !changes(old) && self.same_matter(new, old));
        if by_change || self.later_day && (self.other_value(false) || self.gives_up_job() || self.reverses())
        {
            return true;
        }
        // What happened once is not undone by what happened another time.
        is_state(self.newer)
            && is_state(self.older)
            && self.sentence_pairs().any(|(new, old)| {
                (self.later_day || new.reading.has_any(NOW))
                    && (denies(new, old) || opposes(new, old) || other_count(new, old))
            })
    }

    pub(super) fn contradicts(&self) -> bool {
        if self.new.asks() || self.old.asks() || [self.newer, self.older].iter().any(|u| comforts(u)) {
            return false;
        }
        if self.breaks_word() {
            return true;
        }
        // Of two people that speak of other things in the same words, neither denies the other.
        let speaks_of =
            |person: &String| self.newer.fact.claim.to_lowercase().contains(&person.to_lowercase());
        if !self.same_subject && !self.older.fact.participants.first().is_some_and(speaks_of) {
            return false;
        }
        // Past events at different times do not exclude each other, nor do plans; a change is none either.
        if self.new.said.has_any(CHANGE) || self.old.said.has_any(CHANGE) || self.times_apart() {
            return false;
        }
        let events = [self.newer, self.older].iter().any(|u| u.fact.situation == SituationType::Event);
        if events && !self.times_meet() {
            return false;
        }
        self.same_subject && self.other_value(true)
            || self
                .sentence_pairs()
                .any(|(new, old)| denies(new, old) || opposes(new, old) || other_count(new, old))
    }

    pub(super) fn tells_the_same(&self) -> bool {
        if !self.same_subject || self.times_apart() || self.new.asks() || self.old.asks() {
            return false;
        }
        if [self.newer, self.older].iter().any(|u| comforts(u)) || self.differs() {
            return false;
        }
        if self.refers_back() {
            return true;
        }
        let (new, old) = (&self.new.said, &self.old.said);
        if new.negated != old.negated || !self.same_details() {
            return false;
        }
        let alike = self.similarity >= self.rules.same_similarity;
        let words = new.shared(old) >= 2 && new.overlap(old) >= self.rules.same_overlap;
        let one_session = self.newer.evidence.session == self.older.evidence.session;
        // People do the same thing again: without a time in common, an event must be the same in both ways.
        if is_state(self.older) || self.times_meet() || one_session {
            alike && (words || new.jaccard(old) >= 0.3)
                || words && self.similarity >= self.rules.restated_similarity
        } else {
            alike && words
        }
    }

    /// Most of what the shorter of the two is about is in the other too.
    fn same_details(&self) -> bool {
        let about = |s: &Statement| s.said.content.iter().filter(|stem| is_specific(stem)).count();
        let shared = self.new.said.content.intersection(&self.old.said.content);
        let shared = shared.filter(|stem| is_specific(stem)).count();
        let shorter = about(&self.new).min(about(&self.old));
        (shared >= 2 || shared == 1 && about(&self.new).max(about(&self.old)) <= 2)
            && shared * 3 >= shorter * 2
    }

    /// The newer unit takes an event as known ("the fight") that the older one tells of ("a fight").
    fn refers_back(&self) -> bool {
        let common_name = |name: &String| {
            let known = self.older.fact.mentioned.iter().any(|m| same_name(m, name));
            known && name.starts_with(char::is_uppercase) && !name.contains(' ')
        };
        let with_whom = self.newer.fact.mentioned.iter().any(common_name);
        with_whom
            && self.similarity >= self.rules.topic_similarity
            && self.sentence_pairs().any(|(new, old)| {
                new.reading.content.intersection(&old.reading.content).any(|stem| {
                    is_specific(stem)
                        && after_article(&new.text, stem, &["the", "that", "this"])
                        && after_article(&old.text, stem, &["a", "an"])
                })
            })
    }

    /// A denial, an opposite or another count between any two sentences.
    fn differs(&self) -> bool {
        self.other_value(false)
            || self.sentence_pairs().any(|(new, old)| {
                denies(new, old) || opposes(new, old) || new.reading.counts_differ(&old.reading)
            })
    }

    fn sentence_pairs(&self) -> impl Iterator<Item = (&Sentence, &Sentence)> {
        self.new.sentences.iter().flat_map(|new| self.old.sentences.iter().map(move |old| (new, old)))
    }

    /// Two sentences about one matter.
    fn same_matter(&self, new: &Sentence, old: &Sentence) -> bool {
        let (shared, specific) = (new.reading.shared(&old.reading), new.specific(old));
        let overlap = new.reading.overlap(&old.reading);
        specific >= 1
            && (shared >= 2 && overlap >= 0.5
                || specific >= 1
                    && new.reading.content.len().max(old.reading.content.len()) <= SHORT
                    && overlap >= self.rules.same_overlap
                    && self.similarity >= self.rules.topic_similarity)
    }

    /// What was never to be done is done.
    fn breaks_word(&self) -> bool {
        self.same_subject
            && self.later_day
            && self.old.sentences.iter().any(|old| {
                let vows =
                    old.reading.has_any(&["would never", "will never", "never going to", "won't ever"])
                        || old.text.contains("'d never")
                        || old.text.contains("'ll never");
                let vowed: Vec<&String> = old.reading.denied.iter().filter(|s| is_specific(s)).collect();
                vows && !vowed.is_empty()
                    && self.new.sentences.iter().any(|new| {
                        !new.reading.negated && vowed.iter().all(|stem| new.reading.content.contains(*stem))
                    })
            })
    }

    /// The older unit tells of a job, the newer of giving one up.
    fn gives_up_job(&self) -> bool {
        let left = |s: &Sentence| {
            !s.reading.negated
                && s.reading.content.contains("quit")
                && !s.reading.has_any(&["stop", "would", "want", "wants", "if", "smoking", "drinking"])
        };
        let worked = |s: &Sentence| s.reading.has_any(JOB) && !s.reading.negated;
        self.newer.time.orientation == TimeOrientation::Past
            && self.new.sentences.iter().any(left)
            && self.old.sentences.iter().any(worked)
    }

    /// The newer unit says that somebody decided otherwise, and the older one has the decision with the opposite sign.
    fn reverses(&self) -> bool {
        let decides = self.new.said.has_any(REVERSAL)
            || self.new.sentences.iter().any(|s| s.text.contains("changed") && s.text.contains(" mind"));
        let old_intends = self.older.affect.intention.is_some()
            || self.older.fact.situation == SituationType::HomeworkOrPlan;
        let new_intends = self.newer.affect.intention.is_some()
            || self.newer.fact.situation == SituationType::HomeworkOrPlan;
        decides
            && old_intends
            && new_intends
            && self.old.said.negated != self.new.said.negated
            && self.similarity >= self.rules.topic_similarity
    }

    /// Both fill the same slot, and neither names the other's value anywhere; with `at_once`, of a slot that cannot
    /// hold both at once.
    fn other_value(&self, at_once: bool) -> bool {
        let (new, old) = (&self.newer.fact.claim, &self.older.fact.claim);
        let absent = |value: &Reading, claim: &str| {
            !value.content.is_empty() && !value.negated && value.shared(&Reading::new(claim, [])) == 0
        };
        SLOTS.iter().filter(|(_, exclusive)| *exclusive || !at_once).any(|(phrases, _)| {
            matches!((value(new, phrases), value(old, phrases)), (Some(a), Some(b)) if absent(&a, old) && absent(&b, new))
        })
    }

    /// Both times are known and have no day in common.
    fn times_apart(&self) -> bool {
        self.times_overlap() == Some(false)
    }

    /// Both times are known and have a day in common.
    fn times_meet(&self) -> bool {
        self.times_overlap() == Some(true)
    }

    fn times_overlap(&self) -> Option<bool> {
        Some(interval(self.newer)?.overlaps(interval(self.older)?))
    }
}

/// Content stems of a short sentence, in which one in common is enough.
const SHORT: usize = 4;

/// Emotions that need no comfort.
const GLAD: &[&str] = &[
    "joy",
    "happiness",
    "pride",
    "gratitude",
    "relief",
    "calm",
    "excitement",
    "love",
    "hope",
    "surprise",
    "contentment",
    "admiration",
    "amusement",
    "trust",
    "curiosity",
    "confidence",
    "satisfaction",
    "affection",
    "inspiration",
    "peace",
    "enthusiasm",
    "interest",
    "motivation",
];

fn interval(unit: &Unit) -> Option<DateInterval> {
    unit.time.event.as_ref().and_then(|e| e.interval)
}

/// Whether the unit comforts, praises or advises somebody.
fn comforts(unit: &Unit) -> bool {
    let claim = Reading::new(&unit.fact.claim, []);
    if claim.asks {
        return false;
    }
    unit.fact.situation == SituationType::SupportInteraction
        || unit.affect.emotions.is_empty() && claim.has_any(COMFORT)
        || claim.words.split_whitespace().nth(1) == Some("not") && claim.words.contains(" at all ")
}

/// Whether a support unit holds words of comfort or advice, or says enough to be some.
pub(crate) fn is_said_for_support(unit: &Unit) -> bool {
    const ENOUGH: usize = 2;
    let claim = Reading::new(&unit.fact.claim, unit.fact.participants.iter().map(String::as_str));
    claim.has_any(COMFORT) || claim.has_any(ADVICE) || claim.content.len() >= ENOUGH
}

/// Whether a sentence says that something is no longer as it was; "never quit" does not.
fn changes(sentence: &Sentence) -> bool {
    let words = &sentence.reading;
    words.has_any(CHANGE) && (!words.negated || words.has_any(ENDED))
}

/// Whether a sentence tells of the past, and of nothing to come.
fn reports(sentence: &Sentence, unit: &Unit) -> bool {
    let words = &sentence.reading;
    !words.has_any(NO_PLAN)
        && (words.has_any(REPORT) || unit.time.orientation == TimeOrientation::Past && !words.has_any(PLAN))
}

/// One denies what the other says, in nearly the same words.
fn denies(new: &Sentence, old: &Sentence) -> bool {
    let (no, yes) = if new.reading.negated { (new, old) } else { (old, new) };
    // Who never stops goes on.
    no.reading.negated
        && !no.reading.has_any(&["quit", "stop", "stops", "give up", "forget"])
        && !yes.reading.negated
        && new.specific(old) >= 1
        && new.reading.shared(&old.reading) >= 2
        && new.reading.jaccard(&old.reading) >= 0.5
        && !no.reading.denied.is_disjoint(&yes.reading.content)
}

/// The two use opposite words, and share the rest.
fn opposes(new: &Sentence, old: &Sentence) -> bool {
    let (a_words, b_words) = (&new.reading, &old.reading);
    !a_words.negated
        && !b_words.negated
        && new.specific(old) >= 1
        && a_words.jaccard(b_words) >= 0.25
        && OPPOSITES.iter().any(|(a, b)| {
            let only = |r: &Reading, these: &[&str], those: &[&str]| r.has_any(these) && !r.has_any(those);
            (only(a_words, a, b) && only(b_words, b, a)) || (only(a_words, b, a) && only(b_words, a, b))
        })
}

/// Both count the same thing, come to different numbers and say little else.
fn other_count(new: &Sentence, old: &Sentence) -> bool {
    const SPANS: &[&str] = &["ago", "later", "old", "last", "past", "after", "before", "in", "since", "next"];
    let timed = [new, old].iter().any(|s| s.reading.has_any(SPANS) && !s.reading.has_any(&["has", "have"]));
    new.reading.counts_differ(&old.reading)
        && !timed
        && (new.reading.jaccard(&old.reading) >= 0.5
            || new.reading.shared(&old.reading) >= 2 && new.reading.overlap(&old.reading) >= 0.99)
}

/// Whether a word with the stem follows one of the articles, with one word in between at most.
fn after_article(text: &str, stem: &str, articles: &[&str]) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let reading = || Reading::new(word, []).content.contains(stem);
        let from = at.saturating_sub(2);
        word.starts_with(stem.get(..2).unwrap_or(stem))
            && words[from..at].iter().any(|w| articles.contains(w))
            && reading()
    })
}

/// What follows one of the phrases, up to the end of the clause.
fn value(claim: &str, phrases: &[&str]) -> Option<Reading> {
    let lower = claim.to_lowercase();
    let (at, phrase) = phrases.iter().find_map(|p| lower.find(&format!(" {p} ")).map(|at| (at, p)))?;
    let rest = &lower[at + phrase.len() + 2..];
    let clause = rest.split([',', '.', ';', '!', '?']).next().unwrap_or(rest);
    let clause = [
        " and ",
        " but ",
        " because ",
        " with ",
        " since ",
        " for ",
        " in ",
        " at ",
        " near ",
        " on ",
        " now",
    ]
    .iter()
    .fold(clause, |text, stop| text.split(stop).next().unwrap_or(text));
    Some(Reading::new(clause, []))
}

fn people(unit: &Unit) -> impl Iterator<Item = &str> {
    unit.fact.participants.iter().chain(&unit.fact.mentioned).map(String::as_str)
}

/// Whether the unit says how things are, not that something happened once.
fn is_state(unit: &Unit) -> bool {
    matches!(
        unit.fact.situation,
        SituationType::CurrentState
            | SituationType::GeneralFact
            | SituationType::RelationshipEvent
            | SituationType::BeliefCandidate
            | SituationType::HomeworkOrPlan
    )
}
