//! Evidence recall: which gold turns are in what is handed back, at K items and within a token budget.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use fta_mem::{RetrieveOptions, UserMemory, index::Embedder, retrieve::Packet};
use fta_segment::Conversation;
use serde::Serialize;

use super::{
    BenchError, Preset, Selection, Step, Watch,
    arms::{Arm, TurnIndex},
    memory::{failed, ingest},
    table::{Table, decimals, mean, percentile},
};
use crate::datasets::{Case, CaseQuestion};

/// Items at which recall is read.
pub const ITEMS: [usize; 3] = [5, 10, 25];
/// Tokens (characters / 4) at which recall is read.
pub const TOKENS: [usize; 3] = [500, 1000, 2000];
/// Items asked for under a token budget: enough that the budget decides.
pub const ITEMS_UNDER_BUDGET: usize = 64;

/// A turn by session and source id.
type TurnKey<'c> = (&'c str, &'c str);

/// What to run.
#[derive(Debug, Clone)]
pub struct RetrievalRun {
    /// Conversations and questions.
    pub selection: Selection,
    /// Arms, in the order of the table.
    pub arms: Vec<Arm>,
    /// Settings of the memory.
    pub preset: Preset,
}

/// One question in one arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionResult {
    /// Name of the arm.
    pub arm: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The question's id.
    pub question: String,
    /// Its category as shown.
    pub category: String,
    /// Its text.
    pub text: String,
    /// The gold answer.
    pub gold: String,
    /// Gold turns by source id.
    pub gold_turns: Vec<String>,
    /// Turns of each of the first [`ITEMS`]`[2]` items by source id, best item first.
    pub retrieved: Vec<Vec<String>>,
    /// Share of gold turns in the first [`ITEMS`] items.
    pub recall_at_items: [f64; 3],
    /// Share of gold turns within [`TOKENS`].
    pub recall_at_tokens: [f64; 3],
    /// Tokens handed back under each budget.
    pub tokens: [usize; 3],
    /// Time of one query for [`ITEMS`]`[2]` items, embedding included.
    pub milliseconds: f64,
}

/// One conversation in one arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversationResult {
    /// Name of the arm.
    pub arm: &'static str,
    /// The conversation.
    pub conversation: String,
    /// Time to take it in.
    pub ingest_seconds: f64,
    /// Items: units of the memory, turns of the others.
    pub items: usize,
    /// Turns that say something, and those of them that lie in the evidence of some unit; memory only.
    pub covered: Option<(usize, usize)>,
}

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RetrievalReport {
    /// By arm, conversation, question.
    pub questions: Vec<QuestionResult>,
    /// By arm, conversation.
    pub conversations: Vec<ConversationResult>,
}

/// Measures evidence recall on the answerable questions whose evidence names turns.
///
/// # Errors
/// [`BenchError`] if a conversation is not there, no question can be used, or an arm fails.
pub async fn run(
    cases: &[Case],
    embedder: &Arc<dyn Embedder>,
    run: &RetrievalRun,
    watch: Watch<'_>,
) -> Result<RetrievalReport, BenchError> {
    let cases = run.selection.cases(cases)?;
    let usable = |q: &CaseQuestion| q.answerable && !q.evidence.is_empty();
    let questions: Vec<Vec<&CaseQuestion>> =
        cases.iter().map(|c| run.selection.questions(c, usable)).collect();
    let per_arm: usize = questions.iter().map(|q| q.len() + 1).sum();
    if per_arm == cases.len() {
        return Err(BenchError::NoQuestions {
            wanted: "answerable questions with evidence turns are needed",
        });
    }
    let (mut report, mut done, total) = (RetrievalReport::default(), 0, per_arm * run.arms.len());
    for (case, questions) in cases.iter().zip(&questions).filter(|(_, q)| !q.is_empty()) {
        for &arm in &run.arms {
            let mut tick = || {
                watch(Step { conversation: &case.conversation.id, doing: arm.name(), done, total });
                done += 1;
            };
            tick();
            let subject = Subject::new(arm, case, embedder, run.preset, &mut report).await?;
            for question in questions {
                report.questions.push(subject.measure(case, question).await?);
                tick();
            }
        }
    }
    report.questions.sort_by_key(|q| run.arms.iter().position(|a| a.name() == q.arm));
    report.conversations.sort_by_key(|c| run.arms.iter().position(|a| a.name() == c.arm));
    Ok(report)
}

/// What answers the queries of one arm on one conversation.
enum Subject {
    Memory(UserMemory),
    Turns(Arm, TurnIndex),
}

/// What one query hands back.
struct Handed<'c> {
    items: Vec<Vec<TurnKey<'c>>>,
    within: Vec<(BTreeSet<TurnKey<'c>>, usize)>,
    milliseconds: f64,
}

impl Subject {
    async fn new(
        arm: Arm,
        case: &Case,
        embedder: &Arc<dyn Embedder>,
        preset: Preset,
        report: &mut RetrievalReport,
    ) -> Result<Self, BenchError> {
        let start = Instant::now();
        let (subject, ingest_seconds, items, covered) = if arm == Arm::Ours {
            let ingested = ingest(case, embedder, preset).await?;
            let stats = ingested.memory.stats();
            let covered = Some((stats.content_turns, stats.covered_turns));
            (Self::Memory(ingested.memory), ingested.seconds, stats.units, covered)
        } else {
            let index = TurnIndex::new(arm, &case.conversation, embedder.clone())?;
            let items = index.len();
            (Self::Turns(arm, index), start.elapsed().as_secs_f64(), items, None)
        };
        let conversation = case.conversation.id.clone();
        report.conversations.push(ConversationResult {
            arm: arm.name(),
            conversation,
            ingest_seconds,
            items,
            covered,
        });
        Ok(subject)
    }

    fn arm(&self) -> Arm {
        match self {
            Self::Memory(_) => Arm::Ours,
            Self::Turns(arm, _) => *arm,
        }
    }

    async fn measure(&self, case: &Case, question: &CaseQuestion) -> Result<QuestionResult, BenchError> {
        let gold: BTreeSet<TurnKey<'_>> =
            question.evidence.iter().map(|e| (e.session.0.as_str(), e.turn.as_str())).collect();
        let handed = match self {
            Self::Memory(memory) => ask_memory(memory, case, question, &gold).await?,
            Self::Turns(_, index) => ask_turns(index, &case.conversation, &question.text)?,
        };
        let share =
            |turns: &BTreeSet<TurnKey<'_>>| gold.intersection(turns).count() as f64 / gold.len() as f64;
        let at_items = |k: usize| share(&handed.items.iter().take(k).flatten().copied().collect());
        Ok(QuestionResult {
            arm: self.arm().name(),
            conversation: case.conversation.id.clone(),
            question: question.id.clone(),
            category: question.category_label(),
            text: question.text.clone(),
            gold: question.gold.clone(),
            gold_turns: question.evidence.iter().map(|e| e.turn.clone()).collect(),
            retrieved: handed
                .items
                .iter()
                .map(|turns| turns.iter().map(|(_, id)| (*id).to_owned()).collect())
                .collect(),
            recall_at_items: ITEMS.map(at_items),
            recall_at_tokens: std::array::from_fn(|i| share(&handed.within[i].0)),
            tokens: std::array::from_fn(|i| handed.within[i].1),
            milliseconds: handed.milliseconds,
        })
    }
}

/// Turns of a conversation by session id.
fn key_of<'c>(conversation: &'c Conversation, session: &str, turn: u32) -> Option<TurnKey<'c>> {
    let session = conversation.sessions.iter().find(|s| s.id.0 == session)?;
    Some((session.id.0.as_str(), session.turns.get(turn as usize)?.source_id.as_str()))
}

/// Verbatim text of a gold turn.
fn text_of<'c>(conversation: &'c Conversation, (session, turn): TurnKey<'_>) -> Option<&'c str> {
    let session = conversation.sessions.iter().find(|s| s.id.0 == session)?;
    session.turns.iter().find(|t| t.source_id == turn).map(|t| t.text.as_str())
}

async fn ask_memory<'c>(
    memory: &UserMemory,
    case: &'c Case,
    question: &CaseQuestion,
    gold: &BTreeSet<TurnKey<'c>>,
) -> Result<Handed<'c>, BenchError> {
    let failed = failed(case);
    let options = RetrieveOptions { k: Some(ITEMS[2]), token_budget: None, asked_at: question.asked_at };
    let start = Instant::now();
    let packet = memory.retrieve(&question.text, &options).await.map_err(&failed)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let items = items_of(&packet, &case.conversation);
    let mut within = Vec::new();
    for budget in TOKENS {
        let options = RetrieveOptions {
            k: Some(ITEMS_UNDER_BUDGET),
            token_budget: Some(budget),
            asked_at: question.asked_at,
        };
        let text = memory.retrieve(&question.text, &options).await.map_err(&failed)?.render();
        let found = gold
            .iter()
            .copied()
            .filter(|&key| text_of(&case.conversation, key).is_some_and(|gold| text.contains(gold.trim())));
        within.push((found.collect(), tokens(text.chars().count())));
    }
    Ok(Handed { items, within, milliseconds })
}

fn items_of<'c>(packet: &Packet, conversation: &'c Conversation) -> Vec<Vec<TurnKey<'c>>> {
    let turns = |unit: &fta_mem::units::Unit| {
        let evidence = &unit.evidence;
        evidence.turns.range().filter_map(|turn| key_of(conversation, &evidence.session.0, turn)).collect()
    };
    packet.ranked().into_iter().map(|primary| turns(&primary.unit)).collect()
}

fn ask_turns<'c>(
    index: &TurnIndex,
    conversation: &'c Conversation,
    question: &str,
) -> Result<Handed<'c>, BenchError> {
    let start = Instant::now();
    let found = index.search(question, ITEMS_UNDER_BUDGET)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let key = |item: &super::arms::Item| {
        key_of(conversation, &conversation.sessions[item.session].id.0, item.turn)
            .expect("items are turns of it")
    };
    let items = found.iter().take(ITEMS[2]).map(|item| vec![key(item)]).collect();
    let mut within = Vec::new();
    for budget in TOKENS {
        let (mut turns, mut characters) = (BTreeSet::new(), 0);
        for item in &found {
            // A line ends with a line break, which counts like any character.
            let more = item.line.chars().count() + 1;
            if characters + more > budget * 4 {
                break;
            }
            characters += more;
            turns.insert(key(item));
        }
        within.push((turns, tokens(characters)));
    }
    Ok(Handed { items, within, milliseconds })
}

fn tokens(characters: usize) -> usize {
    characters.div_ceil(4)
}

impl RetrievalReport {
    /// The tables, as Markdown.
    pub fn render(&self) -> String {
        format!("{}\n{}", self.recall_table(), self.cost_table())
    }

    fn arms(&self) -> Vec<&'static str> {
        let mut arms: Vec<&'static str> = self.conversations.iter().map(|c| c.arm).collect();
        arms.dedup();
        arms
    }

    fn recall_table(&self) -> String {
        let mut header = vec!["arm".to_owned(), "category".to_owned(), "n".to_owned()];
        header.extend(ITEMS.map(|k| format!("r@{k}")));
        header.extend(TOKENS.map(|t| format!("r@{t}t")));
        let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for arm in self.arms() {
            let mut by_category: BTreeMap<&str, Vec<&QuestionResult>> = BTreeMap::new();
            let all: Vec<&QuestionResult> = self.questions.iter().filter(|q| q.arm == arm).collect();
            for question in &all {
                by_category.entry(&question.category).or_default().push(question);
            }
            let pooled = [("pooled", all)];
            for (category, questions) in by_category.into_iter().chain(pooled) {
                let mut row = vec![arm.to_owned(), category.to_owned(), questions.len().to_string()];
                for i in 0..3 {
                    row.push(decimals(mean(questions.iter().map(|q| q.recall_at_items[i])), 3));
                }
                for i in 0..3 {
                    row.push(decimals(mean(questions.iter().map(|q| q.recall_at_tokens[i])), 3));
                }
                table.row(row);
            }
        }
        table.render()
    }

    fn cost_table(&self) -> String {
        let mut table = Table::new(&[
            "arm",
            "conversations",
            "items",
            "covered",
            "ingest s",
            "query ms p50",
            "p95",
            "tokens@1000",
            "most",
        ]);
        for arm in self.arms() {
            let conversations: Vec<_> = self.conversations.iter().filter(|c| c.arm == arm).collect();
            let questions: Vec<_> = self.questions.iter().filter(|q| q.arm == arm).collect();
            let times: Vec<f64> = questions.iter().map(|q| q.milliseconds).collect();
            let covered: Vec<(usize, usize)> = conversations.iter().filter_map(|c| c.covered).collect();
            let (all, inside) = covered.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
            table.row(vec![
                arm.to_owned(),
                conversations.len().to_string(),
                conversations.iter().map(|c| c.items).sum::<usize>().to_string(),
                decimals((all > 0).then(|| inside as f64 / all as f64), 4),
                decimals(mean(conversations.iter().map(|c| c.ingest_seconds)), 1),
                decimals(percentile(&times, 0.5), 1),
                decimals(percentile(&times, 0.95), 1),
                decimals(mean(questions.iter().map(|q| q.tokens[1] as f64)), 0),
                questions.iter().map(|q| q.tokens[1]).max().unwrap_or(0).to_string(),
            ]);
        }
        table.render()
    }
}
