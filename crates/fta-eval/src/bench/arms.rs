//! Reference arms: rankings of single turns with the embedder of the memory that is measured.
//!
//! They are yardsticks, not memories: no units, no times, no links.

use std::{str::FromStr, sync::Arc};

use fta_mem::index::{Embedder, Embeddings};
use fta_segment::{Conversation, Turn};

use super::{BenchError, bm25::Bm25};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// The memory, through the facade.
    Ours,
    /// BM25 over turns.
    Bm25Turn,
    /// One vector per turn, its date and speaker in the text.
    DenseTurn,
    /// The blend described at [`TurnIndex::new`].
    Trial,
}

impl Arm {
    /// All arms, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Ours, Self::Bm25Turn, Self::DenseTurn, Self::Trial];

    /// Its name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Bm25Turn => "bm25-turn",
            Self::DenseTurn => "dense-turn",
            Self::Trial => "trial",
        }
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|arm| arm.name() == text).ok_or_else(|| {
            format!(
                "`{text}` is no arm: one of {} is expected",
                Self::ALL.map(|a| format!("`{}`", a.name())).join(", ")
            )
        })
    }
}

/// Weights of the trial arm's terms.
mod weight {
    pub(super) const SENTENCE: f32 = 0.6;
    pub(super) const CONTEXT: f32 = 0.4;
    pub(super) const LEXICAL: f32 = 0.2;
    pub(super) const LEXICAL_WINDOW: f32 = 0.2;
    pub(super) const SPEAKER: f32 = 0.1;
    pub(super) const NEIGHBOUR: f32 = 0.2;
}

/// A turn as an item that can be handed back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Position of its session in the conversation.
    pub session: usize,
    /// Turn index in the session.
    pub turn: u32,
    /// `Speaker: text [caption]`.
    pub line: String,
    speaker: String,
}

/// Turns of one conversation, indexed for one arm.
pub struct TurnIndex {
    items: Vec<Item>,
    embedder: Arc<dyn Embedder>,
    scoring: Scoring,
}

enum Scoring {
    Bm25(Bm25),
    Dense(Embeddings),
    Trial(Box<Trial>),
}

struct Trial {
    sentences: Embeddings,
    /// Item of each sentence.
    owners: Vec<usize>,
    context: Embeddings,
    lexical: Bm25,
    window: Bm25,
}

impl TurnIndex {
    /// Indexes all turns of a conversation.
    ///
    /// The trial arm scores a turn by 0.6 x the cosine of its best sentence, 0.4 x the cosine of the turn with its
    /// predecessor, 0.2 x BM25 over the turn, 0.2 x BM25 over the turn and its two neighbours (both divided by the
    /// question's best) and 0.1 if the question names its speaker; then 0.2 x the better neighbour's score is added.
    ///
    /// # Errors
    /// [`BenchError::Embed`] if the texts cannot be embedded.
    ///
    /// # Panics
    /// If `arm` is [`Arm::Ours`], which has no turn index.
    pub fn new(
        arm: Arm,
        conversation: &Conversation,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, BenchError> {
        let items = items(conversation);
        let lines = || items.iter().map(|i| i.line.as_str());
        let scoring = match arm {
            Arm::Bm25Turn => Scoring::Bm25(Bm25::new(lines())),
            Arm::DenseTurn => {
                let dated: Vec<String> = items.iter().map(|item| dated(conversation, item)).collect();
                Scoring::Dense(embed(&*embedder, &dated)?)
            }
            Arm::Trial => Scoring::Trial(Box::new(trial(conversation, &items, &*embedder)?)),
            Arm::Ours => unreachable!("the memory itself is no turn index"),
        };
        Ok(Self { items, embedder, scoring })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The `k` best items for a question, best first; equal scores in dialogue order.
    ///
    /// # Errors
    /// [`BenchError::Embed`] if the question cannot be embedded.
    pub fn search(&self, question: &str, k: usize) -> Result<Vec<&Item>, BenchError> {
        let scores = match &self.scoring {
            Scoring::Bm25(index) => index.scores(question),
            Scoring::Dense(rows) => cosines(rows, self.embedder.embed(&[question])?.as_slice()),
            Scoring::Trial(trial) => self.trial_scores(trial, question)?,
        };
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        Ok(order.into_iter().take(k).map(|i| &self.items[i]).collect())
    }

    fn trial_scores(&self, trial: &Trial, question: &str) -> Result<Vec<f32>, BenchError> {
        let query = self.embedder.embed(&[question])?;
        let mut best = vec![-1.0_f32; self.items.len()];
        for (cosine, &owner) in cosines(&trial.sentences, query.as_slice()).into_iter().zip(&trial.owners) {
            best[owner] = best[owner].max(cosine);
        }
        let context = cosines(&trial.context, query.as_slice());
        let lexical = trial.lexical.scaled_scores(question);
        let window = trial.window.scaled_scores(question);
        let own: Vec<f32> = (0..self.items.len())
            .map(|i| {
                let named = f32::from(u8::from(names(question, &self.items[i].speaker)));
                weight::SENTENCE * best[i]
                    + weight::CONTEXT * context[i]
                    + weight::LEXICAL * lexical[i]
                    + weight::LEXICAL_WINDOW * window[i]
                    + weight::SPEAKER * named
            })
            .collect();
        let with_neighbours = |i: usize| {
            let neighbour = neighbours(&self.items, i).map(|j| own[j]).fold(0.0, f32::max);
            own[i] + weight::NEIGHBOUR * neighbour
        };
        Ok((0..self.items.len()).map(with_neighbours).collect())
    }
}

fn items(conversation: &Conversation) -> Vec<Item> {
    let of = |(session, turn): (usize, &Turn)| Item {
        session,
        turn: turn.index,
        line: line(turn),
        speaker: turn.speaker.clone(),
    };
    let sessions = conversation.sessions.iter().enumerate();
    sessions.flat_map(|(i, s)| s.turns.iter().map(move |t| (i, t))).map(of).collect()
}

fn line(turn: &Turn) -> String {
    match &turn.caption {
        Some(caption) => format!("{}: {} [{caption}]", turn.speaker, turn.text),
        None => format!("{}: {}", turn.speaker, turn.text),
    }
}

fn dated(conversation: &Conversation, item: &Item) -> String {
    match conversation.sessions[item.session].said_at(item.turn) {
        Some(at) => format!("[{}] {}", at.strftime("%-d %B %Y"), item.line),
        None => item.line.clone(),
    }
}

fn trial(conversation: &Conversation, items: &[Item], embedder: &dyn Embedder) -> Result<Trial, BenchError> {
    let (mut sentences, mut owners) = (Vec::new(), Vec::new());
    let mut contexts = Vec::new();
    let mut windows = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let turn = &conversation.sessions[item.session].turns[item.turn as usize];
        let captions = turn.caption.iter().map(String::as_str);
        for sentence in split_sentences(&turn.text).chain(captions) {
            sentences.push(format!("{}: {sentence}", item.speaker));
            owners.push(i);
        }
        let mut near: Vec<usize> = neighbours(items, i).collect();
        let before = near.iter().copied().filter(|&j| j < i).map(|j| items[j].line.as_str());
        contexts.push(before.chain([item.line.as_str()]).collect::<Vec<_>>().join("\n"));
        near.push(i);
        near.sort_unstable();
        windows.push(near.iter().map(|&j| items[j].line.as_str()).collect::<Vec<_>>().join("\n"));
    }
    Ok(Trial {
        sentences: embed(embedder, &sentences)?,
        owners,
        context: embed(embedder, &contexts)?,
        lexical: Bm25::new(items.iter().map(|i| &i.line)),
        window: Bm25::new(windows),
    })
}

/// Items before and after item `i` in its session.
fn neighbours(items: &[Item], i: usize) -> impl Iterator<Item = usize> {
    let same =
        move |j: Option<usize>| j.filter(|&j| items.get(j).is_some_and(|n| n.session == items[i].session));
    same(i.checked_sub(1)).into_iter().chain(same(i.checked_add(1)))
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n');
    text.split_inclusive(ends).map(str::trim).filter(|s| s.chars().any(char::is_alphanumeric))
}

fn embed(embedder: &dyn Embedder, texts: &[String]) -> Result<Embeddings, BenchError> {
    Ok(embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())?)
}

fn cosines(rows: &Embeddings, query: &[f32]) -> Vec<f32> {
    rows.rows().map(|row| row.iter().zip(query).map(|(a, b)| a * b).sum()).collect()
}

/// Whether the question has the name as a word of its own.
fn names(question: &str, name: &str) -> bool {
    question.split(|c: char| !c.is_alphanumeric()).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use fta_mem::index::testing::HashEmbedder;
    use fta_segment::{Role, Session};

    use super::*;

    fn conversation() -> Conversation {
        let turn = |index, speaker: &str, text: &str| Turn {
            index,
            source_id: format!("s:{}", index + 1),
            speaker: speaker.to_owned(),
            role: Role::Peer,
            at: None,
            text: text.to_owned(),
            caption: None,
        };
        let turns = vec![
            turn(0, "Ada", "Which instrument do you play?"),
            turn(1, "Ben", "The cello. It is heavy!"),
            turn(2, "Ada", "My brother repairs bicycles."),
        ];
        Conversation {
            id: "c".to_owned(),
            sessions: vec![Session { id: "s".into(), started_at: None, turns }],
        }
    }

    #[test]
    fn every_arm_finds_the_turn_that_shares_words() {
        for arm in [Arm::Bm25Turn, Arm::DenseTurn, Arm::Trial] {
            let index = TurnIndex::new(arm, &conversation(), Arc::new(HashEmbedder::default())).unwrap();
            let found = index.search("Who repairs bicycles?", 2).unwrap();
            assert_eq!((found.len(), found[0].turn), (2, 2), "{arm:?}");
        }
    }

    #[test]
    fn the_trial_lifts_neighbours_and_named_speakers() {
        let index = TurnIndex::new(Arm::Trial, &conversation(), Arc::new(HashEmbedder::default())).unwrap();
        let found = index.search("What instrument does Ben play?", 2).unwrap();
        let turns: Vec<u32> = found.iter().map(|i| i.turn).collect();
        assert_eq!(turns, [0, 1]);
        assert!(names("Ben's cello", "Ben") && !names("Bend it", "Ben"));
    }
}
