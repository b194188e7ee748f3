//! Extracts units of a data set by rules and reports coverage, or prints the units of one session.
//!
//! `offline_corpus <locomo|esconv|longmemeval> <file> [turns per fragment, 0 for whole sessions] [session to print, or `claims` for all]`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{collections::BTreeMap, time::Instant};

use fta_segment::{BoundaryCue, Fragment, Role, Session, SessionId, Turn, TurnSpan};
use fta_units::{
    CandidateUnit, ExtractionInput, UnitStatus,
    offline::{Coverage, RuleExtractor, coverage},
};
use serde_json::Value;

/// Sessions, and the source ids of turns that are evidence of questions (with the session's position).
type Corpus = (Vec<Session>, Vec<(usize, u32)>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [format, path, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: offline_corpus <locomo|esconv|longmemeval> <file> [turns per fragment] [session]".into(),
        );
    };
    let text = std::fs::read_to_string(path)?;
    let (sessions, evidence) = match format.as_str() {
        "locomo" => locomo(&serde_json::from_str(&text)?),
        "esconv" => lines(&text, "dialogue")?,
        _ => lines(&text, "haystack_sessions")?,
    };
    let per_fragment: u32 = rest.first().map_or(Ok(0), |n| n.parse())?;
    if let Some("claims") = rest.get(1).map(String::as_str) {
        for unit in sessions.iter().flat_map(|s| extract(s, per_fragment)) {
            println!(
                "{}\t{:?}\t{:?}\t{:?}\t{:?}",
                unit.fact.claim, unit.fact.situation, unit.time.orientation, unit.fact.mentioned, unit.affect
            );
        }
        return Ok(());
    }
    if let Some(name) = rest.get(1) {
        for session in sessions.iter().filter(|s| s.id.0 == *name) {
            show(session, &extract(session, per_fragment));
        }
        return Ok(());
    }
    let began = Instant::now();
    let units: Vec<Vec<CandidateUnit>> = sessions.iter().map(|s| extract(s, per_fragment)).collect();
    let seconds = began.elapsed().as_secs_f64();
    report(&sessions, &units, &evidence);
    println!("seconds {seconds:.2}");
    Ok(())
}

fn extract(session: &Session, per_fragment: u32) -> Vec<CandidateUnit> {
    let extractor = RuleExtractor::default();
    let n_turns = session.turns.len() as u32;
    let step = if per_fragment == 0 { n_turns.max(1) } else { per_fragment };
    let (mut done, mut carried): (Vec<CandidateUnit>, Vec<CandidateUnit>) = (Vec::new(), Vec::new());
    for start in (0..n_turns).step_by(step as usize) {
        let fragment =
            Fragment { span: TurnSpan::new(start, (start + step).min(n_turns)), cue: BoundaryCue::FixedCut };
        let found = extractor.extract_now(ExtractionInput {
            session,
            fragment,
            parts: &[fragment],
            carried: &carried,
        });
        let old = std::mem::take(&mut carried).into_iter().enumerate();
        let open: Vec<CandidateUnit> =
            old.filter(|(i, _)| !found.fused.iter().any(|f| f.0 == *i)).map(|(_, c)| c).collect();
        let (partial, whole): (Vec<_>, Vec<_>) =
            found.units.into_iter().partition(|u| u.status == UnitStatus::Partial);
        done.extend(whole);
        carried = open.into_iter().chain(partial).collect();
    }
    done.extend(carried);
    done.sort_by_key(|u| (u.evidence.turns.start, u.evidence.quotes[0].turn, u.evidence.quotes[0].start));
    done
}

fn report(sessions: &[Session], units: &[Vec<CandidateUnit>], evidence: &[(usize, u32)]) {
    let total = sessions
        .iter()
        .zip(units)
        .map(|(s, u)| coverage(s, u.iter().map(|u| &u.evidence)))
        .fold(Coverage::default(), Coverage::plus);
    let n_units: usize = units.iter().map(Vec::len).sum();
    let n_turns: usize = sessions.iter().map(|s| s.turns.len()).sum();
    println!("sessions {} turns {n_turns} units {n_units} {total:?}", sessions.len());
    println!("units per content turn {:.3}", n_units as f64 / total.content_turns as f64);
    let mut by: BTreeMap<String, usize> = BTreeMap::new();
    for unit in units.iter().flatten() {
        *by.entry(format!("{:?}", unit.fact.situation)).or_default() += 1;
        *by.entry(format!("status {:?}", unit.status)).or_default() += 1;
        *by.entry(format!("orientation {:?}", unit.time.orientation)).or_default() += 1;
        *by.entry(format!("span {:02}", unit.evidence.turns.len().min(12))).or_default() += 1;
        *by.entry("with event time".to_owned()).or_default() += usize::from(unit.time.event.is_some());
        *by.entry("with emotion".to_owned()).or_default() += usize::from(!unit.affect.emotions.is_empty());
        *by.entry("with intention".to_owned()).or_default() += usize::from(unit.affect.intention.is_some());
        *by.entry("with people".to_owned()).or_default() += usize::from(!unit.fact.mentioned.is_empty());
    }
    println!("{by:#?}");
    let held = |quote: bool| {
        let in_unit = |s: usize, t: u32| {
            units[s].iter().any(|u| {
                if quote {
                    u.evidence.quotes.iter().any(|q| q.turn == t)
                } else {
                    u.evidence.turns.contains(t)
                }
            })
        };
        evidence.iter().filter(|(s, t)| in_unit(*s, *t)).count()
    };
    println!("gold evidence turns {} in a span {} quoted {}", evidence.len(), held(false), held(true));
    for (s, t) in evidence {
        if !units[*s].iter().any(|u| u.evidence.turns.contains(*t)) {
            println!("  missed: {}", sessions[*s].turns[*t as usize].text);
        }
    }
}

fn show(session: &Session, units: &[CandidateUnit]) {
    for turn in &session.turns {
        println!(
            "[{}] {}: {} {}",
            turn.index,
            turn.speaker,
            turn.text,
            turn.caption.as_deref().unwrap_or("")
        );
    }
    for unit in units {
        let quotes: Vec<u32> = unit.evidence.quotes.iter().map(|q| q.turn).collect();
        println!("--- {} {quotes:?} {:?} {:?}", unit.evidence.turns, unit.fact.situation, unit.status);
        println!("    {}", unit.fact.claim);
        println!(
            "    people {:?}+{:?} | {:?} {:?} {:?} | {:?} {:?} {:?}",
            unit.fact.participants,
            unit.fact.mentioned,
            unit.time.orientation,
            unit.time.completion,
            unit.time.event.as_ref().map(|e| (&e.text, e.interval.map(|i| i.first.to_string()))),
            unit.affect.emotions,
            unit.affect.intention,
            unit.affect.relation_cues
        );
    }
}

fn turn(index: usize, speaker: &str, text: &str, caption: Option<&str>) -> Turn {
    let role = match speaker {
        "seeker" | "user" => Role::Seeker,
        "supporter" | "assistant" => Role::Supporter,
        _ => Role::Peer,
    };
    Turn {
        index: index as u32,
        source_id: String::new(),
        speaker: speaker.to_owned(),
        role,
        at: None,
        text: text.to_owned(),
        caption: caption.map(str::to_owned),
    }
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

fn locomo(data: &Value) -> Corpus {
    let (mut sessions, mut evidence) = (Vec::new(), Vec::new());
    for case in data.as_array().into_iter().flatten() {
        let mut ids: BTreeMap<&str, (usize, u32)> = BTreeMap::new();
        for n in 1..100 {
            let Some(turns) = case["conversation"][format!("session_{n}")].as_array() else { continue };
            for (index, t) in turns.iter().enumerate() {
                ids.insert(string(t, "dia_id"), (sessions.len(), index as u32));
            }
            let turns: Vec<Turn> = turns
                .iter()
                .enumerate()
                .map(|(i, t)| turn(i, string(t, "speaker"), string(t, "text"), t["blip_caption"].as_str()))
                .collect();
            let id = SessionId(format!("{}/{n}", string(case, "sample_id")));
            // The day does not matter here, only that there is one.
            let started_at = Some(jiff::civil::date(2023, 6, 9).at(9, 0, 0, 0));
            sessions.push(Session { id, started_at, turns });
        }
        for question in case["qa"].as_array().into_iter().flatten() {
            for id in question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                evidence.extend(id.split([';', ' ']).filter_map(|id| ids.get(id.trim())));
            }
        }
    }
    (sessions, evidence)
}

fn lines(text: &str, key: &str) -> Result<Corpus, serde_json::Error> {
    let (mut sessions, mut evidence) = (Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let value: Value = serde_json::from_str(line)?;
        let dialogues: Vec<&Value> = match key {
            "dialogue" => vec![&value[key]],
            _ => value[key].as_array().into_iter().flatten().collect(),
        };
        for (part, dialogue) in dialogues.into_iter().enumerate() {
            let turns: Vec<Turn> = dialogue
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(i, t)| turn(i, string(t, "role"), string(t, "content"), None))
                .collect();
            if key != "dialogue" {
                evidence.extend((0..turns.len() as u32).map(|t| (sessions.len(), t)));
            }
            let started_at = (key != "dialogue").then(|| jiff::civil::date(2023, 6, 9).at(9, 0, 0, 0));
            sessions.push(Session { id: SessionId(format!("{n}/{part}")), started_at, turns });
        }
    }
    Ok((sessions, evidence))
}
