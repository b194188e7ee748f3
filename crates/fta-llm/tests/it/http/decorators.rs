//! The decorators around the HTTP back end, stacked as the crate advises.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use fta_llm::{DiskCache, Limit, Recorder, Replay, Retry, RetryPolicy, Sleep, StepUsage, UsageMeter};

use super::{
    server::{answer, cut_reply, json_answer, reply, streamed},
    *,
};

/// A sleep that takes no time and writes down how long it should have been.
fn noted() -> (Sleep, Arc<Mutex<Vec<Duration>>>) {
    let waits: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let written = waits.clone();
    let sleep: Sleep = Arc::new(move |wait| {
        written.lock().unwrap().push(wait);
        Box::pin(std::future::ready(()))
    });
    (sleep, waits)
}

fn policy() -> RetryPolicy {
    RetryPolicy { jitter: 0.0, ..RetryPolicy::default() }
}

fn trouble() -> Vec<Answer> {
    vec![
        json_answer(500, &[], &json!({"error": "oops"})),
        json_answer(429, &[("retry-after", "7")], &json!({"error": "slow"})),
        cut_reply("Ice"),
        reply("Ice", "stop"),
    ]
}

#[tokio::test]
async fn trouble_is_sat_out_and_usage_adds_up() {
    let server = Server::scripted(trouble()).await;
    let attempts = Arc::new(UsageMeter::new(model(&server), || Duration::ZERO));
    let (sleep, waits) = noted();
    let requests = UsageMeter::new(Retry::new(attempts.clone(), policy(), sleep).unwrap(), || Duration::ZERO);
    assert_eq!(requests.complete(request()).await.unwrap().text, "Ice");
    let milliseconds: Vec<_> = waits.lock().unwrap().iter().map(Duration::as_millis).collect();
    assert_eq!(milliseconds, [500, 7000, 2000]);
    let once = StepUsage { calls: 1, prompt_tokens: 11, completion_tokens: 3, ..StepUsage::default() };
    assert_eq!(requests.by_step()["answer"], once);
    assert_eq!(attempts.by_step()["answer"], StepUsage { calls: 4, errors: 3, ..once });
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn lasting_errors_are_asked_once() {
    let server = Server::scripted([json_answer(401, &[], &json!({"error": "no"}))]).await;
    let (sleep, waits) = noted();
    let retry = Retry::new(model(&server), policy(), sleep).unwrap();
    assert!(matches!(retry.complete(request()).await, Err(ModelError::Permanent { .. })));
    assert!(waits.lock().unwrap().is_empty());
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_build_that_was_killed_asks_nothing_twice() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(|_, request| {
        let asked = request.body["messages"][1]["content"].as_str().unwrap();
        reply(&format!("reply to {asked}"), "stop")
    })
    .await;
    let questions: Vec<_> = (0..6)
        .map(|n| ChatRequest::new("s", vec![Message::system("x"), Message::user(format!("q{n}"))]))
        .collect();
    let build = |n_questions: usize| {
        let (questions, cache) = (questions[..n_questions].to_vec(), directory.path().to_owned());
        let limited = Limit::new(model(&server), NonZeroUsize::new(2).unwrap());
        let retried = Retry::new(limited, policy(), noted().0).unwrap();
        let meter = Arc::new(UsageMeter::new(retried, || Duration::ZERO));
        let model = Arc::new(DiskCache::open(meter.clone(), cache).unwrap());
        async move {
            let ask = |question| {
                let model = model.clone();
                tokio::spawn(async move { model.complete(question).await.unwrap().text })
            };
            let mut texts = Vec::new();
            for task in questions.into_iter().map(ask).collect::<Vec<_>>() {
                texts.push(task.await.unwrap());
            }
            (texts, meter.total())
        }
    };
    // The first build ends in the middle; nothing of it is left but the directory.
    let (_, first) = build(4).await;
    let (texts, second) = build(6).await;
    assert_eq!(texts, (0..6).map(|n| format!("reply to q{n}")).collect::<Vec<_>>());
    assert_eq!((first.calls, second.calls, server.received().len()), (4, 2, 6));
    assert_eq!(second.prompt_tokens, 22);
}

#[tokio::test]
async fn streams_pass_through_all_decorators() {
    let directory = tempfile::tempdir().unwrap();
    let busy = json_answer(503, &[], &json!({"error": "loading"}));
    let server = Server::scripted([busy, streamed(&["I", "ce"], "stop")]).await;
    let recorder = Recorder::new(model(&server), Vec::new());
    let limited = Limit::new(recorder, NonZeroUsize::MIN);
    let retried = Retry::new(limited, policy(), noted().0).unwrap();
    let model = DiskCache::open(UsageMeter::new(retried, || Duration::ZERO), directory.path()).unwrap();
    for expected in [&["I", "ce"][..], &["Ice"]] {
        let mut shown = Vec::new();
        let mut show = |text: &str| shown.push(text.to_owned());
        assert_eq!(model.complete_streaming(request(), &mut show).await.unwrap().text, "Ice");
        assert_eq!(shown, expected);
    }
}

#[tokio::test]
async fn a_recorded_conversation_needs_no_server() {
    let mut file = Vec::new();
    {
        let mut answers = trouble();
        answers.push(answer(200, "text/html", &[], "<p>no</p>"));
        let server = Server::scripted(answers).await;
        let recorder = Recorder::new(model(&server), &mut file);
        for _ in 0..5 {
            let _ = recorder.complete(request()).await;
        }
        recorder.finish().unwrap();
    }
    let replay = Replay::read(file.as_slice()).unwrap();
    let (sleep, waits) = noted();
    let retry = Retry::new(&replay, policy(), sleep).unwrap();
    assert_eq!(retry.complete(request()).await.unwrap().text, "Ice");
    assert_eq!(waits.lock().unwrap()[1], Duration::from_secs(7));
    assert!(matches!(retry.complete(request()).await, Err(ModelError::InvalidOutput { .. })));
    assert_eq!(replay.n_unused(), 0);
}
