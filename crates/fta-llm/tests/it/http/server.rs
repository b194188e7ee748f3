//! A server on a real socket that behaves as well, or as badly, as it is told to.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) path: String,
    /// By name in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

/// What the server does, one after the other; then it closes the connection.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Send(Vec<u8>),
    Pause(Duration),
    /// Say nothing more until the client goes away.
    Hang,
}

pub(super) type Answer = Vec<Act>;

/// A server; it ends when it is dropped.
pub(super) struct Server {
    pub(super) base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// A server that answers the requests in the order of `answers`, and with `599` after the last.
    pub(super) async fn scripted(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<Answer> = answers.into_iter().collect();
        let after = json_answer(599, &[], &json!({"error": "no answer is left"}));
        Self::start(move |place, _| answers.get(place).unwrap_or(&after).clone()).await
    }

    /// A server that answers each request by its place in the order of requests and by what it asks for.
    pub(super) async fn start(answer: impl Fn(usize, &Received) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let requests = received.clone();
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (requests, answer) = (requests.clone(), answer.clone());
                tokio::spawn(async move { serve(stream, &requests, &*answer).await });
            }
        });
        Self { base_url, received, task }
    }

    /// The requests so far.
    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one request; the client may go away at any time, so errors of the connection end it.
async fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Received>>,
    answer: &(dyn Fn(usize, &Received) -> Answer + Send + Sync),
) -> Option<()> {
    let request = read_request(&mut stream).await?;
    let acts = {
        let mut requests = requests.lock().unwrap();
        let acts = answer(requests.len(), &request);
        requests.push(request);
        acts
    };
    for act in acts {
        match act {
            Act::Send(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.flush().await.ok()?;
            }
            Act::Pause(time) => tokio::time::sleep(time).await,
            Act::Hang => while stream.read(&mut [0; 64]).await.ok()? > 0 {},
        }
    }
    stream.shutdown().await.ok()
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        if bytes.starts_with(&[0x16]) {
            // A handshake of TLS: answered as servers do that do not know what it is.
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok()?;
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    let headers: BTreeMap<_, _> = lines.filter_map(header).collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + length {
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    }
    let body = serde_json::from_slice(&bytes[end..]).unwrap_or_default();
    Some(Received { path, headers, body })
}

fn head(status: u16, kind: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head
}

/// A whole answer of any kind.
pub(super) fn answer(status: u16, kind: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let head = head(status, kind, headers);
    vec![Act::Send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())]
}

pub(super) fn json_answer(status: u16, headers: &[(&str, &str)], body: &Value) -> Answer {
    answer(status, "application/json", headers, &body.to_string())
}

/// A whole reply with 11 and 3 tokens.
pub(super) fn reply(text: &str, finish_reason: &str) -> Answer {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": null,
            "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    });
    json_answer(200, &[], &body)
}

/// A reply that claims to be longer than it is, so that closing the connection cuts it.
pub(super) fn cut_reply(text: &str) -> Answer {
    let Act::Send(mut bytes) = reply(text, "stop").remove(0) else { unreachable!("a reply is sent at once") };
    bytes.truncate(bytes.len() - 20);
    vec![Act::Send(bytes)]
}

/// The beginning of a stream.
pub(super) fn stream_head() -> Act {
    let head = head(200, "text/event-stream; charset=utf-8", &[]);
    Act::Send(format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes())
}

/// Bytes of a stream as one chunk of the connection.
pub(super) fn piece(bytes: &[u8]) -> Act {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    Act::Send(chunk)
}

/// The end of a stream that is whole as the connection sees it.
pub(super) fn stream_end() -> Act {
    Act::Send(b"0\r\n\r\n".to_vec())
}

/// One event of a reply.
pub(super) fn event(delta: &Value, finish_reason: Option<&str>) -> String {
    let chunk = json!({"object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]});
    format!("data: {chunk}\n\n")
}

/// A streamed reply: its pieces, why it ends, its 11 and 3 tokens and the end mark.
pub(super) fn streamed(texts: &[&str], finish_reason: &str) -> Answer {
    let mut acts =
        vec![stream_head(), piece(event(&json!({"role": "assistant", "content": ""}), None).as_bytes())];
    acts.extend(texts.iter().map(|text| piece(event(&json!({"content": text}), None).as_bytes())));
    acts.push(piece(event(&json!({}), Some(finish_reason)).as_bytes()));
    acts.push(piece(b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\n"));
    acts.push(piece(b"data: [DONE]\n\n"));
    acts.push(stream_end());
    acts
}
