//! Embedding by a server, over real sockets.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fta_index::remote::{ApiKey, RemoteConfig, RemoteEmbedder};
use fta_index::testing::HashEmbedder;
use fta_index::{EmbedError, Embedder, conformance};
use serde_json::{Value, json};

const DIM: usize = 6;

/// What the server says to a request.
enum Say {
    Status(u16, &'static str, String),
    /// Bytes as they are, then the end of the connection.
    Raw(String),
    Wait(Duration),
}

/// Head and body of each request.
type Received = Arc<Mutex<Vec<(String, Value)>>>;

/// A server that answers by a function of the place and the body of a request; its thread ends with the tests.
fn serve(answer: impl Fn(usize, &Value) -> Say + Send + Sync + 'static) -> (SocketAddr, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let received = Received::default();
    let requests = received.clone();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, requests) = (answer.clone(), requests.clone());
            std::thread::spawn(move || {
                let (head, body) = read(&stream);
                let place = {
                    let mut requests = requests.lock().expect("no panic");
                    requests.push((head, body.clone()));
                    requests.len() - 1
                };
                reply(&stream, answer(place, &body));
            });
        }
    });
    (address, received)
}

fn read(stream: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    (head, serde_json::from_slice(&body).unwrap_or_default())
}

fn reply(mut stream: &TcpStream, say: Say) {
    let text = match say {
        Say::Status(status, headers, body) => format!(
            "HTTP/1.1 {status} Said\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Say::Raw(text) => text,
        Say::Wait(time) => {
            std::thread::sleep(time);
            return;
        }
    };
    // A client that goes away is none of the server's business.
    let _ = stream.write_all(text.as_bytes());
}

fn config(address: SocketAddr) -> RemoteConfig {
    RemoteConfig {
        backoff: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        ..RemoteConfig::new(format!("http://{address}/v1/"), "small")
    }
}

/// Good vectors, last first, of a norm that is not 1.
fn good(body: &Value) -> Value {
    let texts: Vec<&str> =
        body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    let rows = HashEmbedder::new(DIM).embed(&texts).expect("vectors");
    let item = |(i, row): (usize, &[f32])| json!({"index": i, "embedding": row.iter().map(|x| x * 3.0).collect::<Vec<f32>>()});
    let mut data: Vec<Value> = rows.rows().enumerate().map(item).collect();
    data.reverse();
    json!({"data": data, "usage": {}})
}

fn ok(body: &Value) -> Say {
    Say::Status(200, "content-type: application/json\r\n", body.to_string())
}

/// The error that a server causes which answers every request so.
fn error_of(say: impl Fn(&Value) -> Say + Send + Sync + 'static) -> (EmbedError, usize) {
    let (address, received) = serve(move |_, body| say(body));
    let config = RemoteConfig { dimensions: Some(DIM), retries: 2, ..config(address) };
    let config = RemoteConfig { key: Some(ApiKey::new("sk-secret")), ..config };
    let embedder = RemoteEmbedder::connect(config).expect("nothing is asked yet");
    let error = embedder.embed(&["one", "two"]).expect_err("an error");
    for text in [format!("{error}"), format!("{error:?}"), format!("{embedder:?}")] {
        assert!(!text.contains("sk-secret"), "{text}");
    }
    let n = received.lock().expect("no panic").len();
    (error, n)
}

#[test]
fn keeps_the_contract() {
    let (address, received) = serve(|_, body| {
        let texts = body["input"].as_array().expect("texts");
        assert!(texts.len() <= 7 && texts.iter().all(|text| !text.as_str().expect("a text").is_empty()));
        assert!(texts.iter().all(|text| text.as_str().expect("a text").len() <= 1000));
        ok(&good(body))
    });
    let config = RemoteConfig { batch: 7, max_text_bytes: 1000, ..config(address) };
    let config = RemoteConfig { key: Some(ApiKey::new(" sk-secret\n")), ..config };
    let embedder = RemoteEmbedder::connect(config).expect("a server");
    assert_eq!((embedder.dim(), embedder.model_id()), (DIM, "remote/small/6"));
    conformance::embedder(&embedder);
    let expect = HashEmbedder::new(DIM).embed(&["taxes are due", "a song"]).expect("vectors");
    let found = embedder.embed(&["taxes are due", "a song"]).expect("vectors");
    for (x, y) in found.as_slice().iter().zip(expect.as_slice()) {
        assert!((x - y).abs() < 1e-6, "each vector in its place: {x} {y}");
    }
    let (head, body) = received.lock().expect("no panic")[0].clone();
    assert!(head.starts_with("POST /v1/embeddings HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer sk-secret\r\n"), "{head}");
    assert_eq!((&body["model"], &body["dimensions"]), (&json!("small"), &Value::Null));
}

#[test]
fn what_may_pass_is_tried_again() {
    let (address, received) = serve(|place, body| match place {
        0 => Say::Status(429, "retry-after: 0\r\n", "slow down".to_owned()),
        1 => Say::Status(503, "", "<html>busy</html>".to_owned()),
        2 => Say::Raw(String::new()),
        3 => Say::Raw("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"data\": [".to_owned()),
        _ => ok(&good(body)),
    });
    let config = RemoteConfig { dimensions: Some(DIM), retries: 4, ..config(address) };
    let embedder = RemoteEmbedder::connect(config).expect("nothing is asked yet");
    embedder.embed(&["one"]).expect("a vector in the end");
    let received = received.lock().expect("no panic");
    assert_eq!(received.len(), 5);
    assert_eq!(received[4].1["dimensions"], DIM);
}

#[test]
fn patience_ends() {
    let (error, n) = error_of(|_| Say::Status(500, "", "out of order, sk-secret".to_owned()));
    assert!(matches!(&error, EmbedError::Unavailable { message, .. } if message.contains("out of order")));
    assert_eq!(n, 3, "two retries");
    let (error, n) = error_of(|_| Say::Status(429, "retry-after: 0\r\n", String::new()));
    assert!(matches!(error, EmbedError::RateLimited { retry_after: Some(Duration::ZERO), .. }), "{error}");
    assert_eq!(n, 3);
}

#[test]
fn refusals_are_not_tried_again() {
    for status in [301, 400, 401, 403, 404, 422] {
        let body = r#"{"error": {"message": "no, sk-secret\nis not it"}}"#;
        let (error, n) = error_of(move |_| Say::Status(status, "location: /x\r\n", body.to_owned()));
        assert!(
            matches!(&error, EmbedError::Refused { message, .. } if message.contains("is not it")),
            "{error}"
        );
        assert_eq!(n, 1, "{status}");
    }
}

#[test]
fn unusable_replies_are_told() {
    let vector = |x: Value| json!({"index": 0, "embedding": [x, 1, 0, 0, 0, 0]});
    let second = json!({"index": 1, "embedding": [1, 1, 0, 0, 0, 0]});
    let cases = [
        (json!({"data": []}).to_string(), "`0` vectors for `2` texts"),
        (json!({"data": [vector(json!(1)), second.clone(), second.clone()]}).to_string(), "`3` vectors"),
        (json!({"data": [second.clone(), second.clone()]}).to_string(), "given twice"),
        (
            json!({"data": [vector(json!(1)), {"index": 2, "embedding": [1, 1, 0, 0, 0, 0]}]}).to_string(),
            "range",
        ),
        (json!({"data": [vector(json!(1)), {"index": 1, "embedding": [1, 1]}]}).to_string(), "`2` values"),
        (
            json!({"data": [vector(json!(1)), {"index": 1, "embedding": [0, 0, 0, 0, 0, 0]}]}).to_string(),
            "zero",
        ),
        (json!({"data": [vector(json!(1e300)), second.clone()]}).to_string(), "not finite"),
        (json!({"data": [vector(Value::Null), second.clone()]}).to_string(), "JSON"),
        (json!({"data": [vector(json!("x")), second]}).to_string(), "JSON"),
        (r#"{"data": [{"index": 0, "embedding": [NaN, 1]}]}"#.to_owned(), "JSON"),
        ("<html><body>Welcome</body></html>".to_owned(), "JSON"),
        (String::new(), "JSON"),
        ("null".to_owned(), "JSON"),
    ];
    for (body, reason) in cases {
        let said = body.clone();
        let (error, n) = error_of(move |_| Say::Status(200, "", said.clone()));
        assert!(
            matches!(&error, EmbedError::Reply { reason: found, .. } if found.contains(reason)),
            "{body}: {error}"
        );
        assert_eq!(n, 1, "the server would say it again");
    }
}

#[test]
fn silence_ends_in_time() {
    let (address, _) = serve(|_, _| Say::Wait(Duration::from_secs(30)));
    let timeout = Duration::from_millis(200);
    let config = RemoteConfig { timeout, retries: 1, ..config(address) };
    let error = RemoteEmbedder::connect(config).expect_err("no answer");
    assert!(matches!(error, EmbedError::Unavailable { .. }), "{error}");
}

#[test]
fn wrong_settings_are_refused() {
    let address =
        TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port that is free again");
    let error = RemoteEmbedder::connect(RemoteConfig { batch: 0, ..config(address) }).expect_err("no batch");
    assert!(matches!(error, EmbedError::Refused { .. }), "{error}");
    let error =
        RemoteEmbedder::connect(RemoteConfig { retries: 1, ..config(address) }).expect_err("no server");
    assert!(matches!(error, EmbedError::Unavailable { .. }), "{error}");
    let config = RemoteConfig { base_url: "not an address".to_owned(), ..config(address) };
    let error = RemoteEmbedder::connect(config).expect_err("no address");
    assert!(matches!(error, EmbedError::Refused { .. }), "{error}");
}
