//! Whole replies, and how they are asked for.

use fta_llm::{FinishReason, Usage, http::ConfigError};

use super::{
    server::{json_answer, reply},
    *,
};

#[tokio::test]
async fn a_request_and_its_reply() {
    let server = Server::scripted([reply("Ice — ❄️ „氷“", "stop")]).await;
    let model = model(&server);
    let said = model.complete(request()).await.unwrap();
    let usage = Usage { prompt_tokens: 11, completion_tokens: 3 };
    assert_eq!(said, ChatReply { text: "Ice — ❄️ „氷“".to_owned(), finish: FinishReason::Stop, usage });
    assert_eq!(model.model_id(), "m");
    let received = server.received().remove(0);
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(received.headers["content-type"], "application/json");
    let expected = json!({"model": "m", "temperature": 0.0, "seed": 7, "max_tokens": 20, "stream": false, "messages": [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": "What is colder, ice or steam?"}]});
    assert_eq!(received.body, expected);
}

#[tokio::test]
async fn a_server_without_keys_gets_none() {
    let server = Server::scripted([reply("Ice", "stop")]).await;
    let model = OpenAiModel::new(HttpConfig { key: None, ..config(&server) }).unwrap();
    model.complete(request()).await.unwrap();
    assert!(!server.received()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn reasons_to_stop() {
    for (said, expected) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("tool_calls", FinishReason::Other),
    ] {
        assert_eq!(ask(reply("Ice", said)).await.unwrap().finish, expected);
    }
}

#[tokio::test]
async fn a_refusal_is_a_filtered_reply() {
    let message = json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let said = ask(json_answer(200, &[], &body)).await.unwrap();
    assert_eq!((said.text.as_str(), said.finish), ("I cannot help with that.", FinishReason::ContentFilter));
    assert_eq!(said.usage, Usage::default());
}

#[tokio::test]
async fn replies_of_other_servers() {
    let text = async |choice| ask(json_answer(200, &[], &json!({"choices": [choice], "usage": null}))).await;
    // In parts, with reasoning apart, and without any content.
    let parts =
        json!({"message": {"content": [{"type": "text", "text": "I"}, {"type": "text", "text": "ce"}]}});
    assert_eq!(text(parts).await.unwrap().text, "Ice");
    let reasoned =
        json!({"message": {"content": "Ice", "reasoning_content": "Hm."}, "finish_reason": "stop"});
    assert_eq!(text(reasoned).await.unwrap().text, "Ice");
    let silent = text(json!({"message": {"content": null}, "finish_reason": "length"})).await.unwrap();
    assert_eq!((silent.text.as_str(), silent.finish), ("", FinishReason::Length));
}

#[tokio::test]
async fn a_schema_goes_out_and_a_server_may_ignore_it() {
    let server = Server::scripted([reply("Ice, of course.", "stop")]).await;
    let model = model(&server);
    assert_eq!(model.schema_support(), SchemaSupport::Auto);
    assert_eq!(model.complete(request_with_schema()).await.unwrap().text, "Ice, of course.");
    let format = &server.received()[0].body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["name"], "Word");
    assert_eq!(format["json_schema"]["strict"], true);
    assert_eq!(format["json_schema"]["schema"], request_with_schema().schema.unwrap());
    assert_eq!(model.schema_support(), SchemaSupport::JsonSchema);
}

/// A server that knows some types of `response_format` only.
async fn server_with(formats: &'static [&'static str]) -> Server {
    Server::start(move |_, request| match request.body["response_format"]["type"].as_str() {
        Some(format) if !formats.contains(&format) => {
            let message = format!("'response_format' of type '{format}' is not supported by this server");
            json_answer(400, &[], &json!({"error": {"message": message, "type": "invalid_request_error"}}))
        }
        _ => reply("{\"word\":\"ice\"}", "stop"),
    })
    .await
}

#[tokio::test]
async fn servers_without_schemas_are_learnt() {
    for (formats, level, n_refusals) in [
        (&["json_schema"][..], SchemaSupport::JsonSchema, 0),
        (&["json_object"], SchemaSupport::JsonObject, 1),
        (&[], SchemaSupport::None, 2),
    ] {
        let server = server_with(formats).await;
        let model = model(&server);
        for _ in 0..2 {
            assert_eq!(model.complete(request_with_schema()).await.unwrap().text, "{\"word\":\"ice\"}");
        }
        assert_eq!(model.schema_support(), level);
        // It was refused once, and never again.
        let received = server.received();
        assert_eq!(received.len(), n_refusals + 2, "{formats:?}");
        let instructions =
            received.last().unwrap().body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert_eq!(
            instructions.contains("\"additionalProperties\":false"),
            level != SchemaSupport::JsonSchema
        );
    }
}

#[tokio::test]
async fn a_fixed_level_is_kept() {
    let server = server_with(&[]).await;
    let fixed = HttpConfig { schema: SchemaSupport::JsonObject, ..config(&server) };
    let outcome = OpenAiModel::new(fixed).unwrap().complete(request_with_schema()).await;
    assert!(matches!(outcome, Err(ModelError::Permanent { .. })), "{outcome:?}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn newer_names_are_learnt() {
    let server = Server::start(|_, request| {
        if request.body.get("max_tokens").is_none() {
            return reply("Ice", "stop");
        }
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        json_answer(400, &[], &json!({"error": {"message": message, "code": "unsupported_parameter"}}))
    })
    .await;
    let model = model(&server);
    for _ in 0..2 {
        model.complete(request()).await.unwrap();
    }
    let received = server.received();
    assert_eq!(received.len(), 3);
    assert_eq!(received[2].body["max_completion_tokens"], 20);
}

#[tokio::test]
async fn a_proxy_is_asked_if_there_is_one() {
    let proxy = Server::scripted([reply("Ice", "stop")]).await;
    let address = proxy.base_url.trim_end_matches("/v1").to_owned();
    let through = HttpConfig { proxy: Some(address), ..HttpConfig::new("http://host.invalid/v1", "m") };
    OpenAiModel::new(through).unwrap().complete(request()).await.unwrap();
    assert_eq!(proxy.received()[0].path, "http://host.invalid/v1/chat/completions");
    let none =
        HttpConfig { proxy: Some("http://".to_owned()), ..HttpConfig::new("http://host.invalid/v1", "m") };
    assert_eq!(OpenAiModel::new(none).unwrap_err(), ConfigError::Proxy);
}

#[tokio::test]
async fn models_are_listed() {
    let list = json!({"object": "list", "data": [{"id": "b", "object": "model"}, {"id": "a"}]});
    let server = Server::scripted([
        json_answer(200, &[], &list),
        json_answer(200, &[], &json!({"choices": []})),
        json_answer(401, &[], &json!({"error": {"message": "Invalid key."}})),
    ])
    .await;
    let model = model(&server);
    assert_eq!(model.models().await.unwrap(), ["b", "a"]);
    assert!(matches!(model.models().await, Err(ModelError::InvalidOutput { .. })));
    assert!(matches!(model.models().await, Err(ModelError::Permanent { .. })));
    let received = server.received().remove(0);
    assert_eq!(received.path, "/v1/models");
    assert_eq!(received.headers["authorization"], format!("Bearer {KEY}"));
}
