//! Runs an experiment: conversations side by side, arms one after the other, questions in order.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use fta_mem::{
    index::Embedder,
    llm::{DiskCache, LanguageModel, UsageMeter},
    profile::Profile,
};
use tokio::task::JoinSet;

use super::{
    Arm, ArmModel, CallRecord, CaseRecord, Experiment, ItemRecord, QuestionRecord, Registry, RunDirectory,
    RunError, Timing, WithinRecord,
    directory::{Entry, EntryKind, Records},
};
use crate::{
    datasets::{Case, CaseQuestion},
    metrics::{BudgetedTurns, Need, Observation, RetrievedItem, Scorer},
    systems::{Asked, Budget, ByModel, Context, MemorySystem, Parts, StandIn, SystemError},
};

/// Items of a context within a token budget, at most: so many that the budget decides.
const WITHIN_BUDGET: usize = 256;
/// Items of a record whose text is kept to read, and characters of it.
const SHOWN: (usize, usize) = (10, 240);

/// Everything that a run needs besides its directory.
pub struct Runner {
    /// What can be used.
    pub registry: Registry,
    /// What is run.
    pub experiment: Experiment,
    /// The conversations, with the questions that are asked.
    pub cases: Vec<Case>,
    /// The embedding model of all arms.
    pub embedder: Arc<dyn Embedder>,
    /// The language model and its profile, if there is one.
    pub model: Option<(Profile, Arc<dyn LanguageModel>)>,
    /// Conversations at the same time, 1 or more.
    pub jobs: usize,
}

/// How far a run is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// What is being done: arm and conversation.
    pub doing: String,
    /// Questions asked, over all arms, those of an earlier start among them.
    pub done: usize,
    /// Questions in all.
    pub total: usize,
}

/// Told after each step; called from several tasks.
pub type Watcher = Arc<dyn Fn(&Progress) + Send + Sync>;

/// What the tasks of a run share.
struct Shared {
    runner: Runner,
    directory: RunDirectory,
    scorers: Vec<Arc<dyn Scorer>>,
    watcher: Watcher,
    done: AtomicUsize,
    total: usize,
}

/// What a task brings home: the entries of each arm, in order.
type Entries = Vec<Vec<Entry>>;

impl Runner {
    /// Checks everything that can be checked before anything is done: metrics, arms and their settings, questions.
    ///
    /// # Errors
    /// [`RunError`] saying what cannot be used.
    pub fn check(&self) -> Result<Vec<Arc<dyn Scorer>>, RunError> {
        let scorers = self.experiment.metrics.iter().map(|name| self.registry.metric(name));
        let scorers = scorers.collect::<Result<Vec<_>, _>>()?;
        for arm in &self.experiment.arms {
            let wrong = |source| RunError::Arm { arm: arm.name.clone(), source: Box::new(source) };
            self.open(arm, "check", self.model_of(arm).as_ref().map(|m| m.1.clone())).map_err(wrong)?;
        }
        if self.cases.iter().all(|case| case.questions.is_empty()) {
            let wanted = if self.experiment.with_evidence_only {
                "answerable questions with evidence turns are needed"
            } else {
                "a data set with questions is needed"
            };
            return Err(RunError::NoQuestions { wanted });
        }
        Ok(scorers)
    }

    /// Who does what in an arm.
    fn model_of(&self, arm: &Arm) -> Option<(Profile, Arc<dyn LanguageModel>)> {
        let (mut profile, model) = match arm.model {
            ArmModel::Rules => return None,
            ArmModel::Profile => self.model.clone()?,
            ArmModel::StandIn => (Profile::default(), Arc::new(StandIn) as Arc<dyn LanguageModel>),
        };
        profile.construction = arm.construction.unwrap_or(profile.construction);
        Some((profile, model))
    }

    fn open(
        &self,
        arm: &Arm,
        conversation: &str,
        model: Option<Arc<dyn LanguageModel>>,
    ) -> Result<Box<dyn MemorySystem>, SystemError> {
        let by_model = self.model_of(arm).zip(model).map(|((profile, _), model)| ByModel { profile, model });
        let parts =
            Parts { conversation: conversation.to_owned(), embedder: self.embedder.clone(), by_model };
        self.registry.open(&arm.system, &arm.settings, &parts)
    }

    /// Runs what is not done yet, and writes the records of the end.
    ///
    /// # Errors
    /// The first [`RunError`] of any conversation; what was done by then is kept and not done again.
    ///
    /// # Panics
    /// Never: all tasks are at their end when what they share is taken back.
    pub async fn run(self, directory: RunDirectory, watcher: Watcher) -> Result<RunDirectory, RunError> {
        let scorers = self.check()?;
        let questions: usize = self.cases.iter().map(|case| case.questions.len()).sum();
        let total = questions * self.experiment.arms.len();
        let (jobs, n_cases) = (self.jobs.max(1), self.cases.len());
        let shared =
            Arc::new(Shared { runner: self, directory, scorers, watcher, done: AtomicUsize::new(0), total });
        let waiting: Arc<Mutex<VecDeque<usize>>> = Arc::new(Mutex::new((0..n_cases).collect()));
        let mut tasks = JoinSet::new();
        for _ in 0..jobs.min(n_cases) {
            let (shared, waiting) = (shared.clone(), waiting.clone());
            tasks.spawn(async move {
                let mut brought: Vec<(usize, Entries)> = Vec::new();
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(case) = next else { return Ok(brought) };
                    brought.push((case, shared.case(case).await?));
                }
            });
        }
        let mut by_case: BTreeMap<usize, Entries> = BTreeMap::new();
        while let Some(outcome) = tasks.join_next().await {
            // Dropping the set stops the other tasks; their journals hold what they did.
            let brought: Result<_, RunError> =
                outcome.map_err(|error| RunError::Task { message: error.to_string() })?;
            by_case.extend(brought?);
        }
        drop(tasks);
        let shared = Arc::into_inner(shared).expect("every task is at its end");
        shared.directory.finish(&assemble(by_case))?;
        Ok(shared.directory)
    }
}

/// Records in the order of arms, conversations and questions.
fn assemble(by_case: BTreeMap<usize, Entries>) -> Records {
    let mut records = Records::default();
    let n_arms = by_case.values().map(Vec::len).max().unwrap_or(0);
    let mut by_case: Vec<Entries> = by_case.into_values().collect();
    for arm in 0..n_arms {
        for entries in &mut by_case {
            for entry in std::mem::take(&mut entries[arm]) {
                match entry.kind {
                    EntryKind::Case => records.cases.push(entry.record),
                    EntryKind::Question => records.questions.push(entry.record),
                }
                records.timings.push(entry.timing);
            }
        }
    }
    records
}

/// A model whose calls are counted.
type Metered = Arc<UsageMeter<Arc<dyn LanguageModel>>>;

impl Shared {
    /// Runs all arms on one conversation.
    async fn case(&self, position: usize) -> Result<Entries, RunError> {
        let case = &self.runner.cases[position];
        let mut entries = Vec::with_capacity(self.runner.experiment.arms.len());
        for arm in &self.runner.experiment.arms {
            entries.push(self.arm(arm, case, &file_name(position, &case.conversation.id)).await?);
        }
        Ok(entries)
    }

    async fn arm(&self, arm: &Arm, case: &Case, file: &str) -> Result<Vec<Entry>, RunError> {
        let (mut journal, mut entries) = self.directory.journal(&arm.name, file)?;
        let asked = entries.len().saturating_sub(1);
        self.tick(arm, case, asked);
        if !entries.is_empty() && asked == case.questions.len() {
            return Ok(entries);
        }
        let failed = |source| RunError::System {
            arm: arm.name.clone(),
            conversation: case.conversation.id.clone(),
            source: Box::new(source),
        };
        let meter = self.meter(arm, self.directory.replies(&arm.name, file))?;
        let model = meter.clone().map(|meter| meter as Arc<dyn LanguageModel>);
        let start = Instant::now();
        let mut system = self.runner.open(arm, &case.conversation.id, model).map_err(failed)?;
        for session in &case.conversation.sessions {
            system.ingest(session).await.map_err(failed)?;
        }
        system.finish().await.map_err(failed)?;
        let entry = Entry::case(
            &case_record(arm, case, system.as_ref(), meter.as_ref()),
            timing(arm, case, None, start.elapsed()),
        );
        if entries.is_empty() {
            journal.append(&entry)?;
            entries.push(entry);
        }
        for question in &case.questions[asked..] {
            let entry = self.question(arm, case, question, (system.as_ref(), meter.as_ref())).await?;
            journal.append(&entry)?;
            entries.push(entry);
            self.tick(arm, case, 1);
        }
        Ok(entries)
    }

    /// The model of an arm. Its replies are kept, so that a run that is interrupted pays for none twice; they are
    /// counted as often as they are used.
    fn meter(&self, arm: &Arm, replies: PathBuf) -> Result<Option<Metered>, RunError> {
        let Some((_, model)) = self.runner.model_of(arm) else { return Ok(None) };
        let model = if arm.model == ArmModel::StandIn {
            model
        } else {
            let kept = DiskCache::open(model, &replies);
            Arc::new(kept.map_err(|source| RunError::Write { path: replies, source })?)
                as Arc<dyn LanguageModel>
        };
        let began = Instant::now();
        Ok(Some(Arc::new(UsageMeter::new(model, move || began.elapsed()))))
    }

    async fn question(
        &self,
        arm: &Arm,
        case: &Case,
        question: &CaseQuestion,
        (system, meter): (&dyn MemorySystem, Option<&Metered>),
    ) -> Result<Entry, RunError> {
        let experiment = &self.runner.experiment;
        let failed = |source| RunError::System {
            arm: arm.name.clone(),
            conversation: case.conversation.id.clone(),
            source: Box::new(source),
        };
        let asked = Asked { text: &question.text, asked_at: question.asked_at };
        let mut within = Vec::new();
        for &budget in &experiment.tokens {
            let budget = Budget { items: Some(WITHIN_BUDGET), tokens: Some(budget) };
            within.push((budget.tokens, system.context(&asked, budget).await.map_err(failed)?));
        }
        // What a question costs is what its answer costs, not what measuring its contexts does.
        let _ = calls(meter);
        let start = Instant::now();
        let ranked = match (experiment.items, experiment.answers) {
            (None, true) => None,
            (items, _) => {
                let budget = Budget { items, tokens: None };
                Some(system.context(&asked, budget).await.map_err(failed)?)
            }
        };
        let retrieved = start.elapsed();
        if experiment.answers {
            let _ = calls(meter);
        }
        let start = Instant::now();
        let reply =
            if experiment.answers { Some(system.answer(&asked).await.map_err(failed)?) } else { None };
        let answered = start.elapsed();
        let read = reply.as_ref().map(|reply| &reply.context).or(ranked.as_ref());
        let read = read.expect("a question is answered or retrieved for");
        let mut record = QuestionRecord {
            arm: arm.name.clone(),
            conversation: case.conversation.id.clone(),
            question: question.id.clone(),
            category: question.category_label(),
            answerable: question.answerable,
            text: question.text.clone(),
            gold: question.gold.clone(),
            evidence: question.evidence.clone(),
            answer: reply.as_ref().map(|reply| reply.text.clone()),
            abstained: reply.as_ref().and_then(|reply| reply.abstained),
            context: items(read),
            context_tokens: read.tokens,
            within: within
                .iter()
                .map(|(budget, context)| WithinRecord {
                    budget: budget.unwrap_or_default(),
                    tokens: context.tokens,
                    found: question.evidence.iter().filter(|e| context.turns.contains(e)).cloned().collect(),
                })
                .collect(),
            calls: calls(meter),
            scores: BTreeMap::new(),
        };
        record.scores = self.scores(case, question, (&record, ranked.as_ref().unwrap_or(read))).await?;
        let timing = Timing {
            context_milliseconds: milliseconds(retrieved),
            answer_milliseconds: reply.is_some().then(|| milliseconds(answered)),
            ..timing(arm, case, Some(question), Duration::ZERO)
        };
        Ok(Entry::question(&record, timing))
    }

    async fn scores(
        &self,
        case: &Case,
        question: &CaseQuestion,
        (record, ranked): (&QuestionRecord, &Context),
    ) -> Result<BTreeMap<String, f64>, RunError> {
        let retrieved: Vec<RetrievedItem> = ranked
            .items
            .iter()
            .map(|item| RetrievedItem { turns: item.turns.clone(), tokens: item.tokens })
            .collect();
        let within: Vec<BudgetedTurns<'_>> =
            record.within.iter().map(|w| BudgetedTurns { budget: w.budget, turns: &w.found }).collect();
        let observation = Observation {
            conversation: &record.conversation,
            question,
            answer: record.answer.as_deref(),
            abstained: record.abstained,
            retrieved: Some(&retrieved),
            within: Some(&within),
            history: Some(&case.conversation),
        };
        let mut scores = BTreeMap::new();
        for scorer in &self.scorers {
            // A run without answers is not scored by what reads answers.
            if record.answer.is_none() && scorer.needs().contains(&Need::Answer) {
                continue;
            }
            if let Some(score) = scorer.score(&observation).await? {
                scores.insert(scorer.name(), score);
            }
        }
        Ok(scores)
    }

    fn tick(&self, arm: &Arm, case: &Case, more: usize) {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        let doing = format!("{} {}", arm.name, case.conversation.id);
        (self.watcher)(&Progress { doing, done, total: self.total });
    }
}

fn case_record(arm: &Arm, case: &Case, system: &dyn MemorySystem, meter: Option<&Metered>) -> CaseRecord {
    let (kept, sessions) = (system.kept(), &case.conversation.sessions);
    CaseRecord {
        arm: arm.name.clone(),
        conversation: case.conversation.id.clone(),
        sessions: sessions.len(),
        turns: sessions.iter().map(|session| session.turns.len()).sum(),
        items: kept.items,
        covered: kept.covered,
        calls: calls(meter),
    }
}

/// The items of a context, the first of them with their beginning.
fn items(context: &Context) -> Vec<ItemRecord> {
    let of = |(i, item): (usize, &crate::systems::ContextItem)| {
        let text = (i < SHOWN.0).then(|| {
            let mut text: String = item.text.chars().take(SHOWN.1).collect();
            if text.len() < item.text.len() {
                text.push('…');
            }
            text
        });
        ItemRecord { id: item.id.clone(), turns: item.turns.clone(), text }
    };
    context.items.iter().enumerate().map(of).collect()
}

/// Calls since this was last asked.
fn calls(meter: Option<&Metered>) -> BTreeMap<String, CallRecord> {
    let steps = meter.map(|meter| meter.take()).unwrap_or_default();
    let record = |usage: fta_mem::llm::StepUsage| CallRecord {
        calls: usage.calls,
        errors: usage.errors,
        prompt_tokens: usage.prompt_tokens,
        reply_tokens: usage.completion_tokens,
    };
    steps.into_iter().map(|(step, usage)| (step, record(usage))).collect()
}

fn timing(arm: &Arm, case: &Case, question: Option<&CaseQuestion>, took: Duration) -> Timing {
    Timing {
        arm: arm.name.clone(),
        conversation: case.conversation.id.clone(),
        question: question.map(|question| question.id.clone()),
        context_milliseconds: milliseconds(took),
        answer_milliseconds: None,
    }
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// `0003-conv-26.jsonl`: in order, unique, and a legal name whatever the id is.
fn file_name(position: usize, id: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let id: String = id.chars().take(60).map(legal).collect();
    format!("{position:04}-{id}.jsonl")
}
