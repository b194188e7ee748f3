//! A sheet of units for people to judge, and what their judgements agree on (Table 11).

use std::{collections::BTreeMap, path::PathBuf};

use fta_mem::{ListFilter, retrieve::render::relation_words};
use serde::{Deserialize, Serialize};

use crate::{
    datasets::Case,
    report::{Block, Cell, Report, Section, Table},
    run::{RunError, sha256},
    stats::{Scale, StatsError, cohen_kappa, weighted_kappa},
    systems::{FtaSettings, FtaSystem, MemorySystem as _, Parts, SystemError},
};

/// What is judged, 0 (wrong), 1 (partly right) or 2 (right); empty where it does not apply.
pub const JUDGED: [&str; 5] = ["fact", "time", "affect", "relation", "evidence"];

/// A unit to judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditItem {
    /// Row of the sheet, from 1.
    pub id: usize,
    /// The conversation.
    pub conversation: String,
    /// The unit.
    pub unit: String,
    /// Its claim.
    pub claim: String,
    /// Situation type and status.
    pub situation: String,
    /// When it was said.
    pub said: String,
    /// When it happened or holds.
    pub event_time: String,
    /// Emotions, intention, relation cues.
    pub affect: String,
    /// One link, as `updates: claim of the other unit`.
    pub link: String,
    /// The turns that it points to.
    pub evidence_text: String,
}

/// Draws `sample` units over all conversations, each equally likely, by `seed`.
///
/// # Errors
/// [`RunError::System`] if a conversation cannot be taken in.
pub async fn audit_items(
    cases: &[Case],
    settings: &FtaSettings,
    parts: impl Fn(&Case) -> Parts,
    (sample, seed): (usize, u64),
) -> Result<Vec<AuditItem>, RunError> {
    let mut drawn: BTreeMap<String, AuditItem> = BTreeMap::new();
    for case in cases {
        let items = items(case, settings, &parts(case)).await.map_err(|source| RunError::System {
            arm: "audit".to_owned(),
            conversation: case.conversation.id.clone(),
            source: Box::new(source),
        })?;
        for item in items {
            // The smallest hashes are a fair draw, and the same whatever the order.
            let key = sha256(format!("{seed} {} {}", item.conversation, item.unit).as_bytes());
            drawn.insert(key, item);
            if drawn.len() > sample {
                drawn.pop_last();
            }
        }
    }
    let mut items: Vec<AuditItem> = drawn.into_values().collect();
    for (i, item) in items.iter_mut().enumerate() {
        item.id = i + 1;
    }
    Ok(items)
}

async fn items(case: &Case, settings: &FtaSettings, parts: &Parts) -> Result<Vec<AuditItem>, SystemError> {
    let mut system = FtaSystem::new(settings.clone(), parts)?;
    for session in &case.conversation.sessions {
        system.ingest(session).await?;
    }
    let memory = system.memory();
    let mut items = Vec::new();
    for unit in memory.list(&ListFilter::default()) {
        let view = memory.show(unit.id)?;
        let affect = &unit.affect;
        let affect = affect.emotions.iter().chain(&affect.intention).chain(&affect.relation_cues);
        let link = view.neighbours.iter().find(|neighbour| !neighbour.newer);
        items.push(AuditItem {
            id: 0,
            conversation: case.conversation.id.clone(),
            unit: unit.id.to_string(),
            claim: unit.fact.claim.clone(),
            situation: format!("{:?}, {:?}", unit.fact.situation, unit.status),
            said: unit.time.said_at.map(|at| at.date().to_string()).unwrap_or_default(),
            event_time: unit.time.event.as_ref().map_or_else(String::new, |event| match event.interval {
                Some(days) if days.first == days.last => format!("{} = {}", event.text, days.first),
                Some(days) => format!("{} = {} to {}", event.text, days.first, days.last),
                None => event.text.clone(),
            }),
            affect: affect.cloned().collect::<Vec<_>>().join("; "),
            link: link.map_or_else(String::new, |neighbour| {
                format!("{}: {}", relation_words(neighbour.relation), neighbour.unit.fact.claim)
            }),
            evidence_text: view
                .turns
                .iter()
                .map(|turn| format!("{}: {}", turn.speaker, turn.text))
                .collect::<Vec<_>>()
                .join("\n"),
        });
    }
    Ok(items)
}

/// The sheet as CSV, with empty columns for the judgements.
///
/// # Panics
/// Never: memory can be written, and text stays text.
pub fn audit_sheet(items: &[AuditItem]) -> String {
    let mut sheet = csv::Writer::from_writer(Vec::new());
    let mut header = vec![
        "id",
        "conversation",
        "unit",
        "claim",
        "situation",
        "said",
        "event_time",
        "affect",
        "link",
        "evidence_text",
    ];
    let judged = JUDGED.map(|column| format!("judged_{column}"));
    header.extend(judged.iter().map(String::as_str));
    let mut write = |row: &[&str]| sheet.write_record(row).expect("memory can be written");
    write(&header);
    for item in items {
        let id = item.id.to_string();
        let mut row = vec![
            id.as_str(),
            &item.conversation,
            &item.unit,
            &item.claim,
            &item.situation,
            &item.said,
            &item.event_time,
            &item.affect,
            &item.link,
            &item.evidence_text,
        ];
        row.resize(header.len(), "");
        write(&row);
    }
    let bytes = sheet.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("text stays text")
}

pub(super) fn section(sample: usize) -> Section {
    let text = format!(
        "`audit.csv` beside this report holds up to {sample} units, drawn by the seed. Two people each fill in a copy: 0 wrong, \
         1 partly right, 2 right, empty where a column does not apply. `fta-eval agreement FIRST SECOND` then gives means and \
         agreement. Nobody has judged these units yet, so there are no numbers here."
    );
    Section { title: "Memory audit".to_owned(), blocks: vec![Block::Text(text)] }
}

/// A sheet that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// It cannot be read.
    #[error("sheet `{path}` cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: csv::Error,
    },
    /// A column is missing.
    #[error("sheet `{path}` has no column `{column}`; begin with the sheet that a run of `audit` writes")]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A judgement is none.
    #[error(
        "sheet `{path}`, row `{id}`, column `{column}`: `{value}` is no judgement; 0, 1, 2 or nothing is expected"
    )]
    Judgement {
        /// The file.
        path: PathBuf,
        /// The row.
        id: String,
        /// The column.
        column: String,
        /// What is there.
        value: String,
    },
    /// The sheets are of different units.
    #[error("sheets differ at row `{id}`: both people must judge the same units")]
    Different {
        /// The row.
        id: String,
    },
    /// Nobody judged anything that both did.
    #[error("no unit is judged in both sheets")]
    Nothing,
    /// Statistics cannot be made.
    #[error("agreement cannot be computed")]
    Stats(#[from] StatsError),
}

/// Means and agreement of two filled sheets.
///
/// # Errors
/// [`AgreementError`] saying which sheet, row and column.
pub fn agreement(first: &std::path::Path, second: &std::path::Path) -> Result<Report, AgreementError> {
    let (a, b) = (judgements(first)?, judgements(second)?);
    for id in a.keys().chain(b.keys()) {
        if a.get(id).map(|row| &row.0) != b.get(id).map(|row| &row.0) {
            return Err(AgreementError::Different { id: id.clone() });
        }
    }
    let mut rows = Vec::new();
    for (i, column) in JUDGED.iter().enumerate() {
        let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
        for (id, row) in &a {
            if let (Some(x), Some(y)) = (row.1[i], b[id].1[i]) {
                of_first.push(x);
                of_second.push(y);
            }
        }
        if of_first.is_empty() {
            continue;
        }
        let n = of_first.len() as f64;
        let mean = |values: &[i32]| Some(values.iter().map(|&v| f64::from(v)).sum::<f64>() / n);
        let plain = cohen_kappa(&of_first, &of_second)?;
        let weighted = weighted_kappa(&of_first, &of_second, Scale::Quadratic)?;
        rows.push(vec![
            Cell::Text((*column).to_owned()),
            Cell::Count(of_first.len() as u64),
            Cell::number(mean(&of_first), 2),
            Cell::number(mean(&of_second), 2),
            Cell::number(Some(plain.raw), 3),
            Cell::number(plain.kappa, 3),
            Cell::number(weighted.kappa, 3),
        ]);
    }
    if rows.is_empty() {
        return Err(AgreementError::Nothing);
    }
    let header = ["judged", "units", "mean, first", "mean, second", "agree", "kappa", "kappa, quadratic"];
    let table = Table {
        caption: "Judgements 0 to 2 of units that both judged".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows,
    };
    Ok(Report {
        title: "Memory audit".to_owned(),
        lead: "Are the units right, and do two people agree on it?".to_owned(),
        facts: vec![
            ("First".to_owned(), first.display().to_string()),
            ("Second".to_owned(), second.display().to_string()),
        ],
        sections: vec![Section { title: "Judgements".to_owned(), blocks: vec![Block::Table(table)] }],
    })
}

/// By row: the claim, and a judgement for each of [`JUDGED`].
type Judgements = BTreeMap<String, (String, [Option<i32>; JUDGED.len()])>;

fn judgements(path: &std::path::Path) -> Result<Judgements, AgreementError> {
    let failed = |source| AgreementError::Read { path: path.to_owned(), source };
    let mut sheet = csv::Reader::from_path(path).map_err(failed)?;
    let header = sheet.headers().map_err(failed)?.clone();
    let column = |name: &str| {
        let missing = || AgreementError::Column { path: path.to_owned(), column: name.to_owned() };
        header.iter().position(|head| head.trim() == name).ok_or_else(missing)
    };
    let (id, claim) = (column("id")?, column("claim")?);
    let mut places = [0; JUDGED.len()];
    for (place, name) in places.iter_mut().zip(JUDGED) {
        *place = column(&format!("judged_{name}"))?;
    }
    let mut judgements = Judgements::new();
    for row in sheet.records() {
        let row = row.map_err(failed)?;
        let mut judged = [None; JUDGED.len()];
        for (i, &place) in places.iter().enumerate() {
            let value = row[place].trim();
            judged[i] = match value {
                "" => None,
                "0" => Some(0),
                "1" => Some(1),
                "2" => Some(2),
                value => {
                    return Err(AgreementError::Judgement {
                        path: path.to_owned(),
                        id: row[id].to_owned(),
                        column: format!("judged_{}", JUDGED[i]),
                        value: value.to_owned(),
                    });
                }
            };
        }
        judgements.insert(row[id].to_owned(), (row[claim].to_owned(), judged));
    }
    Ok(judgements)
}
