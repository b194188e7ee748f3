//! From a draft to a candidate unit: claim, anchors, evidence.

use std::collections::BTreeSet;

use fta_segment::{Session, TurnSpan};

use super::{
    EXTRACTOR, RuleConfig,
    affect::{self, Firmness},
    draft::{Draft, Place},
    lexicon::Token,
    people::mentioned,
    person::{Voices, capitalised, display_name, resolve, without_lead_in},
    situation::{Judged, Tense},
    turns::{ReadTurn, Sentence},
};
use crate::{
    time::{EventTime, TimeContext, find_times},
    unit::{
        AffectAnchor, CandidateUnit, Completion, Evidence, FactAnchor, Provenance, Quote, SituationType,
        TimeAnchor, TimeOrientation, UnitStatus,
    },
};

/// The fragment as the rules see it.
pub(crate) struct Scene<'a> {
    /// The session.
    pub(crate) session: &'a Session,
    /// The fragment's turns, read.
    pub(crate) turns: &'a [ReadTurn<'a>],
    /// Speakers up to the end of the fragment.
    pub(crate) speakers: &'a [&'a str],
    /// Names that stand inside sentences.
    pub(crate) names: &'a BTreeSet<String>,
    /// Settings.
    pub(crate) config: &'a RuleConfig,
}

impl<'a> Scene<'a> {
    fn sentence(&self, place: Place) -> &'a Sentence {
        &self.turns[place.0].sentences[place.1]
    }

    /// Text of a sentence.
    pub(crate) fn text(&self, place: Place) -> &'a str {
        &self.turns[place.0].turn.text[self.sentence(place).range.clone()]
    }

    fn voices(&self, turn: usize) -> Voices {
        Voices::of(self.turns[turn].turn, self.speakers)
    }

    fn texts(&self, places: &'a [Place]) -> impl Iterator<Item = (&'a str, &'a [Token])> + '_ {
        places.iter().map(|&p| (self.text(p), self.sentence(p).tokens.as_slice()))
    }

    /// Makes the unit of a draft.
    pub(crate) fn unit(&self, draft: &'a Draft) -> CandidateUnit {
        let voices = self.voices(draft.turns.0);
        let claim = if draft.is_open_question {
            self.question_claim(draft, &voices)
        } else {
            self.claim(draft, &voices)
        };
        let relation_cues = affect::relation_cues(self.texts(&draft.body).map(|(_, words)| words));
        let intention = draft.body.iter().find_map(|&p| affect::intention(self.text(p)));
        let (event, mentions) = self.times(draft);
        let mut tense = Tense::default();
        self.texts(&draft.body).for_each(|(_, words)| tense.add(words));
        let judged = Judged {
            sentences: draft.body.iter().map(|&p| self.sentence(p).tokens.as_slice()).collect(),
            role: self.turns[draft.turns.0].turn.role,
            tense,
            relation_cues: &relation_cues,
            intention: intention.as_ref().map(|(_, firmness)| *firmness),
            event: event.as_ref(),
            directions: mentions.iter().map(|m| m.orientation).collect(),
            n_content: draft.body.iter().map(|&p| self.sentence(p).n_content).sum(),
            anchored: !draft.asked.is_empty()
                || !draft.answers_carried.is_empty()
                || !draft.pictures.is_empty(),
        };
        let (orientation, completion, situation, status) = judge(&judged, draft.is_open_question);
        CandidateUnit {
            fact: FactAnchor {
                participants: self.participants(draft, &claim, &voices),
                mentioned: self.mentioned(draft),
                summary: shortened(&claim, self.config.summary_chars),
                claim,
                situation,
            },
            affect: AffectAnchor {
                emotions: affect::ranked(self.texts(&draft.body)),
                intention: intention
                    .filter(|_| !draft.is_open_question)
                    .map(|(phrase, _)| resolve(&phrase, &voices)),
                relation_cues,
            },
            time: TimeAnchor {
                said_at: self.session.said_at(self.turns[draft.turns.0].turn.index),
                event,
                mentions,
                orientation,
                completion,
            },
            evidence: self.evidence(draft),
            status,
            provenance: Provenance { extractor: EXTRACTOR.to_owned(), ..Provenance::default() },
        }
    }

    fn question_claim(&self, draft: &Draft, voices: &Voices) -> String {
        let asked = self.joined(&draft.body, self.config.question_chars * 2);
        let to = voices.addressee.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{} asks{to}: \"{asked}\"", capitalised(&voices.speaker))
    }

    fn claim(&self, draft: &Draft, voices: &Voices) -> String {
        let speaker = capitalised(&voices.speaker);
        let asked = self.joined(&draft.asked, self.config.question_chars);
        let verbatim: Vec<&str> = draft.body.iter().map(|&p| without_lead_in(self.text(p), voices)).collect();
        let is_short = verbatim.iter().map(|t| t.len()).sum::<usize>() <= self.config.quoted_answer_bytes;
        let leans = self.leans_on_question(draft);
        let mut claim = if leans && !asked.is_empty() && is_short {
            format!("Asked \"{asked}\", {speaker}: \"{}\"", verbatim.join(" "))
        } else {
            let resolved: Vec<String> = draft
                .body
                .iter()
                .zip(&verbatim)
                .map(|(place, text)| {
                    let voices = self.voices(place.0);
                    closed(&capitalised(&resolve(text, &voices)))
                })
                .filter(|s| !s.is_empty())
                .collect();
            let statement = resolved.join(" ");
            let named = resolved.first().is_some_and(|s| s.contains(&speaker) || s.contains(&voices.speaker));
            match (leans && !asked.is_empty(), named) {
                (true, _) => format!("Asked \"{asked}\", {speaker}: {statement}"),
                (false, true) => statement,
                (false, false) if statement.is_empty() => speaker,
                (false, false) => format!("{speaker}: {statement}"),
            }
        };
        for caption in draft.pictures.iter().filter_map(|&t| self.turns[t].turn.caption.as_deref()) {
            claim.push_str(" [shares a picture: ");
            claim.push_str(caption.trim());
            claim.push(']');
        }
        claim
    }

    /// Whether the answer cannot be understood without the question.
    fn leans_on_question(&self, draft: &Draft) -> bool {
        let Some(&first) = draft.body.first() else { return true };
        let n_content: usize = draft.body.iter().map(|&p| self.sentence(p).n_content).sum();
        let opener = self.sentence(first).tokens.first().map_or("", |t| t.lower.as_str());
        n_content <= 3
            || matches!(
                opener,
                "yes"
                    | "yeah"
                    | "yep"
                    | "yup"
                    | "no"
                    | "nope"
                    | "nah"
                    | "not"
                    | "it"
                    | "it's"
                    | "its"
                    | "it'll"
                    | "they"
                    | "they're"
                    | "they've"
                    | "he"
                    | "she"
                    | "he's"
                    | "she's"
                    | "that"
                    | "that's"
                    | "because"
                    | "sure"
                    | "definitely"
                    | "maybe"
                    | "never"
                    | "sometimes"
                    | "just"
                    | "about"
                    | "only"
                    | "both"
                    | "probably"
                    | "absolutely"
                    | "for"
                    | "since"
                    | "these"
                    | "those"
                    | "this"
                    | "mostly"
                    | "usually"
                    | "always"
                    | "of"
                    | "to"
                    | "so"
                    | "well"
            )
    }

    /// Sentences in one line of at most `limit` characters.
    fn joined(&self, places: &[Place], limit: usize) -> String {
        let texts: Vec<&str> =
            places.iter().map(|&p| without_lead_in(self.text(p), &self.voices(p.0))).collect();
        shortened(&texts.join(" ").replace('"', "'"), limit)
    }

    fn participants(&self, draft: &Draft, claim: &str, voices: &Voices) -> Vec<String> {
        let mut people = vec![self.turns[draft.turns.0].turn.speaker.trim().to_owned()];
        let askers = draft.asked.iter().map(|p| self.turns[p.0].turn.speaker.trim());
        let named = self.speakers.iter().copied().filter(|name| {
            let name = display_name(name);
            name != voices.speaker && contains_word(claim, &name)
        });
        for person in askers.chain(named.map(str::trim)) {
            if !people.iter().any(|p| p == person) {
                people.push(person.to_owned());
            }
        }
        people.retain(|p| !p.is_empty());
        people
    }

    fn mentioned(&self, draft: &Draft) -> Vec<String> {
        let mut people: Vec<String> = Vec::new();
        for &place in draft.asked.iter().chain(&draft.body) {
            let found =
                mentioned(self.text(place), &self.sentence(place).tokens, &self.voices(place.0), self.names);
            for person in found {
                if !people.contains(&person) {
                    people.push(person);
                }
            }
        }
        people
    }

    /// The event time and every time expression, in text order.
    fn times(&self, draft: &Draft) -> (Option<EventTime>, Vec<EventTime>) {
        let mut mentions: Vec<EventTime> = Vec::new();
        let mut best: Option<((u8, crate::time::Granularity), EventTime)> = None;
        let asked = draft.asked.iter().map(|&p| (p, true));
        for (place, is_question) in asked.chain(draft.body.iter().map(|&p| (p, false))) {
            let Some(said_at) = self.session.said_at(self.turns[place.0].turn.index) else { continue };
            let words = &self.sentence(place).tokens;
            let mut tense = Tense::default();
            tense.add(words);
            let verbs_act = tense.past > 0 || tense.future > 0;
            for mention in find_times(self.text(place), &TimeContext::on(said_at.date())) {
                if mention.time.interval.is_none() {
                    continue;
                }
                let points_away =
                    matches!(mention.time.orientation, TimeOrientation::Past | TimeOrientation::Future);
                let rank = if is_question { 2 } else { u8::from(!verbs_act && !points_away) };
                let key = (rank, mention.time.granularity);
                if best.as_ref().is_none_or(|(other, _)| key < *other) {
                    best = Some((key, mention.time.clone()));
                }
                if !mentions.contains(&mention.time) {
                    mentions.push(mention.time);
                }
            }
        }
        (best.map(|(_, time)| time), mentions)
    }

    fn evidence(&self, draft: &Draft) -> Evidence {
        let mut quotes: Vec<Quote> = Vec::new();
        for &(turn, sentence) in draft.asked.iter().chain(&draft.body).chain(&draft.beside) {
            let range = &self.turns[turn].sentences[sentence].range;
            quotes.push(Quote {
                turn: self.turns[turn].turn.index,
                start: range.start as u32,
                end: range.end as u32,
            });
        }
        for &turn in &draft.pictures {
            // A picture without words is quoted as the whole, possibly empty, text.
            let index = self.turns[turn].turn.index;
            if !quotes.iter().any(|q| q.turn == index) {
                quotes.push(Quote { turn: index, start: 0, end: self.turns[turn].turn.text.len() as u32 });
            }
        }
        quotes.sort_by_key(|q| (q.turn, q.start, q.end));
        quotes.dedup();
        let first = self.turns[draft.first_turn()].turn.index;
        let last = self.turns[draft.turns.1].turn.index;
        Evidence { session: self.session.id.clone(), turns: TurnSpan::new(first, last + 1), quotes }
    }
}

fn judge(
    judged: &Judged<'_>,
    is_open_question: bool,
) -> (TimeOrientation, Completion, SituationType, UnitStatus) {
    let orientation = judged.orientation();
    if is_open_question {
        return (orientation, Completion::Unknown, judged.question_situation(), UnitStatus::Partial);
    }
    let situation = judged.situation(orientation);
    let completion = match judged.completion(orientation) {
        Completion::Ongoing if judged.intention == Some(Firmness::Plan) => Completion::Planned,
        other => other,
    };
    (orientation, completion, situation, judged.status(situation, completion))
}

/// The sentence with a full stop where it ends without a mark.
fn closed(sentence: &str) -> String {
    let trimmed = sentence.trim().trim_end_matches([',', ';', '-']).trim_end();
    if trimmed.ends_with(|c: char| c.is_alphanumeric()) && trimmed.is_ascii() {
        format!("{trimmed}.")
    } else {
        trimmed.to_owned()
    }
}

/// The text in one line, cut at a word so that it has at most `limit` characters.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((cut, _)) = line.char_indices().nth(limit.saturating_sub(1)) else { return line };
    if line[cut..].chars().count() <= 1 {
        return line;
    }
    let head = &line[..cut];
    let end = head.rfind(' ').filter(|&at| at * 2 > head.len()).unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ']))
}

/// Whether `word` stands in `text` as a whole word.
fn contains_word(text: &str, word: &str) -> bool {
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            let before = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let after = text[at + found.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
            before && after
        })
}
