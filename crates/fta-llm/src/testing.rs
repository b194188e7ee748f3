//! A chat server on a real socket, for tests of programs that talk to one (feature `testing`).

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use crate::model::{ChatReply, FinishReason, Message};

/// What came from a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedChat {
    /// Value of the header `authorization`.
    pub authorization: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
    /// Schema of `response_format`, if the reply shall be held to one.
    pub schema: Option<Value>,
    /// The body as it came.
    pub body: Value,
}

/// What the server says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A reply.
    Reply(ChatReply),
    /// An error of this status, with a message.
    Status(u16, String),
    /// Nothing: the connection is closed.
    Closed,
}

type Answer = dyn Fn(usize, &ReceivedChat) -> Said + Send + Sync;

/// A server for `POST …/chat/completions` on a port of this machine; it ends when it is dropped.
///
/// Every request is answered by a function of its place in the order of requests and of what it holds, on a thread of its
/// own, so that a function may wait.
pub struct ChatServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<ReceivedChat>>>,
    ends: Arc<AtomicBool>,
}

impl ChatServer {
    /// Starts a server.
    ///
    /// # Errors
    /// If no port can be had.
    pub fn start(
        answer: impl Fn(usize, &ReceivedChat) -> Said + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (received, ends) = (Arc::<Mutex<Vec<ReceivedChat>>>::default(), Arc::new(AtomicBool::new(false)));
        let (requests, stop, answer): (_, _, Arc<Answer>) =
            (received.clone(), ends.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (requests, answer) = (requests.clone(), answer.clone());
                // A client that goes away is none of the server's business.
                thread::spawn(move || stream.and_then(|stream| serve(&stream, &requests, &*answer)));
            }
        });
        Ok(Self { address, received, ends })
    }

    /// Address up to and without `/chat/completions`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<ReceivedChat> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(
    mut stream: &TcpStream,
    requests: &Mutex<Vec<ReceivedChat>>,
    answer: &Answer,
) -> std::io::Result<()> {
    let received = read(stream)?;
    let place = {
        let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(received.clone());
        requests.len() - 1
    };
    let (status, body) = match answer(place, &received) {
        Said::Closed => return Ok(()),
        Said::Reply(reply) => (200, reply_body(&reply)),
        Said::Status(status, message) => (status, json!({"error": {"message": message}})),
    };
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

fn reply_body(reply: &ChatReply) -> Value {
    let finish = match reply.finish {
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        _ => "stop",
    };
    let usage = reply.usage;
    json!({
        "choices": [{"message": {"role": "assistant", "content": reply.text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    })
}

fn read(stream: &TcpStream) -> std::io::Result<ReceivedChat> {
    let mut reader = BufReader::new(stream);
    let (mut authorization, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_lowercase().as_str() {
            "authorization" => authorization = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let messages = serde_json::from_value(body["messages"].clone()).unwrap_or_default();
    let schema = body.pointer("/response_format/json_schema/schema").cloned();
    Ok(ReceivedChat { authorization, messages, schema, body })
}
