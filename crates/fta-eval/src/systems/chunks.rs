//! The yardsticks: pieces of dialogue as they were said, ranked and answered from.

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::retrieve::{Answerer, Packet, Query, Question, RuleRewriter};
use fta_segment::{Role, Session, TurnSpan};
use serde::{Deserialize, Serialize};

use super::{
    Asked, Budget, ChunkSettings, Context, Kept, MemorySystem, Parts, Ranking, Reply, SystemError,
    context::{Chunk, fit, packet, shown},
    ranking::Index,
    reader::reader,
};

/// What is retrieved as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// Single turns.
    #[default]
    Turn,
    /// Two turns of peers; of a seeker and a supporter, or a user and an assistant, a round of ES-MemEval: it ends when
    /// the seeker speaks again after the other did.
    Pair,
    /// Whole sessions.
    Session,
}

/// A yardstick: no units, no times, no links.
pub struct ChunkSystem {
    ranking: Ranking,
    settings: ChunkSettings,
    parts: Parts,
    reader: Arc<dyn Answerer>,
    sessions: Vec<Session>,
    chunks: Vec<Chunk>,
    index: Index,
}

impl ChunkSystem {
    /// An empty memory.
    ///
    /// # Errors
    /// [`SystemError::Settings`] for settings that do not go together, [`SystemError::Profile`] if the answerer by model
    /// cannot be made.
    pub fn new(ranking: Ranking, settings: ChunkSettings, parts: &Parts) -> Result<Self, SystemError> {
        let wrong = |message: &str| {
            Err(SystemError::Settings { system: format!("{ranking:?}"), message: message.to_owned() })
        };
        if settings.k == 0 {
            return wrong("`k` is 0: at least 1 is expected");
        }
        if ranking == Ranking::Trial && settings.unit != Granularity::Turn {
            return wrong("it ranks turns only: `unit` must be `turn`");
        }
        Ok(Self {
            ranking,
            settings,
            reader: reader(parts)?,
            parts: parts.clone(),
            sessions: Vec::new(),
            chunks: Vec::new(),
            index: Index::Nothing,
        })
    }

    fn query(&self, question: &Asked<'_>) -> Result<Query, SystemError> {
        let mut speakers: Vec<String> =
            self.sessions.iter().flat_map(|s| s.speakers().into_iter().map(str::to_owned)).collect();
        speakers.sort();
        speakers.dedup();
        let newest = self.sessions.last().and_then(|s| s.started_at);
        let asked_at = question.asked_at.or(newest);
        Ok(RuleRewriter.rewrite_now(Question { text: question.text, asked_at, speakers: &speakers })?)
    }

    fn packet(&self, question: &Asked<'_>, budget: Budget) -> Result<Packet, SystemError> {
        let query = self.query(question)?;
        let found = self.index.rank(question.text, &self.chunks, self.parts.embedder.as_ref())?;
        Ok(packet(&query, &self.sessions, fit(&query, &self.sessions, &found, budget)))
    }

    fn shown(&self, packet: &Packet) -> Context {
        shown(packet, &self.sessions, |primary| {
            let evidence = &primary.unit.evidence;
            let session = self.sessions.iter().find(|s| s.id == evidence.session);
            let turns = session.map(|s| s.span(evidence.turns)).unwrap_or_default();
            match turns {
                [turn] => turn.source_id.clone(),
                [first, .., last] => format!("{}..{}", first.source_id, last.source_id),
                [] => evidence.session.0.clone(),
            }
        })
    }
}

#[async_trait]
impl MemorySystem for ChunkSystem {
    async fn ingest(&mut self, session: &Session) -> Result<(), SystemError> {
        self.sessions.push(session.clone());
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), SystemError> {
        let unit = self.settings.unit;
        let kept = if self.ranking == Ranking::Newest { self.settings.sessions } else { usize::MAX };
        let sessions = self.sessions.iter().enumerate();
        self.chunks = sessions
            .skip(self.sessions.len().saturating_sub(kept))
            .flat_map(|(position, session)| {
                spans(session, unit).into_iter().map(move |turns| Chunk { session: position, turns })
            })
            .collect();
        let embedder = self.parts.embedder.as_ref();
        self.index = Index::new(self.ranking, &self.sessions, &self.chunks, embedder, self.settings.dated)?;
        Ok(())
    }

    async fn context(&self, question: &Asked<'_>, budget: Budget) -> Result<Context, SystemError> {
        Ok(self.shown(&self.packet(question, budget)?))
    }

    async fn answer(&self, question: &Asked<'_>) -> Result<Reply, SystemError> {
        let budget = Budget { items: Some(self.settings.k), tokens: self.settings.token_budget };
        let packet = self.packet(question, budget)?;
        let answer = self.reader.answer(&packet).await?;
        Ok(Reply { text: answer.text, abstained: Some(answer.abstained), context: self.shown(&packet) })
    }

    fn kept(&self) -> Kept {
        Kept { items: self.chunks.len(), covered: None }
    }
}

/// The pieces of a session, in order; they tile it.
fn spans(session: &Session, unit: Granularity) -> Vec<TurnSpan> {
    let n = session.turns.len() as u32;
    match unit {
        Granularity::Session => (n > 0).then(|| TurnSpan::new(0, n)).into_iter().collect(),
        Granularity::Turn => (0..n).map(|turn| TurnSpan::new(turn, turn + 1)).collect(),
        Granularity::Pair => {
            let mut spans: Vec<TurnSpan> = Vec::new();
            for turn in 0..n {
                match spans.last_mut() {
                    Some(span) if !begins_pair(session, *span, turn) => span.end = turn + 1,
                    _ => spans.push(TurnSpan::new(turn, turn + 1)),
                }
            }
            spans
        }
    }
}

/// Whether `turn` begins a new pair after the turns of `span`.
fn begins_pair(session: &Session, span: TurnSpan, turn: u32) -> bool {
    let role = |index: u32| session.turns[index as usize].role;
    if role(turn) == Role::Peer {
        return span.len() == 2;
    }
    role(turn) == Role::Seeker && role(turn - 1) != Role::Seeker && span.len() > 1
}

#[cfg(test)]
mod tests {
    use fta_segment::Turn;

    use super::*;

    fn session(roles: &[Role]) -> Session {
        let turn = |(index, &role): (usize, &Role)| Turn {
            index: index as u32,
            source_id: format!("s:{}", index + 1),
            speaker: format!("{role:?}"),
            role,
            at: None,
            text: "Yes.".to_owned(),
            caption: None,
        };
        Session { id: "s".into(), started_at: None, turns: roles.iter().enumerate().map(turn).collect() }
    }

    fn check(roles: &[Role], unit: Granularity, expected: &[(u32, u32)]) {
        let found = spans(&session(roles), unit);
        let expected: Vec<TurnSpan> = expected.iter().map(|&(a, b)| TurnSpan::new(a, b)).collect();
        assert_eq!(found, expected, "{roles:?} {unit:?}");
    }

    #[test]
    fn pieces_tile_a_session() {
        use Role::{Peer as P, Seeker as S, Supporter as H};
        check(&[P; 5], Granularity::Turn, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
        check(&[P; 5], Granularity::Pair, &[(0, 2), (2, 4), (4, 5)]);
        check(&[P; 5], Granularity::Session, &[(0, 5)]);
        // A greeting of the supporter does not end a round; several turns of one side stay together.
        check(&[S, H, S, S, H, H], Granularity::Pair, &[(0, 2), (2, 6)]);
        check(&[H, S, H, S], Granularity::Pair, &[(0, 3), (3, 4)]);
        for unit in [Granularity::Turn, Granularity::Pair, Granularity::Session] {
            check(&[], unit, &[]);
        }
    }
}
