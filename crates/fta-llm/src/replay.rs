//! Conversations with a model in a file: written by [`Recorder`], spoken again by [`Replay`].
//!
//! # Format
//! JSON lines. The first names format, version and model (`{"format":"fta-llm recording","version":1,"model_id":"m"}`); each
//! other holds a `request` and either the `reply` or the `error`. **A recording holds prompts and replies in clear.**

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    io::{self, BufRead, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    canonical::canonical,
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
};

const FORMAT: &str = "fta-llm recording";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    model_id: String,
}

#[derive(Serialize, Deserialize)]
struct Record {
    request: ChatRequest,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Reply(ChatReply),
    Error(ModelError),
}

impl From<Outcome> for Result<ChatReply, ModelError> {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Reply(reply) => Ok(reply),
            Outcome::Error(error) => Err(error),
        }
    }
}

/// Passes requests on and writes each with its reply or error, in the order in which those come.
///
/// A call does not fail because it cannot be written; [`finish`](Self::finish) says so.
pub struct Recorder<M, W> {
    model: M,
    sink: Mutex<Sink<W>>,
}

struct Sink<W> {
    writer: W,
    is_begun: bool,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl<M: LanguageModel, W: Write + Send> Recorder<M, W> {
    /// Writes what `model` is asked and says to `writer`; each line is flushed.
    pub fn new(model: M, writer: W) -> Self {
        Self { model, sink: Mutex::new(Sink { writer, is_begun: false, error: None }) }
    }

    /// Ends the recording and gives the writer back.
    ///
    /// # Errors
    /// The first error of writing, if there was one: the recording is not whole.
    pub fn finish(self) -> io::Result<W> {
        let mut sink = self.sink.into_inner().unwrap_or_else(PoisonError::into_inner);
        sink.begin(self.model.model_id());
        match sink.error {
            Some(error) => Err(error),
            None => Ok(sink.writer),
        }
    }

    fn record(&self, request: ChatRequest, outcome: &Result<ChatReply, ModelError>) {
        let outcome = match outcome {
            Ok(reply) => Outcome::Reply(reply.clone()),
            Err(error) => Outcome::Error(error.clone()),
        };
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.begin(self.model.model_id());
        sink.write(&Record { request, outcome });
    }
}

impl<W: Write> Sink<W> {
    fn begin(&mut self, model_id: &str) {
        if !std::mem::replace(&mut self.is_begun, true) {
            let model_id = model_id.to_owned();
            self.write(&Header { format: FORMAT.to_owned(), version: VERSION, model_id });
        }
    }

    fn write(&mut self, value: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let written = serde_json::to_string(value)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(self.writer, "{line}"))
            .and_then(|()| self.writer.flush());
        self.error = written.err();
    }
}

#[async_trait]
impl<M: LanguageModel, W: Write + Send> LanguageModel for Recorder<M, W> {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let outcome = self.model.complete(request.clone()).await;
        self.record(request, &outcome);
        outcome
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        let outcome = self.model.complete_streaming(request.clone(), on_text).await;
        self.record(request, &outcome);
        outcome
    }
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("recording cannot be read")]
    Read(#[from] io::Error),
    /// The first line does not say that this is a recording of the version that is known.
    #[error("not a recording of version `{VERSION}`")]
    Format,
    /// A line is not a record.
    #[error("line `{line}` of the recording is not a request with its reply, from column `{column}` on")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Byte of the line where that shows, from 1.
        column: usize,
    },
}

/// A model that says what was recorded, and nothing else.
///
/// Equal requests get their replies and errors in the order of the recording, each once. A request that is not in it, or not
/// so often, is a [`ModelError::Permanent`] that says where the nearest recorded one differs, without quoting either.
pub struct Replay {
    model_id: String,
    records: Vec<Record>,
    /// For each request the records that are left, in order.
    left: Mutex<BTreeMap<String, VecDeque<usize>>>,
}

impl Replay {
    /// Reads a recording.
    ///
    /// # Errors
    /// [`ReplayError`] if it cannot be read or is none.
    pub fn read(reader: impl BufRead) -> Result<Self, ReplayError> {
        let mut lines = reader.lines();
        let first = lines.next().ok_or(ReplayError::Format)??;
        let header: Header = serde_json::from_str(&first).map_err(|_| ReplayError::Format)?;
        if header.format != FORMAT || header.version != VERSION {
            return Err(ReplayError::Format);
        }
        let mut records: Vec<Record> = Vec::new();
        let mut left: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (place, line) in lines.enumerate() {
            let record: Record = serde_json::from_str(&line?)
                .map_err(|error| ReplayError::Line { line: place + 2, column: error.column() })?;
            left.entry(canonical(&record.request)).or_default().push_back(records.len());
            records.push(record);
        }
        Ok(Self { model_id: header.model_id, records, left: Mutex::new(left) })
    }

    /// How many recorded replies and errors nobody asked for yet.
    pub fn n_unused(&self) -> usize {
        self.left().values().map(VecDeque::len).sum()
    }

    fn left(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<usize>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn miss(&self, request: &ChatRequest) -> ModelError {
        let step = &request.step;
        let key = canonical(request);
        let n_equal = self.records.iter().filter(|record| canonical(&record.request) == key).count();
        let nearest = self.records.iter().enumerate().max_by_key(|(place, record)| {
            // The first of those that are equally near.
            (likeness(request, &record.request), std::cmp::Reverse(*place))
        });
        let why = match nearest {
            _ if n_equal > 0 => format!("all `{n_equal}` recorded replies to it are used up"),
            Some((place, record)) => {
                format!("the nearest is line `{}`, where {}", place + 2, difference(request, &record.request))
            }
            None => "nothing is recorded".to_owned(),
        };
        ModelError::Permanent { message: format!("no recorded reply for a request of step `{step}`: {why}") }
    }
}

/// How like requests are: the step first, then the messages that are equal from the beginning, then the bytes that are.
fn likeness(one: &ChatRequest, other: &ChatRequest) -> (bool, usize, usize) {
    let n_equal = one.messages.iter().zip(&other.messages).take_while(|(one, other)| one == other).count();
    let n_bytes = match (one.messages.get(n_equal), other.messages.get(n_equal)) {
        (Some(one), Some(other)) => n_equal_bytes(&one.content, &other.content),
        _ => 0,
    };
    (one.step == other.step, n_equal, n_bytes)
}

fn n_equal_bytes(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// The first thing in which requests differ.
fn difference(asked: &ChatRequest, recorded: &ChatRequest) -> String {
    for (place, (one, other)) in asked.messages.iter().zip(&recorded.messages).enumerate() {
        let number = place + 1;
        if one.role != other.role {
            return format!("message `{number}` is from another role");
        }
        if one.content != other.content {
            return format!(
                "message `{number}` differs from byte `{}` on",
                n_equal_bytes(&one.content, &other.content)
            );
        }
    }
    let what = if asked.messages.len() != recorded.messages.len() {
        "the number of messages"
    } else if asked.step != recorded.step {
        "the step"
    } else if asked.schema != recorded.schema {
        "the schema"
    } else if asked.max_tokens != recorded.max_tokens {
        "the limit of tokens"
    } else if asked.seed != recorded.seed {
        "the seed"
    } else {
        "the temperature"
    };
    format!("{what} differs")
}

#[async_trait]
impl LanguageModel for Replay {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let place = self.left().get_mut(&canonical(&request)).and_then(VecDeque::pop_front);
        match place {
            Some(place) => self.records[place].outcome.clone().into(),
            None => Err(self.miss(&request)),
        }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("model_id", &self.model_id)
            .field("n_records", &self.records.len())
            .field("n_unused", &self.n_unused())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        model::{FinishReason, Message, Usage},
        scripted::ScriptedModel,
    };

    fn request(step: &str, text: &str) -> ChatRequest {
        let mut request = ChatRequest::new(step, vec![Message::system("Be brief."), Message::user(text)]);
        request.schema = Some(serde_json::json!({"type": "object", "minimum": 0.5}));
        request.temperature = 0.7;
        request
    }

    async fn recording(model: ScriptedModel, requests: &[ChatRequest]) -> Vec<u8> {
        let recorder = Recorder::new(model, Vec::new());
        for request in requests {
            let _ = recorder.complete(request.clone()).await;
        }
        recorder.finish().unwrap()
    }

    fn model() -> ScriptedModel {
        let usage = Usage { prompt_tokens: 3, completion_tokens: 1 };
        ScriptedModel::new("m")
            .reply("a", ChatReply { text: "eins\n„zwei“".to_owned(), finish: FinishReason::Length, usage })
            .fail("a", ModelError::RateLimited { retry_after: Some(Duration::from_millis(1500)) })
            .reply("b", "three")
    }

    #[tokio::test]
    async fn what_was_recorded_is_said_again() {
        let requests = [request("a", "x"), request("a", "x"), request("b", "x")];
        let file = recording(model(), &requests).await;
        assert_eq!(file.split(|byte| *byte == b'\n').count() - 1, 4);
        let replay = Replay::read(file.as_slice()).unwrap();
        assert_eq!((replay.model_id(), replay.n_unused()), ("m", 3));
        let original = model();
        // Another order of different requests changes nothing.
        for request in [&requests[2], &requests[0], &requests[1]] {
            let said = original.complete(request.clone()).await;
            assert_eq!(replay.complete(request.clone()).await, said);
        }
        assert_eq!(replay.n_unused(), 0);
    }

    #[tokio::test]
    async fn a_miss_says_what_differs_and_quotes_nothing() {
        let file = recording(model(), &[request("a", "What is ice?"), request("b", "What is water?")]).await;
        let replay = Replay::read(file.as_slice()).unwrap();
        let check = async |request: ChatRequest, expected: &str| {
            let Err(ModelError::Permanent { message }) = replay.complete(request).await else {
                panic!("expected a miss: {expected}");
            };
            assert!(message.ends_with(expected), "{message}");
            assert!(!message.contains("What") && !message.contains("brief"), "{message}");
        };
        check(request("a", "What is snow?"), "line `2`, where message `2` differs from byte `8` on").await;
        check(request("b", "What is ice?"), "line `3`, where message `2` differs from byte `8` on").await;
        check(
            ChatRequest { seed: Some(1), ..request("a", "What is ice?") },
            "line `2`, where the seed differs",
        )
        .await;
        check(ChatRequest { schema: None, ..request("b", "What is water?") }, "where the schema differs")
            .await;
        check(ChatRequest::new("a", Vec::new()), "line `2`, where the number of messages differs").await;
        check(request("c", "What is ice?"), "line `2`, where the step differs").await;
        assert_eq!(replay.n_unused(), 2);
        replay.complete(request("a", "What is ice?")).await.unwrap();
        check(request("a", "What is ice?"), "all `1` recorded replies to it are used up").await;
    }

    #[test]
    fn other_files_are_refused() {
        let read = |text: &str| Replay::read(text.as_bytes()).unwrap_err().to_string();
        let header = r#"{"format":"fta-llm recording","version":1,"model_id":"m"}"#;
        for text in ["", "{}", "nonsense", &header.replace(":1", ":2")] {
            assert_eq!(read(text), "not a recording of version `1`");
        }
        let broken = format!("{header}\n{{\"request\":1}}\n");
        assert!(read(&broken).starts_with("line `2` of the recording is not a request"), "{}", read(&broken));
        assert_eq!(Replay::read(header.as_bytes()).unwrap().n_unused(), 0);
    }

    /// A disk that is full.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn replies_are_given_even_if_they_cannot_be_written() {
        let recorder = Recorder::new(ScriptedModel::new("m").reply("a", "x"), Full);
        assert_eq!(recorder.complete(request("a", "x")).await.unwrap().text, "x");
        assert_eq!(recorder.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
    }
}
