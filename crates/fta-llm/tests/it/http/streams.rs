//! Replies that come piece by piece.

use fta_llm::{FinishReason, Usage};
use serde_json::Value;

use super::{
    server::{Act, event, json_answer, piece, reply, stream_end, stream_head, streamed},
    *,
};

#[tokio::test]
async fn pieces_are_shown_as_they_come() {
    let server = Server::scripted([streamed(&["I", "c", "e ❄️"], "stop")]).await;
    let mut shown = Vec::new();
    let mut show = |text: &str| shown.push(text.to_owned());
    let said = model(&server).complete_streaming(request(), &mut show).await.unwrap();
    assert_eq!(shown, ["I", "c", "e ❄️"]);
    let usage = Usage { prompt_tokens: 11, completion_tokens: 3 };
    assert_eq!(said, ChatReply { text: "Ice ❄️".to_owned(), finish: FinishReason::Stop, usage });
    let body = &server.received()[0].body;
    assert_eq!((&body["stream"], &body["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_setting_makes_every_call_a_stream() {
    let server = Server::scripted([streamed(&["Ice"], "length")]).await;
    let model = OpenAiModel::new(HttpConfig { stream: true, ..config(&server) }).unwrap();
    let said = model.complete(request()).await.unwrap();
    assert_eq!((said.text.as_str(), said.finish), ("Ice", FinishReason::Length));
    assert_eq!(server.received()[0].body["stream"], true);
}

#[tokio::test]
async fn pieces_may_end_anywhere() {
    let events =
        [event(&json!({"content": "„氷“"}), None), event(&json!({"content": "!"}), Some("stop"))].concat();
    let text = format!(": keep-alive\r\n\r\n{}data: [DONE]\n\n", events.replace('\n', "\r\n"));
    let mut answer = vec![stream_head()];
    answer.extend(text.as_bytes().chunks(3).map(piece));
    answer.push(stream_end());
    let (said, shown) = ask_streaming(answer).await;
    assert_eq!((said.unwrap().text.as_str(), shown.len()), ("„氷“!", 2));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_not_a_reply() {
    let part = || vec![stream_head(), piece(event(&json!({"content": "Ic"}), None).as_bytes())];
    // The connection breaks; it ends as if all were well; it ends within an event.
    let mut ended = part();
    ended.push(stream_end());
    let mut torn = part();
    torn.push(piece(b"data: {\"choices\":[{\"del"));
    for answer in [part(), ended, torn] {
        let (outcome, shown) = ask_streaming(answer).await;
        assert_transient(&outcome);
        assert_eq!(shown, ["Ic"]);
    }
}

#[tokio::test]
async fn a_stream_without_its_end_mark_is_whole_if_it_says_why_it_stopped() {
    for is_cut in [false, true] {
        let mut answer =
            vec![stream_head(), piece(event(&json!({"content": "Ice"}), Some("stop")).as_bytes())];
        answer.extend((!is_cut).then(stream_end));
        let said = ask_streaming(answer).await.0.unwrap();
        assert_eq!((said.text.as_str(), said.usage), ("Ice", Usage::default()));
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let (said, shown) = ask_streaming(reply("Ice", "stop")).await;
    assert_eq!((said.unwrap().text.as_str(), shown), ("Ice", vec!["Ice".to_owned()]));
}

#[tokio::test]
async fn a_refusal_in_a_stream() {
    let mut answer = vec![stream_head()];
    for part in ["I can", "not."] {
        answer.push(piece(event(&json!({"refusal": part}), None).as_bytes()));
    }
    answer.push(piece(format!("{}data: [DONE]\n\n", event(&json!({}), Some("stop"))).as_bytes()));
    answer.push(stream_end());
    let (said, shown) = ask_streaming(answer).await;
    let said = said.unwrap();
    assert_eq!((said.text.as_str(), said.finish), ("I cannot.", FinishReason::ContentFilter));
    assert!(shown.is_empty());
}

/// A stream of one piece of a reply and then something else.
fn interrupted(data: &str) -> Answer {
    let text = format!("{}data: {data}\n\n", event(&json!({"content": "Ic"}), None));
    vec![stream_head(), piece(text.as_bytes()), stream_end()]
}

#[tokio::test]
async fn errors_within_a_stream_are_typed() {
    let error = |value: Value| interrupted(&json!({"error": value}).to_string());
    assert_transient(&ask_streaming(error(json!({"message": "out of memory", "code": 500}))).await.0);
    let limited = ask_streaming(error(json!({"message": "slow down", "code": 429}))).await.0;
    assert_eq!(limited, Err(ModelError::RateLimited { retry_after: None }));
    let broken = ask_streaming(interrupted("{\"choices\": [")).await.0;
    let Err(ModelError::InvalidOutput { reply, .. }) = broken else { panic!("{broken:?}") };
    assert_eq!(reply, "{\"choices\": [");
}

#[tokio::test]
async fn a_late_error_does_not_begin_the_reply_anew() {
    // The words are those of a server without schemas, but a part of the reply was shown already.
    let late = interrupted(&json!({"error": {"message": "response_format failed", "code": 400}}).to_string());
    let server = Server::scripted([late, streamed(&["Ice"], "stop")]).await;
    let mut shown = Vec::new();
    let mut show = |text: &str| shown.push(text.to_owned());
    let outcome = model(&server).complete_streaming(request_with_schema(), &mut show).await;
    assert!(matches!(outcome, Err(ModelError::Permanent { .. })), "{outcome:?}");
    assert_eq!((shown.len(), server.received().len()), (1, 1));
}

#[tokio::test]
async fn a_server_without_stream_options_is_learnt() {
    let server = Server::start(|_, request| {
        if request.body.get("stream_options").is_some() {
            return json_answer(
                422,
                &[],
                &json!({"detail": [{"msg": "stream_options: extra fields not permitted"}]}),
            );
        }
        streamed(&["Ice"], "stop")
    })
    .await;
    let model = model(&server);
    for _ in 0..2 {
        assert_eq!(model.complete_streaming(request(), &mut |_: &str| {}).await.unwrap().text, "Ice");
    }
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up() {
    let stalled = vec![stream_head(), piece(event(&json!({"content": "Ic"}), None).as_bytes()), Act::Hang];
    let server = Server::scripted([stalled]).await;
    let hasty = HttpConfig { read_timeout: Duration::from_millis(300), ..config(&server) };
    let outcome = OpenAiModel::new(hasty).unwrap().complete_streaming(request(), &mut |_: &str| {}).await;
    assert_transient(&outcome);
}
