//! `fta ask`, `fta chat`, `fta search`: what reads by question.

use std::{
    fmt::Write as _,
    io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin},
};

use anyhow::Result;
use fta_mem::{RetrieveOptions, UserMemory, report::parse_unit_id};
use serde::Serialize;

use crate::{
    args::{Ask, RetrieveArgs, Search},
    context::{Context, Steps},
    exit::Exit,
    render::{
        answer, date,
        table::Table,
        unit,
        wire::{WireAnswer, WireRanked},
    },
};

impl RetrieveArgs {
    fn options(&self) -> RetrieveOptions {
        RetrieveOptions { k: self.k, token_budget: self.budget, asked_at: self.asked_on }
    }
}

/// Answers one question.
pub(crate) async fn ask(context: &Context, args: &Ask) -> Result<Exit> {
    let user = context.user_by(Steps::Profile)?;
    context.embedder.load()?;
    answer_one(context, &user, &args.question.join(" "), &args.retrieve.options(), args.show_packet).await
}

async fn answer_one(
    context: &Context,
    user: &UserMemory,
    question: &str,
    options: &RetrieveOptions,
    show_packet: bool,
) -> Result<Exit> {
    let asked = user.ask(question, options).await?;
    let printer = &context.printer;
    printer.data("ask", WireAnswer::new(&asked, show_packet), || {
        let mut text = answer::view(&asked, printer.paint(), printer.width());
        if show_packet {
            let head = format!("Packet, {} tokens", asked.packet.tokens());
            let _ = write!(text, "\n{}\n{}", printer.paint().dim(&head), asked.packet.render());
        }
        text
    })?;
    for note in &asked.notes {
        printer.warning(&format!("answered offline in part: {note}"));
    }
    if asked.answer.abstained && !printer.json() {
        printer.remark(&answer::nearest(&asked.packet, context.settings.paint_err, printer.width()));
    }
    Ok(Exit::found(!asked.answer.abstained))
}

const CHAT_HELP: &str = "a question, `/show u12`, or `/quit`";

/// Answers questions from standard input, one a line.
pub(crate) async fn chat(context: &Context, args: &RetrieveArgs) -> Result<Exit> {
    let user = context.user_by(Steps::Profile)?;
    context.embedder.load()?;
    let prompts = stdin().is_terminal();
    if prompts {
        context.printer.remark(&format!("memory of `{}`; type {CHAT_HELP}", user.namespace()));
    }
    let mut line = String::new();
    loop {
        if prompts {
            let _ = write!(stderr().lock(), "> ");
        }
        line.clear();
        if stdin().lock().read_line(&mut line)? == 0 {
            return Ok(Exit::Done);
        }
        let typed = line.trim();
        match typed.split_once(char::is_whitespace).unwrap_or((typed, "")) {
            ("", _) => {}
            ("/quit" | "/exit" | "/q", _) => return Ok(Exit::Done),
            ("/show", id) => {
                let shown = parse_unit_id(id.trim()).and_then(|id| user.show(id));
                match shown {
                    Ok(view) => {
                        let printer = &context.printer;
                        printer.text(&unit::view(&view, printer.paint(), printer.width()))?;
                    }
                    Err(error) => context.printer.warning(&error.to_string()),
                }
            }
            (command, _) if command.starts_with('/') => {
                context.printer.warning(&format!("`{command}` is not known; type {CHAT_HELP}"));
            }
            _ => {
                answer_one(context, &user, typed, &args.options(), false).await?;
                if prompts {
                    context.printer.text("\n")?;
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Found {
    query: String,
    rewritten: String,
    units: Vec<WireRanked>,
}

/// Ranks units for a query.
pub(crate) async fn search(context: &Context, args: &Search) -> Result<Exit> {
    let user = context.user_by(Steps::Profile)?;
    context.embedder.load()?;
    let packet = user.retrieve(&args.query.join(" "), &args.retrieve.options()).await?;
    let ranked = packet.ranked();
    let found = Found {
        query: packet.query.question.clone(),
        rewritten: packet.query.text.clone(),
        units: ranked.iter().map(|p| WireRanked::from(*p)).collect(),
    };
    let printer = &context.printer;
    if ranked.is_empty() && !printer.json() {
        printer.remark("nothing found");
        return Ok(Exit::Negative);
    }
    printer.data("search", found, || {
        let mut table = Table::new(&["ID", "SCORE", "EMB", "LEX", "CUES", "SAID", "CLAIM"]);
        for primary in &ranked {
            let score = &primary.score;
            let cues = score.cues.total(&context.settings.config.retrieval.cues);
            table.row(vec![
                primary.unit.id.to_string(),
                format!("{:.3}", score.total),
                format!("{:.2}", score.embedding),
                format!("{:.2}", score.lexical),
                cues.map_or_else(|| "-".to_owned(), |c| format!("{c:.2}")),
                date::short(primary.unit.time.said_at),
                primary.unit.fact.claim.clone(),
            ]);
        }
        table.render(printer.paint(), printer.width())
    })?;
    Ok(Exit::found(!ranked.is_empty()))
}
