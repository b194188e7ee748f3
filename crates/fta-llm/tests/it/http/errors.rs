//! Answers that are no replies.

use super::{
    server::{Act, answer, cut_reply, json_answer, reply},
    *,
};

async fn refused(status: u16, headers: &[(&str, &str)], message: &str) -> ModelError {
    ask(json_answer(status, headers, &json!({"error": {"message": message}}))).await.unwrap_err()
}

#[tokio::test]
async fn statuses_become_errors_by_remedy() {
    for status in [400, 401, 403, 404, 418, 422, 501] {
        let error = refused(status, &[], "No.").await;
        let message = format!("server answered `{status}`: No");
        assert_eq!(error, ModelError::Permanent { message });
    }
    for status in [408, 500, 502, 503, 504, 529] {
        let error = refused(status, &[], "No.").await;
        assert!(matches!(error, ModelError::Transient { .. }), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn limits_say_how_long_to_wait() {
    let wait = |seconds| ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
    assert_eq!(refused(429, &[("Retry-After", "20")], "slow").await, wait(20));
    assert_eq!(refused(503, &[("Retry-After", "4")], "busy").await, wait(4));
    let dates = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT")];
    assert_eq!(refused(429, &dates, "slow").await, wait(60));
    let resets = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")];
    assert_eq!(refused(429, &resets, "slow").await, wait(360));
    assert_eq!(refused(429, &[], "slow").await, ModelError::RateLimited { retry_after: None });
    let quota = json!({"error": {"message": "Check your plan.", "type": "insufficient_quota"}});
    let error = ask(json_answer(429, &[("retry-after", "1")], &quota)).await.unwrap_err();
    assert!(matches!(error, ModelError::Permanent { .. }), "{error:?}");
}

#[tokio::test]
async fn prompts_that_are_too_long_are_told_apart() {
    let message = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.";
    let error = refused(400, &[], message).await;
    assert_eq!(error, ModelError::ContextTooLong { limit: Some(4096), requested: Some(5000) });
}

#[tokio::test]
async fn answers_that_are_not_replies() {
    let page = "<html><title>Sign in</title></html>";
    for (body, kind) in [
        (page, "text/html"),
        ("{\"choices\": [{\"message\"", "application/json"),
        ("", "application/json"),
        ("[1, 2]", "application/json"),
        ("{\"choices\": []}", "application/json"),
        ("{}", "application/json"),
        ("{\"choices\": \"none\"}", "application/json"),
    ] {
        let outcome = ask(answer(200, kind, &[], body)).await;
        let Err(ModelError::InvalidOutput { reply, .. }) = &outcome else { panic!("{body}: {outcome:?}") };
        assert_eq!(reply, body);
    }
}

#[tokio::test]
async fn pages_of_gateways_are_not_quoted() {
    let error = ask(answer(502, "text/html", &[], "<html>Bad gateway</html>")).await.unwrap_err();
    let message = "server answered `502` without a message that can be read".to_owned();
    assert_eq!(error, ModelError::Transient { message });
}

#[tokio::test]
async fn errors_under_a_status_of_success() {
    let body = json!({"error": {"code": 503, "message": "no instance"}});
    assert_transient(&ask(json_answer(200, &[], &body)).await);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::scripted([reply("Ice", "stop")]).await;
    let target = format!("{}/chat/completions", elsewhere.base_url);
    let outcome = ask(json_answer(307, &[("location", &target)], &json!({}))).await;
    assert!(matches!(outcome, Err(ModelError::Permanent { .. })), "{outcome:?}");
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn connections_that_break() {
    assert_transient(&ask(cut_reply("Ice")).await);
    // Without a single byte, and in the middle of the head.
    assert_transient(&ask(Vec::new()).await);
    assert_transient(&ask(vec![Act::Send(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec())]).await);
    assert_transient(&ask(vec![Act::Send(b"SSH-2.0-server\r\n".to_vec())]).await);
    // An error whose body breaks off is still that error.
    let head = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 100\r\n\r\n{".to_vec();
    let outcome = ask(vec![Act::Send(head)]).await;
    assert!(matches!(outcome, Err(ModelError::Permanent { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let base_url = Server::scripted([]).await.base_url.clone();
    // The port is free again once the server's task has ended; until then connections are closed unanswered.
    let outcome = OpenAiModel::new(HttpConfig::new(base_url, "m")).unwrap().complete(request()).await;
    assert_transient(&outcome);
    let outcome =
        OpenAiModel::new(HttpConfig::new("http://host.invalid/v1", "m")).unwrap().complete(request()).await;
    assert_transient(&outcome);
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls() {
    let server = Server::scripted([]).await;
    let base_url = server.base_url.replace("http:", "https:");
    let outcome =
        OpenAiModel::new(HttpConfig { base_url, ..config(&server) }).unwrap().complete(request()).await;
    assert_transient(&outcome);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let head = Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choi".to_vec());
    for acts in [vec![Act::Hang], vec![head, Act::Hang]] {
        let server = Server::scripted([acts]).await;
        let hasty = HttpConfig { read_timeout: Duration::from_millis(300), ..config(&server) };
        assert_transient(&OpenAiModel::new(hasty).unwrap().complete(request()).await);
    }
}

/// A reply in `n` pieces with a pause before each.
fn dripping(n: usize, pause: Duration) -> Answer {
    let Act::Send(bytes) = reply("Ice", "stop").remove(0) else { unreachable!("a reply is sent at once") };
    let pieces = bytes.chunks(bytes.len().div_ceil(n));
    pieces.flat_map(|piece| [Act::Pause(pause), Act::Send(piece.to_vec())]).collect()
}

#[tokio::test]
async fn a_slow_server_that_goes_on_is_waited_for() {
    // In all it takes longer than the limit between two bytes.
    let server = Server::scripted([dripping(10, Duration::from_millis(250))]).await;
    let patient = HttpConfig { read_timeout: Duration::from_secs(2), ..config(&server) };
    assert_eq!(OpenAiModel::new(patient).unwrap().complete(request()).await.unwrap().text, "Ice");
}

#[tokio::test]
async fn a_server_that_goes_on_too_long_is_given_up() {
    let server = Server::scripted([dripping(100, Duration::from_millis(50))]).await;
    let hasty = HttpConfig { total_timeout: Duration::from_millis(500), ..config(&server) };
    assert_transient(&OpenAiModel::new(hasty).unwrap().complete(request()).await);
}
