//! GGUF models. Real ones come from the cache that `cargo xtask setup` fills; those above the smallest are only asked
//! for with `RUN_SLOW_TESTS=1`.

use std::path::{Path, PathBuf};

use fta_llm::{
    ChatRequest, FinishReason, LanguageModel, Message,
    candle::{GgufConfig, GgufModel},
};
use serde::Deserialize;

/// The file of a model in the cache, if it is there.
fn cached(name: &str) -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "fta-mem")?;
    let path = folders.cache_dir().join("models").join(name).join("model.gguf");
    path.exists().then_some(path)
}

fn is_slow_wanted() -> bool {
    std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1")
}

#[derive(Deserialize)]
struct Recorded {
    system: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    question: String,
    prompt: Vec<u32>,
    text: String,
}

fn recorded(name: &str) -> Recorded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/greedy-{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Greedy replies agree with llama.cpp's for `n` tokens of each case.
async fn check_greedy(name: &str, tokens: u32) {
    let Some(path) = cached(name) else {
        assert!(is_slow_wanted() || name != "smollm2-135m", "`{name}` is not in the cache; run the set-up");
        return;
    };
    let model = GgufModel::load(&GgufConfig::new(path)).unwrap();
    let Recorded { system, cases } = recorded(name);
    for case in cases {
        let messages = vec![Message::system(&system), Message::user(&case.question)];
        assert_eq!(model.tokenizer().prompt_tokens(&messages).unwrap(), case.prompt, "{name}: {}", case.question);
        let mut request = ChatRequest::new("test", messages);
        request.max_tokens = Some(tokens);
        let reply = model.complete(request).await.unwrap();
        let expect = case.text.split("\n\nUser:").next().unwrap();
        eprintln!("{name}: {:?} {:?}", reply.text, reply.usage);
        assert_eq!(reply.text, expect, "{name}: {}", case.question);
        assert_eq!(reply.usage.prompt_tokens, case.prompt.len() as u64);
        assert!(matches!(reply.finish, FinishReason::Stop | FinishReason::Length));
    }
}

#[tokio::test]
async fn greedy_replies_of_the_smallest_model_are_those_of_llama_cpp() {
    check_greedy("smollm2-135m", 32).await;
}

#[tokio::test]
async fn greedy_replies_of_other_models_are_those_of_llama_cpp() {
    for name in ["qwen2.5-coder-0.5b", "gemma3-270m", "qwen2.5-coder-1.5b"] {
        if is_slow_wanted() {
            check_greedy(name, 32).await;
        }
    }
}
