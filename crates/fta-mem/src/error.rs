//! Errors of the facade.

use fta_segment::SessionId;
use fta_units::UnitId;

/// What can go wrong with a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dialogue cannot be used.
    #[error("dialogue cannot be ingested")]
    Dialogue(#[from] fta_segment::DialogueError),
    /// Segmentation failed.
    #[error("session `{session}` could not be segmented")]
    Segment {
        /// The session.
        session: SessionId,
        /// The cause.
        source: Box<fta_segment::SegmentError>,
    },
    /// Extraction failed.
    #[error("units could not be extracted")]
    Extract(#[from] fta_units::ExtractError),
    /// Linking failed.
    #[error("units could not be linked")]
    Link(#[from] fta_units::LinkError),
    /// The longitudinal update failed.
    #[error("longitudinal memory could not be updated")]
    Longitudinal(#[from] fta_units::longitudinal::LongitudinalError),
    /// Embedding failed.
    #[error("text could not be embedded")]
    Embed(#[from] fta_index::EmbedError),
    /// The index failed.
    #[error("index failed")]
    Index(#[from] fta_index::IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] fta_units::StoreError),
    /// Rewriting the question failed.
    #[error("question could not be rewritten")]
    Rewrite(#[from] fta_retrieve::RewriteError),
    /// Answering failed.
    #[error("question could not be answered")]
    Answer(#[from] fta_retrieve::AnswerError),
    /// A setting is out of range.
    #[error("setting `{setting}` is `{value}`: {expected}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What is legal.
        expected: &'static str,
    },
    /// The builder lacks a part.
    #[error("memory needs {part}: {remedy}")]
    Missing {
        /// The part.
        part: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The memory was made with another embedding model.
    #[error(
        "memory `{namespace}` was embedded with `{found}`, the configured model is `{expected}`; open it with that model, or re-embed it with `Memory::reindex` or `fta reindex`"
    )]
    Embedder {
        /// The memory.
        namespace: String,
        /// Model of the stored vectors.
        found: String,
        /// Model that is configured.
        expected: String,
    },
    /// There is no such unit.
    #[error("there is no unit `{id}`")]
    NoUnit {
        /// Its id.
        id: UnitId,
    },
    /// There is no such session.
    #[error("there is no session `{session}`")]
    NoSession {
        /// Its id.
        session: SessionId,
    },
    /// The text is no unit id.
    #[error("`{text}` is no unit id: `u12` or `12` is expected")]
    UnitId {
        /// The text.
        text: String,
    },
    /// A correction cannot be applied.
    #[error("correction of `{id}` cannot be applied: {reason}")]
    Correction {
        /// The unit.
        id: UnitId,
        /// Why.
        reason: String,
    },
    /// An export cannot be read.
    #[error("line `{line}` of the import: {reason}")]
    Import {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The data directory cannot be used.
    #[error("data directory `{path}`")]
    Directory {
        /// The directory.
        path: std::path::PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Reading or writing an export failed.
    #[error("export or import failed")]
    Io(#[from] std::io::Error),
    /// Replies kept for an interrupted build cannot be removed.
    #[error("replies of the model that were kept for an interrupted build cannot be removed")]
    Journal {
        /// The cause.
        source: std::io::Error,
    },
    /// A background computation ended early.
    #[error("background computation ended early: {message}")]
    Task {
        /// What was said.
        message: String,
    },
}
