//! Ours, through the public facade.

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::{
    LinkingConfig, Memory, MemoryBuilder, OnFailure, RetrieveOptions, UserMemory,
    profile::OpenModel,
    retrieve::{Packet, RuleRewriter},
    units::{Namespace, UnitExtractor, offline::RuleExtractor},
};
use fta_segment::{
    BoundaryDetector, Bws, BwsConfig, CohesionConfig, CohesionDetector, FixedWindow, FixedWindowConfig,
    SegmentError, Segmenter, Session, TurnPairs, WholeSession,
};

use super::{
    Asked, Budget, ByModel, Context, FtaSettings, Kept, MemorySystem, Parts, Reply, Segmentation,
    SystemError, Without,
    context::shown,
    reader::{Flat, flat, reader},
    without::{Anchorless, NoLongitudinal, Unlinked, Verbatim, undated},
};

/// The memory of this workspace.
pub struct FtaSystem {
    memory: UserMemory,
    settings: FtaSettings,
    sessions: Vec<Session>,
}

impl FtaSystem {
    /// An empty memory, kept in memory only.
    ///
    /// # Errors
    /// [`SystemError::Settings`] for settings that cannot be used, and the errors of the facade.
    pub fn new(settings: FtaSettings, parts: &Parts) -> Result<Self, SystemError> {
        let name = Namespace::new(parts.conversation.clone()).map_err(|e| SystemError::Name(Box::new(e)))?;
        let linking = parts.by_model.as_ref().map_or_else(LinkingConfig::default, |by| by.profile.linking());
        let config = settings.config(&linking)?;
        let builder = Memory::builder().in_memory().embedder(parts.embedder.clone()).config(config);
        let builder = match &parts.by_model {
            // A step that the rules did instead of the model would be measured as the model's.
            Some(by) => builder
                .profile(&by.profile, &OpenModel::new(by.model.clone(), None)?)?
                .on_failure(OnFailure::Stop),
            None => builder,
        };
        let builder = segmentation(builder, &settings, parts.by_model.as_ref())?;
        let memory = ablation(builder, &settings, parts)?.build()?;
        Ok(Self { memory: memory.user(name)?, settings, sessions: Vec::new() })
    }

    /// The memory, to look into.
    pub fn memory(&self) -> &UserMemory {
        &self.memory
    }

    fn shown(&self, packet: &Packet) -> Context {
        let flat = self.settings.is_without(Without::Packet).then(|| flat(packet));
        shown(flat.as_ref().unwrap_or(packet), &self.sessions, |primary| primary.unit.id.to_string())
    }
}

fn wrong(error: &SegmentError) -> SystemError {
    SystemError::Settings { system: "fta".to_owned(), message: error.to_string() }
}

/// Replaces the segmenter where the settings ask for another one than the default or the profile's.
fn segmentation(
    builder: MemoryBuilder,
    settings: &FtaSettings,
    by_model: Option<&ByModel>,
) -> Result<MemoryBuilder, SystemError> {
    let untouched = settings.segmentation == Segmentation::Bws && settings.window.is_none();
    if untouched && settings.step.is_none() {
        return Ok(builder);
    }
    let window = settings.window.unwrap_or(BwsConfig::default().window);
    let step = settings.step.unwrap_or((window / 2).max(1));
    let detector = || -> Result<Arc<dyn BoundaryDetector>, SystemError> {
        if let Some(by) = by_model
            && let Some(detector) = by.profile.detector(&by.model)?
        {
            return Ok(detector);
        }
        Ok(Arc::new(CohesionDetector::new(CohesionConfig::default()).map_err(|e| wrong(&e))?))
    };
    let segmenter: Arc<dyn Segmenter> = match settings.segmentation {
        Segmentation::Bws => {
            let config = BwsConfig { window, min_step: step };
            Arc::new(Bws::new(config, detector()?).map_err(|e| wrong(&e))?)
        }
        Segmentation::Fixed => {
            // The next window starts where the last one ended, unless told otherwise.
            let config = FixedWindowConfig { window, stride: settings.step.unwrap_or(window) };
            Arc::new(FixedWindow::new(config, detector()?).map_err(|e| wrong(&e))?)
        }
        Segmentation::Session => Arc::new(WholeSession),
        Segmentation::Pairs => Arc::new(TurnPairs),
    };
    Ok(builder.segmenter(segmenter))
}

/// Puts something empty in the place of what is left out.
fn ablation(
    mut builder: MemoryBuilder,
    settings: &FtaSettings,
    parts: &Parts,
) -> Result<MemoryBuilder, SystemError> {
    let time = settings.is_without(Without::Time) || settings.is_without(Without::Dates);
    let affect = settings.is_without(Without::Affect);
    if time || affect {
        let extractor = extractor(parts)?;
        builder = builder.extractor(Arc::new(Anchorless { extractor, time, affect }));
    }
    if settings.is_without(Without::Links) {
        builder = builder.classifier(Arc::new(Unlinked));
    }
    if settings.is_without(Without::Auxiliary) {
        builder = builder.longitudinal(Arc::new(NoLongitudinal));
    }
    if settings.is_without(Without::Rewrite) {
        builder = builder.rewriter(Arc::new(Verbatim(Arc::new(RuleRewriter))));
    }
    if settings.is_without(Without::Packet) {
        builder = builder.answerer(Arc::new(Flat(reader(parts)?)));
    }
    Ok(builder)
}

fn extractor(parts: &Parts) -> Result<Arc<dyn UnitExtractor>, SystemError> {
    let by_model = parts.by_model.as_ref().map(|by| by.profile.extractor(&by.model)).transpose()?;
    Ok(by_model.flatten().unwrap_or_else(|| Arc::new(RuleExtractor::default())))
}

#[async_trait]
impl MemorySystem for FtaSystem {
    async fn ingest(&mut self, session: &Session) -> Result<(), SystemError> {
        let session =
            if self.settings.is_without(Without::Dates) { undated(session) } else { session.clone() };
        self.memory.ingest(&session).await?;
        self.sessions.push(session);
        Ok(())
    }

    async fn context(&self, question: &Asked<'_>, budget: Budget) -> Result<Context, SystemError> {
        let options =
            RetrieveOptions { k: budget.items, token_budget: budget.tokens, asked_at: question.asked_at };
        Ok(self.shown(&self.memory.retrieve(question.text, &options).await?))
    }

    async fn answer(&self, question: &Asked<'_>) -> Result<Reply, SystemError> {
        let options = RetrieveOptions { asked_at: question.asked_at, ..RetrieveOptions::default() };
        let asked = self.memory.ask(question.text, &options).await?;
        let context = self.shown(&asked.packet);
        Ok(Reply { text: asked.answer.text, abstained: Some(asked.answer.abstained), context })
    }

    fn kept(&self) -> Kept {
        let stats = self.memory.stats();
        Kept { items: stats.units, covered: Some((stats.content_turns, stats.covered_turns)) }
    }
}
