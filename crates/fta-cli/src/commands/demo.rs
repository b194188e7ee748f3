//! `fta demo`: a built-in dialogue, eight questions, and whether the answers are right.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use fta_mem::{Asked, ListFilter, RetrieveOptions, UserMemory, units::Namespace};
use serde::{Deserialize, Serialize};

use super::ingest::count;
use crate::{
    args::Demo,
    context::{Context, Steps},
    exit::Exit,
    input::{self, Format},
    render::{answer, table::cut, unit, wire::WireAnswer},
    words,
};

const DIALOGUE: &str = include_str!("../../demo/ines.json");
const QUESTIONS: &str = include_str!("../../demo/questions.json");

/// Units and links that are shown before the questions.
const SHOWN: usize = 4;

/// A question and what its answer must hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoQuestion {
    /// What the question is there to show.
    kind: String,
    question: String,
    /// The answer holds one of these, whatever the case of the letters. Empty: it must abstain.
    expected: Vec<String>,
    /// The answer cites one of these turns.
    turns: Vec<String>,
}

impl DemoQuestion {
    fn must_abstain(&self) -> bool {
        self.expected.is_empty()
    }

    /// Whether text and evidence are right.
    fn check(&self, asked: &Asked) -> (bool, bool) {
        let answer = &asked.answer;
        if self.must_abstain() {
            return (answer.abstained, answer.abstained);
        }
        let text = answer.text.to_lowercase();
        let text_right = !answer.abstained && self.expected.iter().any(|e| text.contains(&e.to_lowercase()));
        (text_right, answer.evidence.iter().any(|turn| self.turns.contains(&turn.source_id)))
    }
}

#[derive(Serialize)]
struct Checked {
    kind: String,
    expected: Vec<String>,
    expected_turns: Vec<String>,
    answer_right: bool,
    evidence_right: bool,
    #[serde(flatten)]
    answer: WireAnswer,
}

#[derive(Serialize)]
struct Outcome {
    directory: Option<String>,
    right: usize,
    questions: Vec<Checked>,
}

/// Runs the demo.
pub(crate) async fn run(context: &Context, args: &Demo) -> Result<Exit> {
    let printer = &context.printer;
    context.embedder.load()?;
    // Deleted at the end, with all that is in it.
    let temporary =
        tempfile::Builder::new().prefix("fta-demo-").tempdir().context("no temporary directory")?;
    let directory = args.keep.as_deref().unwrap_or(temporary.path());
    let memory = context.open(directory, Steps::Profile)?;
    let user = memory.user(Namespace::new("ines")?)?;
    let loaded = input::parse("ines.json", DIALOGUE, Format::Chat)?;
    let sessions = loaded.cases.iter().flat_map(|case| &case.conversation.sessions);
    for session in sessions {
        user.ingest(session).await?;
    }
    if !printer.json() {
        printer.text(&introduction(context, &user)?)?;
    }
    let questions: Vec<DemoQuestion> =
        serde_json::from_str(QUESTIONS).context("the demo's questions are damaged")?;
    let mut checked = Vec::with_capacity(questions.len());
    for (position, question) in questions.into_iter().enumerate() {
        let asked = user.ask(&question.question, &RetrieveOptions::default()).await?;
        let (answer_right, evidence_right) = question.check(&asked);
        if !printer.json() {
            printer.text(&question_text(context, position, &question, &asked))?;
        }
        checked.push(Checked {
            kind: question.kind,
            expected: question.expected,
            expected_turns: question.turns,
            answer_right,
            evidence_right,
            answer: WireAnswer::new(&asked, false),
        });
    }
    let all = checked.len();
    let right = checked.iter().filter(|c| c.answer_right && c.evidence_right).count();
    let directory = args.keep.as_ref().map(|d| d.display().to_string());
    let text = closing(right, all, directory.as_deref());
    printer.data("demo", Outcome { directory, right, questions: checked }, || text)?;
    Ok(Exit::found(right == all))
}

fn introduction(context: &Context, user: &UserMemory) -> Result<String> {
    let (paint, width) = (context.printer.paint(), context.printer.width());
    let stats = user.stats();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Ines talks to Robin for four months: {}, {}. They became {}, {} and {}.\n",
        count(stats.sessions, "session"),
        count(stats.turns, "turn"),
        count(stats.fragments, "fragment"),
        count(stats.units, "unit"),
        count(stats.links.iter().map(|(_, n)| n).sum(), "link"),
    );
    let units = user.list(&ListFilter::default());
    let dated: Vec<_> = units.iter().filter(|u| u.time.event.is_some()).take(SHOWN).cloned().collect();
    let _ = writeln!(out, "{}", paint.bold("Some units"));
    out.push_str(&unit::list(&dated, paint, width));
    let mut links = user.links();
    links.sort_by_key(|link| std::cmp::Reverse((link.relation, link.from)));
    links.dedup_by_key(|link| link.relation);
    let _ = writeln!(out, "\n{}", paint.bold("Some links"));
    for link in links.iter().take(SHOWN) {
        let room = width.saturating_sub(10);
        let (newer, older) = (user.show(link.from)?.unit, user.show(link.to)?.unit);
        let _ = writeln!(out, "{} {}", paint.id(&newer.id.to_string()), cut(&newer.fact.claim, room));
        let verb = paint.dim(words::relation_verb(link.relation));
        let _ = writeln!(
            out,
            "  {verb} {} {}",
            paint.id(&older.id.to_string()),
            cut(&older.fact.claim, room - 14)
        );
    }
    Ok(out)
}

fn question_text(context: &Context, position: usize, question: &DemoQuestion, asked: &Asked) -> String {
    let (paint, width) = (context.printer.paint(), context.printer.width());
    let (answer_right, evidence_right) = question.check(asked);
    let mark = |right: bool| if right { paint.good("✓") } else { paint.bad("✗") };
    let mut out = format!(
        "\n{} {}\n",
        paint.bold(&format!("{}. {}", position + 1, question.question)),
        paint.dim(&format!("({})", question.kind))
    );
    out.push_str(&answer::view(asked, paint, width));
    let expected = if question.must_abstain() {
        "no answer".to_owned()
    } else {
        question.expected.iter().map(|e| format!("\"{e}\"")).collect::<Vec<_>>().join(" or ")
    };
    let _ = write!(out, "  {} expected {expected}", mark(answer_right));
    if !question.must_abstain() {
        let got: Vec<&str> = asked.answer.evidence.iter().map(|turn| turn.source_id.as_str()).collect();
        let got = if got.is_empty() { "none".to_owned() } else { got.join(", ") };
        let _ = write!(
            out,
            "   {} expected turn {}, got {got}",
            mark(evidence_right),
            question.turns.join(" or ")
        );
    }
    out.push('\n');
    out
}

fn closing(right: usize, all: usize, directory: Option<&str>) -> String {
    let mut text = format!("\n{right} of {all} answers are right, with the right evidence.\n");
    if let Some(directory) = directory {
        let _ = writeln!(text, "The memory is kept: fta --data {directory} show --session s3");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expected_turn_holds_the_expected_answer_or_its_ground() {
        let loaded = input::parse("ines.json", DIALOGUE, Format::Chat).unwrap();
        assert!(loaded.report.anomalies.is_empty(), "{:?}", loaded.report.anomalies);
        let turns: Vec<&str> = loaded.cases[0]
            .conversation
            .sessions
            .iter()
            .flat_map(|s| &s.turns)
            .map(|t| t.source_id.as_str())
            .collect();
        let questions: Vec<DemoQuestion> = serde_json::from_str(QUESTIONS).unwrap();
        assert_eq!(questions.len(), 8);
        for question in &questions {
            assert_eq!(question.expected.is_empty(), question.turns.is_empty(), "{}", question.question);
            for turn in &question.turns {
                assert!(turns.contains(&turn.as_str()), "{turn}");
            }
        }
        assert_eq!(questions.iter().filter(|q| q.must_abstain()).count(), 1);
    }
}
