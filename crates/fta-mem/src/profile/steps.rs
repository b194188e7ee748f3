//! The steps of a profile.

use std::sync::Arc;

use fta_llm::{CallConfig, LanguageModel, PromptSource};
use fta_retrieve::llm::{AnswerStyle, LlmAnswerer, LlmAnswererConfig, LlmRewriter, LlmRewriterConfig};
use fta_segment::{
    Bws, BwsConfig,
    llm::{LlmDetector, LlmDetectorConfig},
};
use fta_units::llm::{
    LlmClassifier, LlmClassifierConfig, LlmExtractor, LlmExtractorConfig, LlmUpdater, LlmUpdaterConfig,
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

    fn construction_steps(
        &self,
        mut builder: MemoryBuilder,
        model: &Arc<dyn LanguageModel>,
    ) -> Result<MemoryBuilder, ProfileError> {
        let (steps, prompts) = (&self.steps, self.prompt_source());
        let paper = self.construction == Construction::Paper;
        if Self::by_model(steps.boundaries) {
            let (window, detector) = if paper {
                (BwsConfig::paper(), LlmDetectorConfig::paper())
            } else {
                (BwsConfig { window: 40, min_step: 20 }, LlmDetectorConfig::default())
            };
            let detector = LlmDetector::new(model.clone(), &prompts, detector)?;
            builder = builder.segmenter(Arc::new(Bws::new(window, Arc::new(detector))?));
        }
        if Self::by_model(steps.units) {
            let config = if paper { LlmExtractorConfig::paper() } else { LlmExtractorConfig::default() };
            builder = builder.extractor(Arc::new(LlmExtractor::new(model.clone(), &prompts, config)?));
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
        let (steps, prompts) = (&self.steps, self.prompt_source());
        // Questions are answered at temperature 0, in the paper too.
        let call = CallConfig::default();
        if Self::by_model(steps.rewrite) {
            let config = LlmRewriterConfig { call };
            builder = builder.rewriter(Arc::new(LlmRewriter::new(model.clone(), &prompts, config)?));
        }
        if Self::by_model(steps.answer) {
            let style = match self.answers {
                AnswerForm::Short => AnswerStyle::Short,
                AnswerForm::Supportive => AnswerStyle::Supportive,
                AnswerForm::Chat => AnswerStyle::Chat,
            };
            let config = LlmAnswererConfig { call, style, ..LlmAnswererConfig::default() };
            builder = builder.answerer(Arc::new(LlmAnswerer::new(model.clone(), &prompts, config)?));
        }
        Ok(builder)
    }
}
