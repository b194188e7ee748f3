//! The steps of a profile.

use std::sync::Arc;

use fta_llm::{CallConfig, LanguageModel, PromptSource};
use fta_retrieve::{
    Answerer,
    llm::{AnswerStyle, LlmAnswerer, LlmAnswererConfig, LlmRewriter, LlmRewriterConfig},
};
use fta_segment::{
    BoundaryDetector, Bws, BwsConfig,
    llm::{LlmDetector, LlmDetectorConfig},
};
use fta_units::{
    UnitExtractor,
    llm::{
        LlmClassifier, LlmClassifierConfig, LlmExtractor, LlmExtractorConfig, LlmUpdater, LlmUpdaterConfig,
    },
};

use super::{AnswerForm, Construction, ModelKind, OpenModel, Profile, ProfileError, StepBy};
use crate::{LinkingConfig, MemoryBuilder};

impl MemoryBuilder {
    /// Lets `model` do the steps that the profile gives to it; the others stay as they are.
    ///
    /// # Errors
    /// [`ProfileError::Prompt`] if a file of prompts cannot be used.
    pub fn profile(self, profile: &Profile, model: &OpenModel) -> Result<Self, ProfileError> {
        let builder = profile.construction_steps(self, &model.construction)?;
        let builder = profile.query_steps(builder, &model.query)?;
        Ok(match &model.journal {
            Some(journal) => {
                let journal = journal.clone();
                builder.journal(move || journal.clear())
            }
            None => builder,
        })
    }
}

impl Profile {
    /// The linking that goes with who labels the pairs: rules look at many cheap ones, a model at few good ones.
    pub fn linking(&self) -> LinkingConfig {
        let by_model = self.profile != ModelKind::Offline && Self::by_model(self.steps.relations);
        match (by_model, self.construction) {
            (false, _) => LinkingConfig::default(),
            (true, Construction::Lean) => LinkingConfig {
                neighbours: 3,
                min_similarity: 0.45,
                by_words: 1,
                open_plans: 1,
                preceding: 0,
            },
            // The paper compares with the nearest and does not say how many; 5 is ours.
            (true, Construction::Paper) => {
                LinkingConfig { neighbours: 5, min_similarity: 0.0, by_words: 0, open_plans: 0, preceding: 0 }
            }
        }
    }

    fn by_model(step: Option<StepBy>) -> bool {
        step != Some(StepBy::Offline)
    }

    fn prompt_source(&self) -> PromptSource {
        self.prompts.as_ref().map_or_else(PromptSource::builtin, PromptSource::directory)
    }

    /// The boundary detector by `model`, if the profile gives that step to it.
    ///
    /// # Errors
    /// [`ProfileError::Prompt`] if its prompt cannot be used.
    pub fn detector(
        &self,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<Option<Arc<dyn BoundaryDetector>>, ProfileError> {
        if !Self::by_model(self.steps.boundaries) {
            return Ok(None);
        }
        let paper = self.construction == Construction::Paper;
        let config = if paper { LlmDetectorConfig::paper() } else { LlmDetectorConfig::default() };
        Ok(Some(Arc::new(LlmDetector::new(model.clone(), &self.prompt_source(), config)?)))
    }

    /// The unit extractor by `model`, if the profile gives that step to it.
    ///
    /// # Errors
    /// [`ProfileError::Prompt`] if its prompt cannot be used.
    pub fn extractor(
        &self,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<Option<Arc<dyn UnitExtractor>>, ProfileError> {
        if !Self::by_model(self.steps.units) {
            return Ok(None);
        }
        let paper = self.construction == Construction::Paper;
        let config = if paper { LlmExtractorConfig::paper() } else { LlmExtractorConfig::default() };
        Ok(Some(Arc::new(LlmExtractor::new(model.clone(), &self.prompt_source(), config)?)))
    }

    /// The answerer by `model`, if the profile gives that step to it.
    ///
    /// # Errors
    /// [`ProfileError::Prompt`] if its prompt cannot be used.
    pub fn answerer(
        &self,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<Option<Arc<dyn Answerer>>, ProfileError> {
        if !Self::by_model(self.steps.answer) {
            return Ok(None);
        }
        let style = match self.answers {
            AnswerForm::Short => AnswerStyle::Short,
            AnswerForm::Supportive => AnswerStyle::Supportive,
            AnswerForm::Chat => AnswerStyle::Chat,
        };
        // Questions are answered at temperature 0, in the paper too.
        let config = LlmAnswererConfig { call: CallConfig::default(), style, ..LlmAnswererConfig::default() };
        Ok(Some(Arc::new(LlmAnswerer::new(model.clone(), &self.prompt_source(), config)?)))
    }

    fn construction_steps(
        &self,
        mut builder: MemoryBuilder,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<MemoryBuilder, ProfileError> {
        let (steps, prompts) = (&self.steps, self.prompt_source());
        let paper = self.construction == Construction::Paper;
        if let Some(detector) = self.detector(model)? {
            let window = if paper { BwsConfig::paper() } else { BwsConfig { window: 40, min_step: 20 } };
            builder = builder.segmenter(Arc::new(Bws::new(window, detector)?));
        }
        if let Some(extractor) = self.extractor(model)? {
            builder = builder.extractor(extractor);
        }
        if Self::by_model(steps.relations) {
            let config = if paper {
                LlmClassifierConfig::paper()
            } else {
                LlmClassifierConfig { batch_size: 24, ..LlmClassifierConfig::default() }
            };
            builder = builder.classifier(Arc::new(LlmClassifier::new(model.clone(), &prompts, config)?));
        }
        if Self::by_model(steps.longitudinal) {
            let config = if paper { LlmUpdaterConfig::paper() } else { LlmUpdaterConfig::default() };
            builder = builder.longitudinal(Arc::new(LlmUpdater::new(model.clone(), &prompts, config)?));
        }
        Ok(builder)
    }

    fn query_steps(
        &self,
        mut builder: MemoryBuilder,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<MemoryBuilder, ProfileError> {
        // Questions are rewritten at temperature 0, in the paper too.
        let config = LlmRewriterConfig { call: CallConfig::default() };
        if Self::by_model(self.steps.rewrite) {
            let rewriter = LlmRewriter::new(model.clone(), &self.prompt_source(), config)?;
            builder = builder.rewriter(Arc::new(rewriter));
        }
        if let Some(answerer) = self.answerer(model)? {
            builder = builder.answerer(answerer);
        }
        Ok(builder)
    }
}
