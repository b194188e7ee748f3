//! A blend over single turns: several vectors, word scores, the named speaker, neighbours.

use fta_mem::index::{Embedder, Embeddings};
use fta_segment::Session;

use super::{
    Bm25, SystemError,
    context::Chunk,
    ranking::{cosines, embed, line},
};

/// Weights of the terms.
mod weight {
    pub(super) const SENTENCE: f32 = 0.6;
    pub(super) const CONTEXT: f32 = 0.4;
    pub(super) const LEXICAL: f32 = 0.2;
    pub(super) const LEXICAL_WINDOW: f32 = 0.2;
    pub(super) const SPEAKER: f32 = 0.1;
    pub(super) const NEIGHBOUR: f32 = 0.2;
}

/// Turns, indexed for the blend.
pub(super) struct Trial {
    /// A vector for each sentence, and the turn that it is of.
    sentences: Embeddings,
    owners: Vec<usize>,
    /// A vector for each turn with the one before it.
    context: Embeddings,
    lexical: Bm25,
    window: Bm25,
    speakers: Vec<String>,
    sessions: Vec<usize>,
}

impl Trial {
    /// Indexes the first turn of each chunk.
    pub(super) fn new(
        sessions: &[Session],
        chunks: &[Chunk],
        embedder: &dyn Embedder,
    ) -> Result<Self, SystemError> {
        let turns: Vec<_> =
            chunks.iter().map(|c| &sessions[c.session].turns[c.turns.start as usize]).collect();
        let of: Vec<usize> = chunks.iter().map(|c| c.session).collect();
        let lines: Vec<String> = turns.iter().map(|turn| line(turn)).collect();
        let (mut sentences, mut owners) = (Vec::new(), Vec::new());
        let (mut contexts, mut windows) = (Vec::new(), Vec::new());
        for (i, turn) in turns.iter().enumerate() {
            let captions = turn.caption.iter().map(String::as_str);
            for sentence in split_sentences(&turn.text).chain(captions) {
                sentences.push(format!("{}: {sentence}", turn.speaker));
                owners.push(i);
            }
            let mut near: Vec<usize> = neighbours(&of, i).collect();
            let before = near.iter().copied().filter(|&j| j < i).map(|j| lines[j].as_str());
            contexts.push(before.chain([lines[i].as_str()]).collect::<Vec<_>>().join("\n"));
            near.push(i);
            near.sort_unstable();
            windows.push(near.iter().map(|&j| lines[j].as_str()).collect::<Vec<_>>().join("\n"));
        }
        Ok(Self {
            sentences: embed(embedder, &sentences)?,
            owners,
            context: embed(embedder, &contexts)?,
            lexical: Bm25::new(&lines),
            window: Bm25::new(windows),
            speakers: turns.iter().map(|turn| turn.speaker.clone()).collect(),
            sessions: of,
        })
    }

    /// Score of each turn.
    pub(super) fn scores(&self, question: &str, embedder: &dyn Embedder) -> Result<Vec<f32>, SystemError> {
        let query = embedder.embed(&[question])?;
        let n = self.speakers.len();
        let mut best = vec![-1.0_f32; n];
        for (cosine, &owner) in cosines(&self.sentences, query.as_slice()).into_iter().zip(&self.owners) {
            best[owner] = best[owner].max(cosine);
        }
        let context = cosines(&self.context, query.as_slice());
        let lexical = self.lexical.scaled_scores(question);
        let window = self.window.scaled_scores(question);
        let own: Vec<f32> = (0..n)
            .map(|i| {
                let named = f32::from(u8::from(names(question, &self.speakers[i])));
                weight::SENTENCE * best[i]
                    + weight::CONTEXT * context[i]
                    + weight::LEXICAL * lexical[i]
                    + weight::LEXICAL_WINDOW * window[i]
                    + weight::SPEAKER * named
            })
            .collect();
        let with_neighbours = |i: usize| {
            let neighbour = neighbours(&self.sessions, i).map(|j| own[j]).fold(0.0, f32::max);
            own[i] + weight::NEIGHBOUR * neighbour
        };
        Ok((0..n).map(with_neighbours).collect())
    }
}

/// Positions before and after `i` in its session; `sessions` has the session of each.
fn neighbours(sessions: &[usize], i: usize) -> impl Iterator<Item = usize> {
    let same =
        move |j: Option<usize>| j.filter(|&j| sessions.get(j).is_some_and(|&session| session == sessions[i]));
    same(i.checked_sub(1)).into_iter().chain(same(i.checked_add(1)))
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n');
    text.split_inclusive(ends).map(str::trim).filter(|s| s.chars().any(char::is_alphanumeric))
}

/// Whether the question has the name as a word of its own.
fn names(question: &str, name: &str) -> bool {
    question.split(|c: char| !c.is_alphanumeric()).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_whole_words() {
        assert!(names("Ben's cello", "Ben") && !names("Bend it", "Ben"));
    }
}
