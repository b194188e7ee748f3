//! Which sentences make a unit: statements in groups, answers with their questions, questions that stay open.

use fta_segment::Role;

use super::{
    RuleConfig,
    turns::{ReadTurn, Sentence, SentenceKind, TurnKind},
};

/// A sentence: position of the turn among the read turns, position of the sentence in it.
pub(crate) type Place = (usize, usize);

/// The sentences of one unit to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// Questions of others that the body answers, in text order.
    pub(crate) asked: Vec<Place>,
    /// Carried questions that the body answers.
    pub(crate) answers_carried: Vec<usize>,
    /// Statements (or the short answer, or the open question itself), in text order.
    pub(crate) body: Vec<Place>,
    /// Questions of the speaker that stand beside the body.
    pub(crate) beside: Vec<Place>,
    /// Turns whose picture belongs to the unit.
    pub(crate) pictures: Vec<usize>,
    /// First and last turn of the body.
    pub(crate) turns: (usize, usize),
    /// The body is a question that nobody answered.
    pub(crate) is_open_question: bool,
    /// Several units share the turn, so no later turn joins this one.
    is_part: bool,
}

impl Draft {
    /// First turn of the exchange.
    pub(crate) fn first_turn(&self) -> usize {
        self.asked.iter().map(|place| place.0).min().unwrap_or(self.turns.0).min(self.turns.0)
    }
}

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub(crate) struct OpenQuestion {
    /// Who asked.
    pub(crate) asker: String,
    /// Index of its last turn in the session.
    pub(crate) turn: u32,
    /// Where it stands; empty for a carried one.
    pub(crate) places: Vec<Place>,
    /// Index of the carried unit.
    pub(crate) carried: Option<usize>,
    /// The turn says nothing else.
    is_whole_turn: bool,
}

impl OpenQuestion {
    /// A question of an earlier fragment whose last turn is `turn`.
    pub(crate) fn carried(index: usize, asker: &str, turn: u32) -> Self {
        Self { asker: asker.to_owned(), turn, places: Vec::new(), carried: Some(index), is_whole_turn: false }
    }
}

/// Groups the sentences of a fragment into drafts, in text order.
pub(crate) fn drafts(turns: &[ReadTurn<'_>], carried: Vec<OpenQuestion>, config: &RuleConfig) -> Vec<Draft> {
    let mut drafter = Drafter { turns, config, open: carried, drafts: Vec::new() };
    for (at, turn) in turns.iter().enumerate() {
        drafter.expire(turn.turn.index);
        match turn.kind() {
            TurnKind::Filler => drafter.short_answer(at),
            TurnKind::Question => drafter.questions(at),
            TurnKind::Statement | TurnKind::Mixed => drafter.statements(at),
        }
    }
    drafter.finish()
}

struct Drafter<'a, 't> {
    turns: &'a [ReadTurn<'t>],
    config: &'a RuleConfig,
    open: Vec<OpenQuestion>,
    drafts: Vec<Draft>,
}

impl Drafter<'_, '_> {
    fn at(&self, place: Place) -> &Sentence {
        &self.turns[place.0].sentences[place.1]
    }

    fn speaker(&self, at: usize) -> &str {
        &self.turns[at].turn.speaker
    }

    /// Questions that nobody answered for too long are given up.
    fn expire(&mut self, now: u32) {
        let reach = self.config.question_reach;
        let (old, open) =
            std::mem::take(&mut self.open).into_iter().partition(|q| now.saturating_sub(q.turn) > reach);
        self.open = open;
        self.give_up(old);
    }

    fn give_up(&mut self, questions: Vec<OpenQuestion>) {
        for question in questions.into_iter().filter(|q| q.carried.is_none() && q.is_whole_turn) {
            self.push_open_question(question);
        }
    }

    fn push_open_question(&mut self, question: OpenQuestion) {
        let (Some(first), Some(last)) = (question.places.first(), question.places.last()) else { return };
        let turns = (first.0, last.0);
        self.drafts.push(Draft {
            body: question.places,
            turns,
            is_open_question: true,
            is_part: true,
            ..Draft::default()
        });
    }

    /// Takes the open questions of others than the speaker of `at`.
    fn take_asked(&mut self, at: usize) -> (Vec<Place>, Vec<usize>) {
        let speaker = self.speaker(at).to_owned();
        let (asked, open) =
            std::mem::take(&mut self.open).into_iter().partition::<Vec<_>, _>(|q| q.asker != speaker);
        self.open = open;
        let places = asked.iter().flat_map(|q| q.places.clone()).collect();
        (places, asked.iter().filter_map(|q| q.carried).collect())
    }

    /// A turn without content of its own may still answer: "Yes."
    fn short_answer(&mut self, at: usize) {
        let turn = &self.turns[at];
        let waits = self.open.iter().any(|q| q.asker != turn.turn.speaker && self.says_something(q));
        if waits && turn.is_short_answer() {
            let (asked, answers_carried) = self.take_asked(at);
            let body = (0..turn.sentences.len()).map(|s| (at, s)).collect();
            self.drafts.push(Draft { asked, answers_carried, body, turns: (at, at), ..Draft::default() });
        }
        self.open_questions(at, false);
    }

    /// Whether an open question has a content word; "Really?" and its answer "Yes!" say nothing together.
    fn says_something(&self, question: &OpenQuestion) -> bool {
        question.carried.is_some()
            || question.places.iter().any(|p| self.turns[p.0].sentences[p.1].n_content > 0)
    }

    fn questions(&mut self, at: usize) {
        if self.turns[at].sentences.iter().any(|s| s.is_informative) {
            self.statements(at);
            return;
        }
        self.open_questions(at, true);
    }

    /// Opens the questions of a turn; those of neighbouring turns of one speaker are one question.
    fn open_questions(&mut self, at: usize, is_whole_turn: bool) {
        let sentences = self.turns[at].sentences.iter().enumerate();
        let places: Vec<Place> =
            sentences.filter(|(_, s)| s.kind == SentenceKind::Question).map(|(s, _)| (at, s)).collect();
        if places.is_empty() {
            return;
        }
        let speaker = self.speaker(at).to_owned();
        let turn = self.turns[at].turn.index;
        if let Some(last) = self.open.last_mut()
            && last.asker == speaker
            && last.turn + 1 == turn
            && last.carried.is_none()
        {
            last.places.extend(places);
            last.turn = turn;
            last.is_whole_turn |= is_whole_turn;
            return;
        }
        self.open.push(OpenQuestion { asker: speaker, turn, places, carried: None, is_whole_turn });
    }

    fn statements(&mut self, at: usize) {
        let (asked, answers_carried) = self.take_asked(at);
        let mut groups = self.groups(at);
        if !asked.is_empty() || !answers_carried.is_empty() {
            self.keep_answer_words(at, &mut groups[0].0);
        }
        let n_groups = groups.len();
        if n_groups == 1
            && asked.is_empty()
            && answers_carried.is_empty()
            && self.join_previous(at, &groups[0])
        {
            self.open_questions(at, false);
            return;
        }
        for (index, (body, beside)) in groups.into_iter().enumerate() {
            let mut draft =
                Draft { body, beside, turns: (at, at), is_part: n_groups > 1, ..Draft::default() };
            if index == 0 {
                draft.asked.clone_from(&asked);
                draft.answers_carried.clone_from(&answers_carried);
            }
            if index + 1 == n_groups && self.turns[at].turn.caption.is_some() {
                draft.pictures.push(at);
            }
            self.drafts.push(draft);
        }
        self.open_questions(at, false);
    }

    /// "Not yet." before the first statement belongs to the answer.
    fn keep_answer_words(&self, at: usize, body: &mut Vec<Place>) {
        let first = body.first().map_or(0, |place| place.1);
        let answers = (0..first)
            .filter(|&s| self.at((at, s)).kind == SentenceKind::Filler && self.at((at, s)).says_yes_or_no());
        let places: Vec<Place> = answers.map(|s| (at, s)).collect();
        body.splice(0..0, places);
    }

    /// Short messages that one speaker sends in a row are one statement.
    fn join_previous(&mut self, at: usize, group: &(Vec<Place>, Vec<Place>)) -> bool {
        let turns = self.turns;
        let length =
            |draft: &Draft| (draft.turns.0..=draft.turns.1).map(|t| turns[t].turn.text.len()).sum::<usize>();
        let picture = turns[at].turn.caption.is_some();
        let Some(last) = self.drafts.last_mut() else { return false };
        let same = turns[last.turns.1].turn.speaker == turns[at].turn.speaker && last.turns.1 + 1 == at;
        let pure = !last.is_part && last.beside.is_empty() && last.pictures.is_empty() && !picture;
        if !same || !pure || length(last) + turns[at].turn.text.len() > self.config.join_bytes {
            return false;
        }
        last.body.extend(&group.0);
        last.beside.extend(&group.1);
        last.turns.1 = at;
        true
    }

    /// Cuts the content sentences of a turn into groups of neighbours: `(body, questions beside it)` each.
    fn groups(&self, at: usize) -> Vec<(Vec<Place>, Vec<Place>)> {
        let turn = &self.turns[at];
        let speaks = |s: &Sentence| s.kind == SentenceKind::Statement || s.is_informative;
        let total: usize = turn.sentences.iter().filter(|s| speaks(s)).map(|s| s.range.len()).sum();
        let n_groups =
            if total > self.config.long_turn_bytes { total.div_ceil(self.config.group_bytes) } else { 1 };
        let target = total.div_ceil(n_groups.max(1)).max(1);
        let mut groups: Vec<(Vec<Place>, Vec<Place>)> = vec![Default::default()];
        let mut size = 0;
        let mut done = 0;
        for (index, sentence) in turn.sentences.iter().enumerate() {
            let text = &turn.turn.text[sentence.range.clone()];
            let n_so_far = groups.len();
            let current = groups.last_mut().expect("there is always a group");
            if !speaks(sentence) {
                if sentence.kind == SentenceKind::Question {
                    current.1.push((at, index));
                }
                continue;
            }
            let full = n_groups > 1 && done + sentence.range.len() / 2 >= target * n_so_far;
            let turns_away = size >= self.config.marker_bytes && opens_new_matter(text);
            if size > 0 && (full || turns_away) {
                groups.push((vec![(at, index)], Vec::new()));
                size = 0;
            } else {
                current.0.push((at, index));
            }
            size += sentence.range.len();
            done += sentence.range.len();
        }
        // A picture without words: whatever was said beside it is the body.
        if let [only] = groups.as_mut_slice()
            && only.0.is_empty()
        {
            only.0 = (0..turn.sentences.len()).map(|s| (at, s)).collect();
            only.1.clear();
        }
        groups
    }

    /// Questions still open at the end of the fragment are partial units, if the next fragment may answer them.
    fn finish(mut self) -> Vec<Draft> {
        let last_said = (0..self.turns.len()).rfind(|&at| self.turns[at].kind() != TurnKind::Filler);
        for question in std::mem::take(&mut self.open) {
            let at_end = last_said.is_some_and(|last| question.turn == self.turns[last].turn.index);
            // A question that tells something is in a unit already; "Any suggestions?" beside a statement adds nothing.
            let is_stated =
                question.places.iter().all(|&p| self.at(p).is_informative || self.at(p).n_content == 0);
            let system = question.places.first().is_some_and(|p| self.turns[p.0].turn.role == Role::System);
            let n_content: usize = question.places.iter().map(|&p| self.at(p).n_content).sum();
            let is_stated = is_stated || n_content < 2;
            let is_open = question.is_whole_turn || at_end && !is_stated && !system;
            if question.carried.is_none() && is_open {
                self.push_open_question(question);
            }
        }
        self.drafts.sort_by_key(|d| (d.turns.0, d.body.first().copied()));
        self.drafts
    }
}

/// "By the way", "Anyway": the speaker turns to something else.
fn opens_new_matter(sentence: &str) -> bool {
    let head: String = sentence.chars().take(24).collect::<String>().to_lowercase();
    [
        "by the way",
        "btw",
        "anyway",
        "on another note",
        "on a different note",
        "in other news",
        "speaking of",
        "oh, and",
        "also, by",
    ]
    .iter()
    .any(|marker| head.contains(marker) && head.find(marker).is_some_and(|at| at <= 5))
}
