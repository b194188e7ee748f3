//! Rankings of chunks: by words, by embedding, by both.

use fta_mem::index::{Embedder, Embeddings};
use fta_segment::Session;
use serde::{Deserialize, Serialize};

use super::{
    Bm25, SystemError,
    context::{Chunk, Found},
    trial::Trial,
};

/// What chunks are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ranking {
    /// BM25.
    Bm25,
    /// Cosine of one vector per chunk.
    Dense,
    /// Reciprocal rank fusion of the two.
    Hybrid,
    /// Several vectors per turn, word scores and neighbours; turns only.
    Trial,
    /// The newest first; does not look at the question.
    Newest,
    /// Nothing at all.
    Nothing,
}

/// Ranks at which reciprocal rank fusion counts half (Cormack, Clarke and Buettcher 2009).
const FUSION: f32 = 60.0;

/// Chunks that are ready to be searched.
pub(super) enum Index {
    Bm25(Bm25),
    Dense(Embeddings),
    Hybrid(Bm25, Embeddings),
    Trial(Box<Trial>),
    Newest,
    Nothing,
}

impl Index {
    /// Indexes chunks; `dated` puts the date before the text.
    pub(super) fn new(
        ranking: Ranking,
        sessions: &[Session],
        chunks: &[Chunk],
        embedder: &dyn Embedder,
        dated: bool,
    ) -> Result<Self, SystemError> {
        let texts: Vec<String> = chunks.iter().map(|chunk| text(sessions, chunk, dated)).collect();
        let plain = || Bm25::new(chunks.iter().map(|chunk| text(sessions, chunk, false)));
        Ok(match ranking {
            Ranking::Bm25 => Self::Bm25(plain()),
            Ranking::Dense => Self::Dense(embed(embedder, &texts)?),
            Ranking::Hybrid => Self::Hybrid(plain(), embed(embedder, &texts)?),
            Ranking::Trial => Self::Trial(Box::new(Trial::new(sessions, chunks, embedder)?)),
            Ranking::Newest => Self::Newest,
            Ranking::Nothing => Self::Nothing,
        })
    }

    /// All chunks that the ranking finds, best first, with scores in `[0, 1]`.
    pub(super) fn rank<'c>(
        &self,
        question: &str,
        chunks: &'c [Chunk],
        embedder: &dyn Embedder,
    ) -> Result<Vec<Found<'c>>, SystemError> {
        let scores = match self {
            Self::Bm25(index) => index.scaled_scores(question),
            Self::Dense(rows) => cosines(rows, embedder.embed(&[question])?.as_slice()),
            Self::Hybrid(index, rows) => {
                let dense = cosines(rows, embedder.embed(&[question])?.as_slice());
                fuse(&[index.scores(question), dense])
            }
            Self::Trial(trial) => trial.scores(question, embedder)?,
            Self::Newest => (0..chunks.len()).map(|i| i as f32 / chunks.len() as f32).collect(),
            Self::Nothing => return Ok(Vec::new()),
        };
        let order = order(&scores);
        Ok(order.into_iter().map(|i| Found { chunk: &chunks[i], score: scores[i].clamp(0.0, 1.0) }).collect())
    }
}

/// Positions by falling score; the earlier of two alike first.
fn order(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order
}

/// Reciprocal rank fusion, scaled so that the first place in every ranking is 1.
fn fuse(rankings: &[Vec<f32>]) -> Vec<f32> {
    let n = rankings.first().map_or(0, Vec::len);
    let mut fused = vec![0.0; n];
    for scores in rankings {
        for (rank, position) in order(scores).into_iter().enumerate() {
            fused[position] += (FUSION + 1.0) / (FUSION + rank as f32 + 1.0) / rankings.len() as f32;
        }
    }
    fused
}

/// `[7 May 2023] Speaker: text [caption]`, a line for each turn; the date once.
fn text(sessions: &[Session], chunk: &Chunk, dated: bool) -> String {
    let session = &sessions[chunk.session];
    let mut text = match session.said_at(chunk.turns.start) {
        Some(at) if dated => format!("[{}] ", at.strftime("%-d %B %Y")),
        _ => String::new(),
    };
    let lines: Vec<String> = session.span(chunk.turns).iter().map(line).collect();
    text.push_str(&lines.join("\n"));
    text
}

/// `Speaker: text [caption]`.
pub(super) fn line(turn: &fta_segment::Turn) -> String {
    match &turn.caption {
        Some(caption) => format!("{}: {} [{caption}]", turn.speaker, turn.text),
        None => format!("{}: {}", turn.speaker, turn.text),
    }
}

pub(super) fn embed(embedder: &dyn Embedder, texts: &[String]) -> Result<Embeddings, SystemError> {
    Ok(embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())?)
}

/// Cosine of each row with the query, `[n]`.
pub(super) fn cosines(rows: &Embeddings, query: &[f32]) -> Vec<f32> {
    rows.rows().map(|row| row.iter().zip(query).map(|(a, b)| a * b).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fusion_rewards_agreement() {
        let fused = fuse(&[vec![0.9, 0.8, 0.1], vec![5.0, 9.0, 1.0]]);
        assert_eq!(order(&fused), [0, 1, 2]);
        assert!((fused[0] - fused[1]).abs() < 1e-6 && fused[1] > fused[2]);
        assert!((fuse(&[vec![1.0], vec![1.0]])[0] - 1.0).abs() < 1e-6);
        assert!(fuse(&[]).is_empty());
    }
}
