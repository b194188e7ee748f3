//! `fta correct`, `fta delete` and `fta reindex`.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use anyhow::{Context as _, Result, bail};
use fta_mem::{
    Correction, Deleted, ReindexProgress, UserMemory, index::Embedder as _, segment::SessionId, units::UnitId,
};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use super::ingest::count;
use crate::{
    args::{Correct, Delete},
    context::{Context, Steps},
    exit::Exit,
    render::{unit, wire::WireUnit},
};

#[derive(Serialize)]
struct Corrected {
    unit: WireUnit,
}

/// Corrects a unit and shows it.
pub(crate) async fn correct(context: &Context, args: &Correct) -> Result<Exit> {
    let user = context.user()?;
    context.embedder.load()?;
    let emotions = args.emotions.as_ref().map(|text| {
        text.split(',').map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty()).collect()
    });
    let correction = Correction {
        claim: args.claim.clone(),
        event_time: args.event_time.clone(),
        situation: args.situation,
        status: args.status,
        completion: args.completion,
        emotions,
        at: Some(TimeZone::UTC.to_datetime(Timestamp::now())),
    };
    let corrected = user.correct(args.id, &correction).await?;
    let view = user.show(corrected.id)?;
    let printer = &context.printer;
    printer.data("correct", Corrected { unit: WireUnit::from(&corrected) }, || {
        unit::view(&view, printer.paint(), printer.width())
    })?;
    Ok(Exit::Done)
}

/// What a deletion is about.
enum What {
    Units(Vec<UnitId>),
    Session(SessionId),
    All,
}

#[derive(Serialize)]
struct Gone {
    user: String,
    #[serde(flatten)]
    deleted: Deleted,
}

/// Deletes for good, after asking.
pub(crate) async fn delete(context: &Context, args: &Delete) -> Result<Exit> {
    let user = context.user()?;
    let what = match &args.session {
        Some(id) => What::Session(SessionId(id.clone())),
        None if args.all => What::All,
        None => What::Units(args.unit.clone()),
    };
    let question = describe(context, &user, &what)?;
    if !args.yes && !confirm(&question)? {
        context.printer.remark("nothing was deleted");
        return Ok(Exit::Negative);
    }
    let deleted = match &what {
        What::All => user.delete_all().await?,
        What::Session(id) => user.delete_session(id).await?,
        What::Units(ids) => {
            let mut sum = Deleted::default();
            for id in ids {
                let one = user.delete_unit(*id).await?;
                sum.sessions += one.sessions;
                sum.units += one.units;
                sum.links += one.links;
                sum.vectors += one.vectors;
            }
            sum
        }
    };
    let text = format!(
        "deleted {}, {}, {}, {}",
        count(deleted.sessions, "session"),
        count(deleted.units, "unit"),
        count(deleted.links, "link"),
        count(deleted.vectors, "vector")
    );
    context.printer.data("delete", Gone { user: user.namespace().to_string(), deleted }, || text)?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Reindexed {
    model: String,
    users: Vec<ReindexedUser>,
}

#[derive(Serialize)]
struct ReindexedUser {
    user: String,
    /// Vectors that were made; 0 if they were of this model already.
    vectors: usize,
}

/// Embeds the named memory, or all, anew with the embedder of the settings.
pub(crate) async fn reindex(context: &Context) -> Result<Exit> {
    let memory = context.existing_memory(Steps::Rules)?;
    let all = memory.namespaces()?;
    let users = match &context.settings.user {
        Some(wanted) if !all.contains(wanted) => bail!("there is no user `{wanted}` in this memory"),
        Some(wanted) => vec![wanted.clone()],
        None => all,
    };
    context.embedder.load()?;
    let model = context.embedder.model_id().to_owned();
    let mut done = Reindexed { model, users: Vec::with_capacity(users.len()) };
    for user in users {
        let bar = context.printer.bar(0, "  {bar:40} {pos}/{len} units of {msg} {eta}");
        bar.set_message(user.to_string());
        let mut show = |progress: ReindexProgress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
        };
        let vectors = memory.reindex(&user, &mut show).await;
        bar.finish_and_clear();
        let vectors = vectors.with_context(|| format!("memory of `{user}` cannot be embedded anew"))?;
        done.users.push(ReindexedUser { user: user.to_string(), vectors });
    }
    let lines = done.users.iter().map(|user| match user.vectors {
        0 => format!("{}: is of `{}` already", user.user, done.model),
        n => format!("{}: {} by `{}`", user.user, count(n, "vector"), done.model),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    context.printer.data("reindex", done, || text)?;
    Ok(Exit::Done)
}

/// What is about to go; fails for what is not there, before anybody is asked.
fn describe(context: &Context, user: &UserMemory, what: &What) -> Result<String> {
    let name = user.namespace();
    Ok(match what {
        What::All => {
            let stats = user.stats();
            let (sessions, units) = (count(stats.sessions, "session"), count(stats.units, "unit"));
            format!("Delete everything of `{name}`, {sessions} and {units}, for good?")
        }
        What::Session(id) => {
            if !user.sessions().iter().any(|s| &s.session.id == id) {
                return Err(fta_mem::Error::NoSession { session: id.clone() }.into());
            }
            format!("Delete session `{id}` of `{name}` with all its units for good?")
        }
        What::Units(ids) => {
            let views = ids.iter().map(|id| user.show(*id)).collect::<Result<Vec<_>, _>>()?;
            for view in &views {
                context.printer.remark(&format!("{}  {}", view.unit.id, view.unit.fact.claim));
            }
            format!("Delete {} of `{name}` for good?", count(views.len(), "unit"))
        }
    })
}

fn confirm(question: &str) -> Result<bool> {
    if !stdin().is_terminal() {
        bail!("there is no terminal to ask for confirmation; repeat with `--yes`");
    }
    let _ = write!(stderr().lock(), "{question} [y/N] ");
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
