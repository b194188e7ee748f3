//! `fta show`, `list`, `links`, `stats`, `users`, `profile`: what only looks. None of them needs the model.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::Result;
use fta_mem::{
    Error, ListFilter, MemoryStats, UserMemory,
    segment::SessionId,
    units::{Longitudinal, Unit, UnitId},
};
use serde::Serialize;

use crate::{
    args::{Links, List, Show},
    context::{Context, Steps},
    exit::Exit,
    render::{
        date,
        session::{self, WireSession},
        table::Table,
        unit,
        wire::{WireLink, WireUnit, WireView},
    },
    words,
};

#[derive(Serialize)]
struct Units<T> {
    units: Vec<T>,
}

/// Shows units or a session.
pub(crate) fn show(context: &Context, args: &Show) -> Result<Exit> {
    let user = context.user()?;
    if let Some(id) = &args.session {
        return show_session(context, &user, &SessionId(id.clone()));
    }
    let views = args.ids.iter().map(|id| user.show(*id)).collect::<Result<Vec<_>, _>>()?;
    let printer = &context.printer;
    printer.data("show", Units { units: views.iter().map(WireView::from).collect() }, || {
        let texts: Vec<String> =
            views.iter().map(|v| unit::view(v, printer.paint(), printer.width())).collect();
        texts.join("\n")
    })?;
    Ok(Exit::Done)
}

fn show_session(context: &Context, user: &UserMemory, id: &SessionId) -> Result<Exit> {
    let sessions = user.sessions();
    let stored = sessions.iter().find(|s| &s.session.id == id);
    let stored = stored.ok_or_else(|| Error::NoSession { session: id.clone() })?;
    let units = user.list(&ListFilter { session: Some(id.clone()), ..ListFilter::default() });
    let printer = &context.printer;
    printer.data("show", WireSession::new(stored, &units), || {
        session::view(stored, &units, printer.paint(), printer.width())
    })?;
    Ok(Exit::Done)
}

/// Lists units.
pub(crate) fn list(context: &Context, args: &List) -> Result<Exit> {
    let filter = ListFilter {
        session: args.session.clone().map(SessionId),
        person: args.person.clone(),
        situation: args.situation,
        status: args.status,
        emotion: args.emotion.clone(),
        from: args.from,
        until: args.until,
        current_only: args.current,
        limit: args.limit,
    };
    let units = context.user()?.list(&filter);
    let printer = &context.printer;
    if units.is_empty() && !printer.json() {
        printer.remark("no unit fits");
        return Ok(Exit::Negative);
    }
    printer.data("list", Units { units: units.iter().map(WireUnit::from).collect() }, || {
        unit::list(&units, printer.paint(), printer.width())
    })?;
    Ok(Exit::found(!units.is_empty()))
}

#[derive(Serialize)]
struct LinkList {
    links: Vec<WireLink>,
}

/// Lists links.
pub(crate) fn links(context: &Context, args: &Links) -> Result<Exit> {
    let user = context.user()?;
    let mut links = user.links();
    links.retain(|l| args.id.is_none_or(|id| l.from == id || l.to == id));
    links.retain(|l| args.relation.is_none_or(|relation| l.relation == relation));
    let units: BTreeMap<UnitId, Unit> =
        user.list(&ListFilter::default()).into_iter().map(|unit| (unit.id, unit)).collect();
    let claim = |id: UnitId| units.get(&id).map_or("", |unit| unit.fact.claim.as_str());
    let printer = &context.printer;
    if links.is_empty() && !printer.json() {
        printer.remark("no link fits");
        return Ok(Exit::Negative);
    }
    printer.data("links", LinkList { links: links.iter().map(WireLink::from).collect() }, || {
        let mut out = String::new();
        for link in &links {
            let paint = printer.paint();
            let (from, to) = (paint.id(&link.from.to_string()), paint.id(&link.to.to_string()));
            let similarity = paint.dim(&format!("({:.2})", link.similarity));
            let _ = writeln!(out, "{from} {} {to} {similarity}", words::relation_verb(link.relation));
            let _ = writeln!(out, "    {}\n    {}", claim(link.from), claim(link.to));
        }
        out
    })?;
    Ok(Exit::found(!links.is_empty()))
}

#[derive(Serialize)]
struct Stats {
    user: String,
    data: String,
    #[serde(flatten)]
    figures: MemoryStats,
    session_ids: Vec<String>,
}

/// Shows the figures of a memory.
pub(crate) fn stats(context: &Context) -> Result<Exit> {
    let user = context.user()?;
    let wire = Stats {
        user: user.namespace().to_string(),
        data: context.settings.data.display().to_string(),
        figures: user.stats(),
        session_ids: user.sessions().iter().map(|s| s.session.id.to_string()).collect(),
    };
    let text = stats_text(&wire);
    context.printer.data("stats", wire, || text)?;
    Ok(Exit::Done)
}

fn stats_text(wire: &Stats) -> String {
    let stats = &wire.figures;
    let mut rows: Vec<(&str, String)> = vec![("user", wire.user.clone()), ("directory", wire.data.clone())];
    let days = match (stats.first_session, stats.last_session) {
        (Some(first), Some(last)) => format!(", {} to {}", date::day(first.date()), date::day(last.date())),
        _ => String::new(),
    };
    rows.push(("sessions", format!("{}{days}", stats.sessions)));
    rows.push(("", wire.session_ids.join(" ")));
    rows.push(("turns", stats.turns.to_string()));
    rows.push(("fragments", stats.fragments.to_string()));
    let dated = format!("{}, {} with a dated event", stats.units, stats.units_with_event_time);
    rows.push(("units", format!("{dated}, {} superseded", stats.superseded)));
    rows.push(("kinds", counts(stats.situations.iter().map(|(s, n)| (words::situation(*s), *n)))));
    rows.push(("status", counts(stats.statuses.iter().map(|(s, n)| (words::status(*s), *n)))));
    rows.push(("links", counts(stats.links.iter().map(|(r, n)| (words::relation(*r), *n)))));
    let share = 100.0 * stats.covered_turns as f64 / (stats.content_turns.max(1)) as f64;
    rows.push((
        "coverage",
        format!("{} of {} turns that say something, {share:.1} %", stats.covered_turns, stats.content_turns),
    ));
    rows.push(("profile", format!("{} entries, support {}", stats.profile_entries, stats.support_entries)));
    rows.push(("vectors", format!("{} by {}", stats.vectors, stats.embedder)));
    let mut out = String::new();
    for (label, value) in rows {
        let _ = writeln!(out, "{label:<10} {value}");
    }
    out
}

fn counts(pairs: impl Iterator<Item = (&'static str, usize)>) -> String {
    let parts: Vec<String> = pairs.filter(|(_, n)| *n > 0).map(|(word, n)| format!("{word} {n}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

#[derive(Serialize)]
struct Users {
    users: Vec<String>,
}

/// Lists users.
pub(crate) fn users(context: &Context) -> Result<Exit> {
    let users: Vec<String> =
        context.existing_memory(Steps::Rules)?.namespaces()?.into_iter().map(String::from).collect();
    let (text, any) = (users.join("\n"), !users.is_empty());
    context.printer.data("users", Users { users }, || text)?;
    Ok(Exit::found(any))
}

#[derive(Serialize)]
struct Profile {
    profile: Vec<WireProfile>,
    support: Vec<WireSupport>,
}

#[derive(Serialize)]
struct WireProfile {
    person: String,
    topic: &'static str,
    text: String,
    units: Vec<String>,
    last_said: Option<String>,
}

#[derive(Serialize)]
struct WireSupport {
    seeker: String,
    attempt: String,
    outcome: &'static str,
    session: String,
    units: Vec<String>,
    said_at: Option<String>,
}

/// Shows `U` and `H`.
pub(crate) fn profile(context: &Context) -> Result<Exit> {
    let memory = context.user()?.longitudinal();
    let empty = memory.profile.is_empty() && memory.support.is_empty();
    let ids = |units: &[UnitId]| units.iter().map(ToString::to_string).collect::<Vec<_>>();
    let wire = Profile {
        profile: memory
            .profile
            .iter()
            .map(|e| WireProfile {
                person: e.person.clone(),
                topic: words::topic(e.topic),
                text: e.text.clone(),
                units: ids(&e.units),
                last_said: e.last_said.map(|at| at.to_string()),
            })
            .collect(),
        support: memory
            .support
            .iter()
            .map(|e| WireSupport {
                seeker: e.seeker.clone(),
                attempt: e.attempt.clone(),
                outcome: words::outcome(e.outcome),
                session: e.session.to_string(),
                units: ids(&e.units),
                said_at: e.said_at.map(|at| at.to_string()),
            })
            .collect(),
    };
    if empty && !context.printer.json() {
        context.printer.remark("nothing lasting is known yet");
        return Ok(Exit::Negative);
    }
    context.printer.data("profile", wire, || profile_text(context, &memory))?;
    Ok(Exit::found(!empty))
}

fn profile_text(context: &Context, memory: &Longitudinal) -> String {
    let (paint, width) = (context.printer.paint(), context.printer.width());
    let ids = |units: &[UnitId]| units.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    if !memory.profile.is_empty() {
        let mut table = Table::new(&["PERSON", "TOPIC", "LAST SAID", "UNITS", "WHAT IS KNOWN"]);
        for e in &memory.profile {
            let topic = words::topic(e.topic).to_owned();
            table.row(vec![e.person.clone(), topic, date::short(e.last_said), ids(&e.units), e.text.clone()]);
        }
        out.push_str(&table.render(paint, width));
    }
    if !memory.support.is_empty() {
        let mut table = Table::new(&["SEEKER", "OUTCOME", "SAID", "UNITS", "SUPPORT THAT WAS TRIED"]);
        for e in &memory.support {
            let outcome = words::outcome(e.outcome).to_owned();
            table.row(vec![
                e.seeker.clone(),
                outcome,
                date::short(e.said_at),
                ids(&e.units),
                e.attempt.clone(),
            ]);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&table.render(paint, width));
    }
    out
}
