//! Words of the command line for the values of the domain, in both directions.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use fta_mem::{
    report,
    segment::BoundaryCue,
    units::{Completion, ProfileTopic, Relation, SituationType, SupportOutcome, UnitId, UnitStatus},
};
use jiff::civil::{Date, DateTime};

use crate::input::Format;

type Words<T, const N: usize> = [(&'static str, T); N];

const SITUATIONS: Words<SituationType, 8> = [
    ("event", SituationType::Event),
    ("current-state", SituationType::CurrentState),
    ("relationship-event", SituationType::RelationshipEvent),
    ("belief-candidate", SituationType::BeliefCandidate),
    ("homework-or-plan", SituationType::HomeworkOrPlan),
    ("support-interaction", SituationType::SupportInteraction),
    ("risk-signal", SituationType::RiskSignal),
    ("general-fact", SituationType::GeneralFact),
];

const STATUSES: Words<UnitStatus, 4> = [
    ("complete", UnitStatus::Complete),
    ("partial", UnitStatus::Partial),
    ("pending", UnitStatus::Pending),
    ("unknown", UnitStatus::Unknown),
];

const COMPLETIONS: Words<Completion, 5> = [
    ("completed", Completion::Completed),
    ("ongoing", Completion::Ongoing),
    ("planned", Completion::Planned),
    ("cancelled", Completion::Cancelled),
    ("unknown", Completion::Unknown),
];

const RELATIONS: Words<Relation, 5> = [
    ("same-situation", Relation::SameSituation),
    ("update", Relation::Update),
    ("contradiction", Relation::Contradiction),
    ("follow-up", Relation::FollowUp),
    ("support", Relation::Support),
];

fn parser<T: Copy + Send + Sync + 'static, const N: usize>(
    words: Words<T, N>,
) -> impl TypedValueParser<Value = T> + use<T, N> {
    PossibleValuesParser::new(words.map(|(word, _)| word)).map(move |found| {
        words.iter().find(|(word, _)| *word == found).expect("clap lets only listed words through").1
    })
}

fn word<T: PartialEq, const N: usize>(words: &Words<T, N>, value: &T) -> &'static str {
    words.iter().find(|(_, v)| v == value).expect("every value has a word").0
}

/// Parser of situation types.
pub(crate) fn situations() -> impl TypedValueParser<Value = SituationType> {
    parser(SITUATIONS)
}

/// Parser of statuses.
pub(crate) fn statuses() -> impl TypedValueParser<Value = UnitStatus> {
    parser(STATUSES)
}

/// Parser of completions.
pub(crate) fn completions() -> impl TypedValueParser<Value = Completion> {
    parser(COMPLETIONS)
}

/// Parser of relations.
pub(crate) fn relations() -> impl TypedValueParser<Value = Relation> {
    parser(RELATIONS)
}

/// Parser of file formats.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    parser(Format::ALL.map(|format| (format.name(), format)))
}

/// Parser of unit ids.
///
/// # Errors
/// The text is no unit id.
pub(crate) fn parse_unit_id(text: &str) -> Result<UnitId, String> {
    report::parse_unit_id(text).map_err(|error| error.to_string())
}

/// Parser of a day, with a time or without.
///
/// # Errors
/// The text is no date.
pub(crate) fn parse_date_time(text: &str) -> Result<DateTime, String> {
    let text = text.trim();
    text.parse::<DateTime>()
        .or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)))
        .map_err(|_| "a date like `2024-05-31` or `2024-05-31T18:30` is expected".to_owned())
}

/// Word of a situation type.
pub(crate) fn situation(value: SituationType) -> &'static str {
    word(&SITUATIONS, &value)
}

/// Word of a status.
pub(crate) fn status(value: UnitStatus) -> &'static str {
    word(&STATUSES, &value)
}

/// Word of a completion.
pub(crate) fn completion(value: Completion) -> &'static str {
    word(&COMPLETIONS, &value)
}

/// Word of a relation.
pub(crate) fn relation(value: Relation) -> &'static str {
    word(&RELATIONS, &value)
}

/// How the newer unit stands to the older one: "u2 updates u1".
pub(crate) fn relation_verb(value: Relation) -> &'static str {
    match value {
        Relation::SameSituation => "tells more of",
        Relation::Update => "updates",
        Relation::Contradiction => "contradicts",
        Relation::FollowUp => "follows up",
        Relation::Support => "supports",
    }
}

/// How the older unit stands to the newer one: "u1 is updated by u2".
pub(crate) fn relation_verb_back(value: Relation) -> &'static str {
    match value {
        Relation::SameSituation => "is told further in",
        Relation::Update => "is updated by",
        Relation::Contradiction => "is contradicted by",
        Relation::FollowUp => "is followed up by",
        Relation::Support => "is supported by",
    }
}

/// Words of a boundary cue.
pub(crate) fn cue(value: BoundaryCue) -> &'static str {
    match value {
        BoundaryCue::TopicChange => "topic change",
        BoundaryCue::EmotionalShift => "emotional shift",
        BoundaryCue::TimeGap => "time gap",
        BoundaryCue::DiscourseMarker => "discourse marker",
        BoundaryCue::SessionEnd => "session end",
        BoundaryCue::FixedCut => "fixed cut",
        BoundaryCue::Unknown => "no reason given",
    }
}

/// Word of a profile topic.
pub(crate) fn topic(value: ProfileTopic) -> &'static str {
    match value {
        ProfileTopic::Occupation => "occupation",
        ProfileTopic::Place => "place",
        ProfileTopic::Relationship => "relationship",
        ProfileTopic::Preference => "preference",
        ProfileTopic::Health => "health",
        ProfileTopic::Possession => "possession",
        ProfileTopic::Goal => "goal",
        ProfileTopic::Belief => "belief",
        ProfileTopic::Other => "other",
    }
}

/// Words of a support outcome.
pub(crate) fn outcome(value: SupportOutcome) -> &'static str {
    match value {
        SupportOutcome::Helped => "helped",
        SupportOutcome::DidNotHelp => "did not help",
        SupportOutcome::Agreed => "agreed to try",
        SupportOutcome::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_names_in_json() {
        for (word, value) in SITUATIONS {
            assert_eq!(serde_json::to_value(value).unwrap(), word.replace('-', "_"));
        }
        for (word, value) in RELATIONS {
            assert_eq!(serde_json::to_value(value).unwrap(), word.replace('-', "_"));
        }
        for (word, value) in STATUSES {
            assert_eq!(serde_json::to_value(value).unwrap(), word);
        }
        for (word, value) in COMPLETIONS {
            assert_eq!(serde_json::to_value(value).unwrap(), word);
        }
    }

    #[test]
    fn dates_with_and_without_time() {
        assert_eq!(parse_date_time("2024-05-31").unwrap().to_string(), "2024-05-31T00:00:00");
        assert_eq!(parse_date_time("2024-05-31T18:30").unwrap().to_string(), "2024-05-31T18:30:00");
        assert!(parse_date_time("yesterday").unwrap_err().contains("2024-05-31"));
    }
}
