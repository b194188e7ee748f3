//! Dialogue types: conversation, session, turn. Imports nothing else of this crate.

use std::ops::Range;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// Id of a session, unique within one memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub String);

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for SessionId {
    fn from(s: &str) -> Self {
        Self(s.to_owned())
    }
}

/// What a speaker is in the dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Role {
    /// Seeks help or talks to an assistant (`user`, `seeker`).
    Seeker,
    /// Gives help (`assistant`, `supporter`).
    Supporter,
    /// One of several people on an equal footing.
    #[default]
    Peer,
    /// Instructions and notices that nobody in the dialogue says (`system`, `tool`).
    System,
}

/// One turn: what one speaker said at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Position in the session, from 0, without gaps.
    pub index: u32,
    /// Id in the source (`D3:7`), or `<session>:<index + 1>` where the source has none.
    pub source_id: String,
    /// Name as shown to people.
    pub speaker: String,
    /// Role of the speaker.
    pub role: Role,
    /// When it was said, if the source says so for the turn.
    pub at: Option<DateTime>,
    /// What was said.
    pub text: String,
    /// Description of a picture shared with the turn.
    pub caption: Option<String>,
}

/// One session: a dialogue without a long break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When it began, in the local time of the dialogue. `None` when the source has no date.
    pub started_at: Option<DateTime>,
    /// Its turns in order; `turns[i].index == i`.
    pub turns: Vec<Turn>,
}

impl Session {
    /// Dialogue time of turn `index`: its own time, else the session's start.
    pub fn said_at(&self, index: u32) -> Option<DateTime> {
        self.turns.get(index as usize).and_then(|t| t.at).or(self.started_at)
    }

    /// The turns of a span; turns outside the session are left out.
    pub fn span(&self, span: TurnSpan) -> &[Turn] {
        let end = (span.end as usize).min(self.turns.len());
        let start = (span.start as usize).min(end);
        &self.turns[start..end]
    }

    /// The speakers in order of their first turn.
    pub fn speakers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for turn in &self.turns {
            if !names.contains(&turn.speaker.as_str()) {
                names.push(&turn.speaker);
            }
        }
        names
    }

    /// Checks what the rest of the system relies on.
    ///
    /// # Errors
    /// [`DialogueError`] for an empty id, no turns, or turns that are not numbered `0, 1, 2, ...`.
    pub fn validate(&self) -> Result<(), DialogueError> {
        if self.id.0.trim().is_empty() {
            return Err(DialogueError::EmptySessionId);
        }
        if self.turns.is_empty() {
            return Err(DialogueError::NoTurns { session: self.id.clone() });
        }
        for (position, turn) in self.turns.iter().enumerate() {
            if turn.index as usize != position {
                return Err(DialogueError::TurnIndex {
                    session: self.id.clone(),
                    expected: position,
                    received: turn.index,
                });
            }
        }
        Ok(())
    }
}

/// All sessions of one case, in time order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Id of the case (`conv-26`, `p1`); used as the memory's namespace.
    pub id: String,
    /// Sessions, oldest first.
    pub sessions: Vec<Session>,
}

/// Half-open range of turn indexes of one session, `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnSpan {
    /// First turn.
    pub start: u32,
    /// One past the last turn.
    pub end: u32,
}

impl TurnSpan {
    /// The span `start..end`; empty when `end <= start`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Number of turns.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span holds no turn.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Whether turn `index` lies in the span.
    pub fn contains(self, index: u32) -> bool {
        (self.start..self.end).contains(&index)
    }

    /// Turn indexes in order.
    pub fn range(self) -> Range<u32> {
        self.start..self.end
    }

    /// Whether the two spans share a turn.
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Smallest span that holds both.
    pub fn cover(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl std::fmt::Display for TurnSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A dialogue that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialogueError {
    /// The session has no id.
    #[error("session id is empty")]
    EmptySessionId,
    /// The session has no turns.
    #[error("session `{session}` has no turns")]
    NoTurns {
        /// The session.
        session: SessionId,
    },
    /// Turns are not numbered from 0 without gaps.
    #[error("turn `{received}` of session `{session}` stands at position `{expected}`")]
    TurnIndex {
        /// The session.
        session: SessionId,
        /// Position in the list.
        expected: usize,
        /// Index in the turn.
        received: u32,
    },
}
