//! The directory of a run: one writer at a time, a journal while it runs, files at its end.
//!
//! ```text
//! manifest.json     what the run is made with
//! journal/ARM/CASE  records as they come, until the end
//! replies/ARM/CASE  replies of the model, until the end
//! questions.jsonl   one record for each arm and question    } byte for byte the same
//! cases.jsonl       one record for each arm and conversation } for the same settings
//! timings.jsonl     how long each took
//! summary.json, report.md, report.html
//! ```

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{CaseRecord, Manifest, QuestionRecord, RunError, Timing, manifest::FORMAT};

const LOCK: &str = "lock";
const MANIFEST: &str = "manifest.json";
const JOURNAL: &str = "journal";
const REPLIES: &str = "replies";
const QUESTIONS: &str = "questions.jsonl";
const CASES: &str = "cases.jsonl";
const TIMINGS: &str = "timings.jsonl";

/// The directory of a run, held against other writers until it is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    manifest: Manifest,
    _lock: File,
}

/// A line of a journal: a record as it will stand in the files of the end, and how long it took.
///
/// The text is kept rather than the record: numbers that are read and written again can differ in their last digit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    /// One line of JSON, without the line break.
    pub(super) record: String,
    pub(super) timing: Timing,
}

/// What a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// The conversation was taken in.
    Case,
    /// A question was asked.
    Question,
}

/// Records in the order of the files of the end.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) questions: Vec<String>,
    pub(super) cases: Vec<String>,
    pub(super) timings: Vec<Timing>,
}

impl Entry {
    pub(super) fn case(record: &CaseRecord, timing: Timing) -> Self {
        Self { kind: EntryKind::Case, record: json(record), timing }
    }

    pub(super) fn question(record: &QuestionRecord, timing: Timing) -> Self {
        Self { kind: EntryKind::Question, record: json(record), timing }
    }

    /// Kind, record and time, with tabs between: JSON has none.
    fn line(&self) -> String {
        let kind = match self.kind {
            EntryKind::Case => "case",
            EntryKind::Question => "question",
        };
        format!("{kind}\t{}\t{}\n", self.record, json(&self.timing))
    }

    /// `None` for anything but a whole line of a journal.
    fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let mut parts = line.split('\t');
        let (kind, record, timing) = (parts.next()?, parts.next()?, parts.next()?);
        let kind = match kind {
            "case" => serde_json::from_str::<CaseRecord>(record).ok().map(|_| EntryKind::Case),
            "question" => serde_json::from_str::<QuestionRecord>(record).ok().map(|_| EntryKind::Question),
            _ => None,
        }?;
        let timing = serde_json::from_str(timing).ok()?;
        parts.next().is_none().then(|| Self { kind, record: record.to_owned(), timing })
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("records are JSON")
}

/// A run that is at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    /// What it was made with.
    pub manifest: Manifest,
    /// By arm, conversation and question, in the order of experiment and data.
    pub questions: Vec<QuestionRecord>,
    /// By arm and conversation.
    pub cases: Vec<CaseRecord>,
    /// Likewise.
    pub timings: Vec<Timing>,
}

impl RunDirectory {
    /// Makes the directory, or goes on with the run in it; with `restart` what is there is removed first, if it is a run.
    ///
    /// # Errors
    /// [`RunError::InUse`], [`RunError::NotARun`], [`RunError::OtherSettings`], [`RunError::OtherProgram`], or that it
    /// cannot be read or written.
    ///
    /// # Panics
    /// Never: a manifest is JSON.
    pub fn open(path: &Path, manifest: Manifest, restart: bool) -> Result<Self, RunError> {
        fs::create_dir_all(path).map_err(write(path))?;
        let known = path.join(MANIFEST);
        let is_run = known.is_file();
        let is_empty = fs::read_dir(path)
            .map_err(read(path))?
            .all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK));
        if !is_run && !is_empty {
            return Err(RunError::NotARun { path: path.to_owned() });
        }
        let lock = lock(path)?;
        if is_run && restart {
            clear(path)?;
        }
        let manifest = if is_run && !restart {
            same(path, read_manifest(path)?, &manifest)?
        } else {
            let text = serde_json::to_vec_pretty(&manifest).expect("a manifest is JSON");
            replace(&known, &text)?;
            manifest
        };
        Ok(Self { path: path.to_owned(), manifest, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run in it is made with.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the run in it is at its end.
    pub fn is_finished(&self) -> bool {
        self.path.join(QUESTIONS).is_file()
    }

    /// Opens the journal of a conversation in an arm, and gives what it holds. Half a line at its end is removed.
    pub(super) fn journal(&self, arm: &str, case: &str) -> Result<(Journal, Vec<Entry>), RunError> {
        let folder = self.path.join(JOURNAL).join(arm);
        fs::create_dir_all(&folder).map_err(write(&folder))?;
        Journal::open(folder.join(case))
    }

    /// Where replies of a model are kept while a conversation is under way.
    pub(super) fn replies(&self, arm: &str, case: &str) -> PathBuf {
        self.path.join(REPLIES).join(arm).join(case)
    }

    /// Writes the files of the end and removes the journal.
    pub(super) fn finish(&self, records: &Records) -> Result<(), RunError> {
        replace(&self.path.join(CASES), &lines(&records.cases))?;
        let timings: Vec<String> = records.timings.iter().map(json).collect();
        replace(&self.path.join(TIMINGS), &lines(&timings))?;
        // The last file says that the run is at its end.
        replace(&self.path.join(QUESTIONS), &lines(&records.questions))?;
        for folder in [JOURNAL, REPLIES] {
            remove(&self.path.join(folder))?;
        }
        Ok(())
    }

    /// Writes a file beside the records.
    ///
    /// # Errors
    /// [`RunError::Write`].
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, RunError> {
        let path = self.path.join(name);
        replace(&path, text.as_bytes())?;
        Ok(path)
    }
}

impl FinishedRun {
    /// Reads a run.
    ///
    /// # Errors
    /// [`RunError::Incomplete`] if it is not at its end, [`RunError::Read`] or [`RunError::Damaged`] if it cannot be
    /// read.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let manifest = read_manifest(path)?;
        if !path.join(QUESTIONS).is_file() {
            return Err(RunError::Incomplete { path: path.to_owned() });
        }
        Ok(Self {
            manifest,
            questions: read_lines(&path.join(QUESTIONS))?,
            cases: read_lines(&path.join(CASES))?,
            timings: read_lines(&path.join(TIMINGS))?,
        })
    }
}

/// Records of a conversation in an arm as they come.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    fn open(path: PathBuf) -> Result<(Self, Vec<Entry>), RunError> {
        let known = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(RunError::Read { path, source }),
        };
        let (mut entries, mut good) = (Vec::new(), 0);
        for line in known.split_inclusive(|&byte| byte == b'\n') {
            // The program may have been killed in the middle of a line; what follows it would be worth nothing.
            let Some(entry) = Entry::parse(line) else { break };
            entries.push(entry);
            good += line.len();
        }
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = open.map_err(write(&path))?;
        file.set_len(good as u64).map_err(write(&path))?;
        let mut journal = Self { path, file };
        io::Seek::seek(&mut journal.file, io::SeekFrom::End(0)).map_err(write(&journal.path))?;
        Ok((journal, entries))
    }

    /// Adds a line; it is in the hands of the operating system when this returns.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), RunError> {
        self.file.write_all(entry.line().as_bytes()).map_err(write(&self.path))
    }
}

fn lock(path: &Path) -> Result<File, RunError> {
    let name = path.join(LOCK);
    let open = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
    let file = open.map_err(write(&name))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(RunError::Write { path: name, source }),
    }
}

/// The manifest that is there, if a run with `new` may go on with it.
fn same(path: &Path, known: Manifest, new: &Manifest) -> Result<Manifest, RunError> {
    let path = path.to_owned();
    if known.settings != new.settings {
        let differences = new.settings.differences(&known.settings);
        return Err(RunError::OtherSettings { path, differences });
    }
    let is_finished = path.join(QUESTIONS).is_file();
    if !is_finished && known.program.sha256 != new.program.sha256 {
        return Err(RunError::OtherProgram { path });
    }
    Ok(known)
}

fn read_manifest(path: &Path) -> Result<Manifest, RunError> {
    let name = path.join(MANIFEST);
    let text = fs::read(&name).map_err(read(&name))?;
    let damaged = |message: String| RunError::Damaged { path: name.clone(), line: 1, message };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|e| damaged(e.to_string()))?;
    match value["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => {}
        format => {
            let found = format.map_or_else(|| "none".to_owned(), |format| format.to_string());
            return Err(damaged(format!("files of version {found}, {FORMAT} is expected")));
        }
    }
    serde_json::from_value(value).map_err(|e| damaged(e.to_string()))
}

/// Removes the files of a run, and nothing else.
fn clear(path: &Path) -> Result<(), RunError> {
    for name in [QUESTIONS, CASES, TIMINGS, MANIFEST, JOURNAL, REPLIES] {
        remove(&path.join(name))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), RunError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(write(path)(error)),
        _ => Ok(()),
    }
}

fn lines(rows: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        out.extend_from_slice(row.as_bytes());
        out.push(b'\n');
    }
    out
}

fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunError> {
    let text = fs::read_to_string(path).map_err(read(path))?;
    let parse = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| RunError::Damaged {
            path: path.to_owned(),
            line: i + 1,
            message: error.to_string(),
        })
    };
    text.lines().enumerate().map(parse).collect()
}

/// Writes a whole file or leaves the old one.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    written.map_err(|source| {
        // Half a file would only take the room that is missing.
        let _ = fs::remove_file(&new);
        RunError::Write { path: path.to_owned(), source }
    })
}

fn write(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    let path = path.to_owned();
    move |source| RunError::Write { path, source }
}

fn read(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    let path = path.to_owned();
    move |source| RunError::Read { path, source }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(item: &str, seconds: f64) -> Entry {
        let record = CaseRecord {
            arm: "a".to_owned(),
            conversation: item.to_owned(),
            sessions: 1,
            turns: 2,
            items: 3,
            covered: None,
            calls: std::collections::BTreeMap::new(),
        };
        let timing = Timing {
            arm: "a".to_owned(),
            conversation: item.to_owned(),
            question: None,
            context_milliseconds: seconds,
            answer_milliseconds: None,
        };
        Entry::case(&record, timing)
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_it_was_written(text in ".*", more in "\\PC{0,9}") {
            let entry = entry(&text, 1.5);
            let line = entry.line();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(Entry::parse(line.as_bytes()), Some(entry));
            prop_assert_eq!(Entry::parse(format!("{more}{}", &line[1..]).as_bytes()).is_some(), more == "c");
        }

        #[test]
        fn a_torn_line_is_none(cut in 1_usize..200) {
            let line = entry("x", 0.25).line();
            prop_assert_eq!(Entry::parse(&line.as_bytes()[..line.len().saturating_sub(cut)]), None);
        }
    }
}
