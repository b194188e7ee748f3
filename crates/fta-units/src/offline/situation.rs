//! Situation type, time orientation, completion and status by tense, word lists and roles.

use fta_segment::Role;

use super::{
    affect::Firmness,
    lexicon::{BELIEFS, CANCELLED, IRREGULAR_PAST, RISK, RISK_EXCEPTIONS, SUPPORT, Token, VAGUE},
};
use crate::{
    time::{EventTime, TimeBound},
    unit::{Completion, SituationType, TimeOrientation, UnitStatus},
};

/// How many verbs of a text point to the past, the present and the future.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tense {
    /// Past and perfect.
    pub(crate) past: u32,
    /// Present.
    pub(crate) present: u32,
    /// Future.
    pub(crate) future: u32,
    /// Future verbs whose subject is the speaker.
    pub(crate) own_future: u32,
}

impl Tense {
    /// Adds up the verbs of a sentence.
    pub(crate) fn add(&mut self, words: &[Token]) {
        let present_before = self.present;
        for at in 0..words.len() {
            let lower = words[at].lower.as_str();
            let before = |back: usize| at.checked_sub(back).map_or("", |b| words[b].lower.as_str());
            let next = words.get(at + 1).map_or("", |t| t.lower.as_str());
            let will =
                matches!(lower, "will" | "won't" | "gonna" | "tomorrow" | "shall") || lower.ends_with("'ll");
            let going_to = lower == "going" && next == "to" && is_present_be(before(1));
            if will || going_to || (lower.starts_with("plan") && next == "to") {
                self.future += 1;
                self.own_future += u32::from(is_own(lower) || is_own(before(1)) || is_own(before(2)));
            } else if is_present_be(lower)
                || matches!(lower, "do" | "does" | "don't" | "doesn't" | "can" | "can't" | "has" | "have")
                || (lower == "got" && has_got(before(1)))
                || (lower == "been" && !matches!(before(1), "had" | "hadn't"))
            {
                // "has been volunteering", "it's been wild", "we've got a cat": it goes on.
                self.present += 1;
            } else if is_past(lower, before(1), before(2)) && !is_lead_in(words, at) {
                // "There is a group called" and "tired and centered" describe the present.
                let describes = self.present > present_before
                    && lower.ends_with("ed")
                    && !takes_past(before(1), before(2));
                self.past += u32::from(!describes);
            } else if matches!(before(1), "i" | "we" | "they")
                && !lower.ends_with("ly")
                && lower.len() > 2
                && !lower.contains('\'')
            {
                self.present += 1;
            }
        }
    }

    /// Direction by the verbs alone.
    pub(crate) fn orientation(self) -> TimeOrientation {
        let Self { past, present, future, .. } = self;
        match (past > 0, future > 0) {
            (true, true) => TimeOrientation::Mixed,
            (false, true) => TimeOrientation::Future,
            (true, false) if past * 2 >= present => TimeOrientation::Past,
            (true, false) => TimeOrientation::Present,
            (false, false) if present > 0 => TimeOrientation::Present,
            (false, false) => TimeOrientation::Unknown,
        }
    }
}

fn is_present_be(lower: &str) -> bool {
    matches!(lower, "am" | "is" | "are" | "isn't" | "aren't" | "im")
        || lower.ends_with("'m")
        || lower.ends_with("'re")
        || matches!(lower, "it's" | "he's" | "she's" | "that's" | "there's")
}

fn has_got(before: &str) -> bool {
    before.ends_with("'ve") || matches!(before, "have" | "has" | "haven't" | "hasn't")
}

/// Whether the word is the speaker as a subject: "I", "we'll".
fn is_own(lower: &str) -> bool {
    matches!(lower, "i" | "we" | "i'm" | "we're" | "im" | "i'll" | "we'll")
}

/// Whether an "-ed" form after these words is the verb of a clause.
fn takes_past(before: &str, before_that: &str) -> bool {
    let subject = |w: &str| {
        matches!(
            w,
            "i" | "he"
                | "she"
                | "it"
                | "we"
                | "they"
                | "you"
                | "who"
                | "had"
                | "have"
                | "has"
                | "was"
                | "were"
                | "got"
                | "which"
        ) || w.ends_with("'ve")
    };
    subject(before)
        || (before.ends_with("ly") || matches!(before, "just" | "also" | "never" | "always" | "not"))
            && subject(before_that)
}

/// "wanted to let you know": the verb says nothing of when it happened.
fn is_lead_in(words: &[Token], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |t| t.lower.as_str());
    word(at) == "wanted"
        && word(at + 1) == "to"
        && matches!(word(at + 2), "let" | "tell" | "share" | "say" | "give" | "ask")
}

/// Forms that are past only after "have", "had" or "was".
fn is_participle(lower: &str) -> bool {
    matches!(
        lower,
        "gone"
            | "seen"
            | "done"
            | "taken"
            | "given"
            | "eaten"
            | "written"
            | "spoken"
            | "broken"
            | "chosen"
            | "driven"
            | "forgotten"
            | "known"
            | "grown"
            | "shown"
            | "stolen"
            | "worn"
            | "thrown"
            | "drawn"
            | "fallen"
            | "beaten"
            | "bitten"
            | "begun"
            | "stuck"
            | "become"
            | "spread"
            | "bet"
            | "shut"
            | "cast"
    )
}

fn is_past(lower: &str, before: &str, before_that: &str) -> bool {
    // "was", "could" and "should" are in the list of past forms for agreement's sake; only the first tells the past.
    if matches!(
        lower,
        "could"
            | "would"
            | "should"
            | "might"
            | "let"
            | "put"
            | "set"
            | "read"
            | "cost"
            | "cut"
            | "upset"
            | "left"
    ) {
        return lower == "left" && !matches!(before, "the" | "is" | "are");
    }
    if matches!(before, "to" | "can" | "will" | "should" | "could" | "would") {
        return false;
    }
    if is_participle(lower) {
        let helps = |w: &str| {
            w.ends_with("'ve")
                || matches!(w, "have" | "has" | "had" | "haven't" | "hasn't" | "was" | "were" | "got")
        };
        return helps(before) || helps(before_that);
    }
    if IRREGULAR_PAST.contains(lower) || matches!(lower, "didn't" | "wasn't" | "weren't" | "hadn't" | "used")
    {
        return true;
    }
    let regular = lower.len() > 3
        && lower.ends_with("ed")
        && !matches!(
            lower,
            "need"
                | "feed"
                | "seed"
                | "speed"
                | "indeed"
                | "hundred"
                | "succeed"
                | "proceed"
                | "blessed"
                | "weed"
        );
    // "I'm tired" and "so excited" describe the present.
    let adjective = [before, before_that]
        .iter()
        .any(|w| is_present_be(w) || matches!(*w, "feel" | "feeling" | "get" | "so" | "very"));
    regular && !adjective
}

/// What the rules look at when they judge a unit.
#[derive(Debug, Clone)]
pub(crate) struct Judged<'a> {
    /// Words of each statement sentence.
    pub(crate) sentences: Vec<&'a [Token]>,
    /// Role of the speaker.
    pub(crate) role: Role,
    /// Verbs of the statements.
    pub(crate) tense: Tense,
    /// Relation cues of the statements.
    pub(crate) relation_cues: &'a [String],
    /// How firm the intention is, if there is one.
    pub(crate) intention: Option<Firmness>,
    /// The event time.
    pub(crate) event: Option<&'a EventTime>,
    /// Directions of all time expressions.
    pub(crate) directions: Vec<TimeOrientation>,
    /// Content words of the statements.
    pub(crate) n_content: usize,
    /// Whether something else carries the meaning: the question that is answered, a picture, a name.
    pub(crate) anchored: bool,
}

impl Judged<'_> {
    fn any(&self, table: &super::lexicon::PhraseTable) -> bool {
        self.sentences.iter().any(|words| table.any(words))
    }

    fn starts_with_you(&self) -> bool {
        let second = self.sentences.iter().filter(|w| w.iter().any(|t| t.lower.starts_with("you"))).count();
        let first = self
            .sentences
            .iter()
            .filter(|w| w.iter().any(|t| matches!(t.lower.as_str(), "i" | "my" | "i'm" | "i've")))
            .count();
        second > first
    }

    /// Direction of the situation: of the time expressions where there are any, else of the verbs.
    pub(crate) fn orientation(&self) -> TimeOrientation {
        let has = |d| self.directions.contains(&d);
        if has(TimeOrientation::Past) && has(TimeOrientation::Future) {
            return TimeOrientation::Mixed;
        }
        match self.event.map(|e| e.orientation) {
            Some(TimeOrientation::Unknown) | None => self.tense.orientation(),
            Some(known) => known,
        }
    }

    /// The situation type.
    pub(crate) fn situation(&self, orientation: TimeOrientation) -> SituationType {
        if self.any(&RISK) && !self.any(&RISK_EXCEPTIONS) {
            return SituationType::RiskSignal;
        }
        let comforts = self.any(&SUPPORT);
        let gives_support = match self.role {
            Role::Supporter => comforts || self.starts_with_you(),
            Role::Seeker => false,
            Role::Peer => comforts && self.starts_with_you(),
            Role::System => return SituationType::GeneralFact,
        };
        if gives_support {
            return SituationType::SupportInteraction;
        }
        let planned = orientation == TimeOrientation::Future || self.intention == Some(Firmness::Plan);
        if self.intention.is_some() && planned && orientation != TimeOrientation::Past {
            return SituationType::HomeworkOrPlan;
        }
        if self.relation_cues.iter().any(|c| c != "support" && c != "closeness") {
            return SituationType::RelationshipEvent;
        }
        if self.any(&BELIEFS) && orientation != TimeOrientation::Past {
            return SituationType::BeliefCandidate;
        }
        match orientation {
            TimeOrientation::Past | TimeOrientation::Mixed => SituationType::Event,
            TimeOrientation::Future if self.event.is_some() || self.tense.future > 0 => {
                SituationType::HomeworkOrPlan
            }
            TimeOrientation::Present | TimeOrientation::Future => SituationType::CurrentState,
            TimeOrientation::Unknown => SituationType::GeneralFact,
        }
    }

    /// The situation type of a question: advice may be given as one.
    pub(crate) fn question_situation(&self) -> SituationType {
        if self.any(&RISK) && !self.any(&RISK_EXCEPTIONS) {
            SituationType::RiskSignal
        } else if self.role != Role::Seeker && self.any(&SUPPORT) {
            SituationType::SupportInteraction
        } else {
            SituationType::GeneralFact
        }
    }

    /// Whether the situation is over.
    pub(crate) fn completion(&self, orientation: TimeOrientation) -> Completion {
        if self.any(&CANCELLED) {
            return Completion::Cancelled;
        }
        if self.event.is_some_and(|e| e.bound == TimeBound::Since) {
            return Completion::Ongoing;
        }
        match orientation {
            TimeOrientation::Future => Completion::Planned,
            TimeOrientation::Past => Completion::Completed,
            TimeOrientation::Present if self.intention == Some(Firmness::Plan) => Completion::Planned,
            TimeOrientation::Present => Completion::Ongoing,
            TimeOrientation::Mixed | TimeOrientation::Unknown => Completion::Unknown,
        }
    }

    /// Whether the situation is stated, half stated or open.
    pub(crate) fn status(&self, situation: SituationType, completion: Completion) -> UnitStatus {
        if self.is_vague() {
            return UnitStatus::Partial;
        }
        if completion == Completion::Planned && situation == SituationType::HomeworkOrPlan {
            return UnitStatus::Pending;
        }
        UnitStatus::Complete
    }

    /// An announcement without content, or a pronoun with next to nothing said of it.
    fn is_vague(&self) -> bool {
        if self.anchored {
            return false;
        }
        let announces = self.any(&VAGUE) && self.sentences.len() <= 2 && self.n_content <= 6;
        let pronoun_only = self.n_content <= 1
            && self.sentences.iter().all(|words| {
                words.first().is_some_and(|t| {
                    matches!(
                        t.lower.as_str(),
                        "it" | "it's" | "that" | "that's" | "this" | "they" | "he" | "she" | "he's" | "she's"
                    )
                })
            });
        announces || (pronoun_only && !self.sentences.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::lexicon::tokens;

    fn check(text: &str, expect: TimeOrientation) {
        let mut tense = Tense::default();
        tense.add(&tokens(text));
        assert_eq!(tense.orientation(), expect, "{text}: {tense:?}");
    }

    #[test]
    fn verbs_tell_the_direction() {
        check("I moved to Bern and found a flat", TimeOrientation::Past);
        check("I'm tired and worried", TimeOrientation::Present);
        check("I've been painting a lot", TimeOrientation::Present);
        check("We've got a cat", TimeOrientation::Present);
        check("There is a group called Harbour", TimeOrientation::Present);
        check("Just wanted to let you know that I am fine", TimeOrientation::Present);
        check("I'll call her and she won't like it", TimeOrientation::Future);
        check("I lost my keys, so I will change the lock", TimeOrientation::Mixed);
        check("A red door", TimeOrientation::Unknown);
    }
}
