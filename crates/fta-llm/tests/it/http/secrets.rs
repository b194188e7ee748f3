//! The key, and the dialogue, appear nowhere that they do not belong.

use std::{
    error::Error,
    fmt::{self, Write as _},
    fs,
    sync::{Arc, Mutex},
};

use fta_llm::{DiskCache, Recorder};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::{
    server::{Act, Received, answer, event, json_answer, piece, reply, stream_end, stream_head},
    *,
};

/// Writes down all that is logged or traced, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn note(&self, text: fmt::Arguments<'_>) {
        writeln!(self.0.lock().unwrap(), "{text}").unwrap();
    }
}

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.note(format_args!("{} {}", record.target(), record.args()));
    }

    fn flush(&self) {}
}

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.note(format_args!("{field}={value:?}"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A server that repeats to the client what it should keep to itself, a different way each time.
fn telltale(place: usize, request: &Received) -> Answer {
    let header = request.headers.get("authorization").cloned().unwrap_or_default();
    let prompt = request.body["messages"][1]["content"].as_str().unwrap_or_default();
    let message = format!("Incorrect API key provided: {header}. Asked: {prompt}");
    let short = format!("{}**********{}", &KEY[..6], &KEY[KEY.len() - 4..]);
    let error = json!({"error": {"message": message, "type": "invalid_request_error"}});
    match place {
        0 => json_answer(401, &[], &error),
        1 => json_answer(500, &[], &error),
        2 => json_answer(
            401,
            &[],
            &json!({"error": {"message": format!("Incorrect API key provided: {short}.")}}),
        ),
        3 => json_answer(401, &[], &json!({"error": format!("Incorrect API key provided: {header}.")})),
        4 => answer(200, "text/html", &[], &format!("<pre>{header}</pre>")),
        5 => answer(502, "text/html", &[], &format!("<pre>{header} {prompt}</pre>")),
        6 => json_answer(
            400,
            &[],
            &json!({"detail": [{"msg": "field required", "input": header, "ctx": prompt}]}),
        ),
        7 => json_answer(200, &[], &error),
        8 => vec![
            stream_head(),
            piece(event(&json!({"content": "Ic"}), None).as_bytes()),
            piece(format!("data: {error}\n\n").as_bytes()),
            stream_end(),
        ],
        9 => vec![stream_head(), piece(format!("data: {{{header}\n\n").as_bytes()), stream_end()],
        10 => vec![Act::Send(format!("HTTP/1.1 {header}\r\n\r\n").into_bytes())],
        11 => json_answer(307, &[("location", &format!("http://host/{KEY}"))], &error),
        _ => reply("Ice", "stop"),
    }
}

#[tokio::test]
async fn the_key_is_nowhere() {
    let log = Log::default();
    // `set_boxed_logger` needs a feature that would build everything below `log` twice.
    log::set_logger(Box::leak(Box::new(log.clone()))).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(telltale).await;
    let model = Arc::new(model(&server));
    let mut shown = format!("{model:?} {:?} {:#?}", config(&server), config(&server));
    let recorder = Recorder::new(model, Vec::new());
    let cache = DiskCache::open(&recorder, directory.path()).unwrap();
    let mut n_errors = 0;
    let mut errors = String::new();
    for _ in 0..14 {
        if let Err(error) = cache.complete(request()).await {
            n_errors += 1;
            write!(errors, "{error} {error:?} {:?}", error.source().map(ToString::to_string)).unwrap();
        }
    }
    assert_eq!(n_errors, 12, "{errors}");
    assert!(errors.contains("Incorrect API key provided: ***"), "{errors}");
    assert!(!errors.contains("colder"), "an error quotes the prompt: {errors}");
    let file = directory.path().read_dir().unwrap().next().unwrap().unwrap().path();
    shown += &fs::read_to_string(file).unwrap();
    shown += &errors;
    drop(cache);
    shown += &String::from_utf8(recorder.finish().unwrap()).unwrap();
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("connect"), "the log is empty: {logged}");
    assert!(!logged.contains("colder"), "the log quotes the prompt");
    shown += &logged;
    for part in [KEY, &KEY[..6], &KEY[KEY.len() - 8..]] {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
    // They were sent, so they could have shown.
    assert!(server.received().iter().all(|request| request.headers["authorization"].contains(KEY)));
}
