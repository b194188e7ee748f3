//! The memory of one user.

use std::sync::Arc;

use fta_retrieve::{Packet, Question, RetrievalConfig, RewriteError, assemble, rank};
use fta_segment::{Session, SessionId};
use fta_units::{Link, Longitudinal, Namespace, StoredSession, Unit, UnitId};
use jiff::civil::DateTime;

use crate::{
    Asked, Correction, Deleted, Error, IngestReport, ListFilter, MemoryStats, RetrieveOptions,
    RunningSession, UnitView, edit, fallback, ingest,
    parts::{Parts, blocking},
    retry,
    state::UserState,
    transfer::{self, ImportReport},
    view,
};

/// The memory of one user. Cheap to clone; clones share everything. Reads see whole sessions while a write runs.
#[derive(Clone)]
pub struct UserMemory {
    parts: Arc<Parts>,
    state: Arc<UserState>,
}

impl UserMemory {
    pub(crate) fn new(parts: Arc<Parts>, state: Arc<UserState>) -> Self {
        Self { parts, state }
    }

    /// Its name.
    pub fn namespace(&self) -> &Namespace {
        &self.state.namespace
    }

    /// Takes in a whole session in one transaction. The same session again changes nothing; a changed one replaces its
    /// units.
    ///
    /// # Errors
    /// [`Error::Dialogue`] for a session that cannot be used; else the [`Error`] of the step that failed. The memory is
    /// as it was then.
    pub async fn ingest(&self, session: &Session) -> Result<IngestReport, Error> {
        ingest::ingest(&self.parts, &self.state, session).await
    }

    /// Begins a session whose turns arrive one by one. An earlier session of this id is replaced by the first turn.
    ///
    /// # Errors
    /// [`Error::Dialogue`] for an empty id.
    pub fn begin(&self, id: SessionId, started_at: Option<DateTime>) -> Result<RunningSession, Error> {
        RunningSession::begin(self.parts.clone(), self.state.clone(), id, started_at)
    }

    /// Does again, and only, what fallbacks did because a step failed: one report for each session that was marked.
    ///
    /// Fragments whose extraction failed are extracted again and units whose linking failed are linked again, under new
    /// ids; a session whose boundaries failed is made anew as a whole, unless a person
    /// corrected a unit of it: corrected units stay, and so does that mark. What fails again stays marked.
    ///
    /// # Errors
    /// The [`Error`] of a step that failed without a fallback; sessions before it are done.
    pub async fn retry(&self) -> Result<Vec<IngestReport>, Error> {
        retry::retry(&self.parts, &self.state).await
    }

    /// Retrieves the packet for a question (Eq. 8-11).
    ///
    /// # Errors
    /// [`Error::Rewrite`] for an empty question; else the [`Error`] of the step that failed.
    pub async fn retrieve(&self, question: &str, options: &RetrieveOptions) -> Result<Packet, Error> {
        self.retrieve_noted(question, options, &mut Vec::new()).await
    }

    async fn retrieve_noted(
        &self,
        question: &str,
        options: &RetrieveOptions,
        notes: &mut Vec<String>,
    ) -> Result<Packet, Error> {
        let (speakers, newest) = {
            let loaded = self.state.read();
            let newest = loaded.corpus.sessions().last().and_then(|s| s.session.started_at);
            (loaded.corpus.speakers(), newest)
        };
        let asked_at = options.asked_at.or(newest);
        let question = Question { text: question, asked_at, speakers: &speakers };
        let query = match self.parts.rewriter.rewrite(question).await {
            Ok(query) => query,
            // No rewriter can do without a question.
            Err(error @ RewriteError::Empty) => return Err(error.into()),
            Err(error) => {
                let (fallback, reason) = fallback::after(self.parts.fallback.as_ref(), error)?;
                notes.push(reason);
                fallback.rewriter.rewrite(question).await?
            }
        };
        let config = self.retrieval_config(options);
        let (parts, state) = (self.parts.clone(), self.state.clone());
        blocking(move || {
            let vector = parts.embedder.embed(&[query.text.as_str()])?;
            state.search(&parts, |loaded| {
                let ranked = rank(&query, vector.as_slice(), &loaded.corpus, loaded.index(), &config)?;
                Ok(assemble(query.clone(), &ranked, &loaded.corpus, &config))
            })
        })
        .await
    }

    fn retrieval_config(&self, options: &RetrieveOptions) -> RetrievalConfig {
        let mut config = self.parts.config.retrieval.clone();
        config.k = options.k.unwrap_or(config.k);
        config.token_budget = options.token_budget.or(config.token_budget);
        config
    }

    /// Answers a question from its packet (Eq. 12).
    ///
    /// # Errors
    /// As [`UserMemory::retrieve`]; [`Error::Answer`] if the answerer fails. Weak evidence is no error: the answer
    /// abstains.
    pub async fn ask(&self, question: &str, options: &RetrieveOptions) -> Result<Asked, Error> {
        let mut notes = Vec::new();
        let packet = self.retrieve_noted(question, options, &mut notes).await?;
        let answer = match self.parts.answerer.answer(&packet).await {
            Ok(answer) => answer,
            Err(error) => {
                let (fallback, reason) = fallback::after(self.parts.fallback.as_ref(), error)?;
                notes.push(reason);
                fallback.answerer.answer(&packet).await?
            }
        };
        Ok(Asked { answer, packet, notes })
    }

    /// Lists units by the time they were said, then by id.
    pub fn list(&self, filter: &ListFilter) -> Vec<Unit> {
        view::list(&self.state.read().corpus, filter)
    }

    /// One unit with its evidence and links.
    ///
    /// # Errors
    /// [`Error::NoUnit`] if there is none of this id.
    pub fn show(&self, id: UnitId) -> Result<UnitView, Error> {
        view::show(&self.state.read().corpus, id)
    }

    /// All links by rising `(from, to)`.
    pub fn links(&self) -> Vec<Link> {
        self.state.read().corpus.links().copied().collect()
    }

    /// All sessions with their raw turns, oldest first.
    pub fn sessions(&self) -> Vec<StoredSession> {
        self.state.read().corpus.sessions().into_iter().cloned().collect()
    }

    /// The longitudinal memories `U` and `H`.
    pub fn longitudinal(&self) -> Longitudinal {
        self.state.read().corpus.longitudinal().clone()
    }

    /// Figures of the memory.
    pub fn stats(&self) -> MemoryStats {
        let loaded = self.state.read();
        MemoryStats {
            vectors: loaded.index().len(),
            embedder: loaded.meta.embedder.clone(),
            ..view::stats(&loaded.corpus)
        }
    }

    /// Corrects a unit: id, evidence and links stay; the correction is kept as provenance and wins in retrieval.
    ///
    /// # Errors
    /// [`Error::NoUnit`], or [`Error::Correction`] if the correction cannot be applied.
    pub async fn correct(&self, id: UnitId, correction: &Correction) -> Result<Unit, Error> {
        let _writing = self.state.writer.lock().await;
        edit::correct(&self.parts, &self.state, id, correction).await
    }

    /// Deletes a unit with its vectors and links, and every trace of them in the store's files. The turns that it was
    /// made from stay; delete the session to remove them.
    ///
    /// # Errors
    /// [`Error::NoUnit`] if there is none of this id.
    pub async fn delete_unit(&self, id: UnitId) -> Result<Deleted, Error> {
        let _writing = self.state.writer.lock().await;
        self.show(id)?;
        edit::delete(&self.parts, &self.state, vec![id], None).await
    }

    /// Deletes a session: turns, units, vectors, links, what `U` and `H` have of them, and every trace in the files.
    ///
    /// # Errors
    /// [`Error::NoSession`] if there is none of this id.
    pub async fn delete_session(&self, id: &SessionId) -> Result<Deleted, Error> {
        let _writing = self.state.writer.lock().await;
        let units = {
            let loaded = self.state.read();
            loaded.corpus.session(id).ok_or_else(|| Error::NoSession { session: id.clone() })?;
            loaded.corpus.units_of(id).to_vec()
        };
        edit::delete(&self.parts, &self.state, units, Some(id)).await
    }

    /// Deletes everything of this user, and every trace in the files.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be written.
    pub async fn delete_all(&self) -> Result<Deleted, Error> {
        let _writing = self.state.writer.lock().await;
        edit::delete_all(&self.parts, &self.state).await
    }

    /// Writes the whole memory as JSON lines (see [`crate::transfer`]); returns the number of lines.
    ///
    /// # Errors
    /// [`Error::Io`] if `out` cannot be written.
    pub fn export(&self, out: &mut dyn std::io::Write) -> Result<usize, Error> {
        let loaded = self.state.read();
        transfer::export(&loaded.corpus, self.namespace(), &loaded.meta.embedder, out)
    }

    /// Reads what [`UserMemory::export`] wrote: sessions that are not there yet, with units, links, `U` and `H`. Texts are
    /// embedded anew, so an export can move to another model. All in one transaction.
    ///
    /// # Errors
    /// [`Error::Import`] naming the line that cannot be read, or a session that is there with other content; the memory
    /// is as it was then.
    pub async fn import(&self, input: &mut (dyn std::io::BufRead + Send)) -> Result<ImportReport, Error> {
        let export = transfer::parse(input)?;
        let _writing = self.state.writer.lock().await;
        transfer::import(&self.parts, &self.state, export).await
    }

    /// Rebuilds corpus and index from the store, without any model call; returns the number of vectors.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read.
    pub fn rebuild_index(&self) -> Result<usize, Error> {
        self.state.rebuild(&self.parts)
    }
}
