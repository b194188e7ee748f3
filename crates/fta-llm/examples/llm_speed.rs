//! Tokens per second of processor time: prompts, replies, and prompts that begin alike.
//!
//! usage: llm_speed --model FILE [--products automatic|candle] [--threads N] [--prompt N] [--reply N] [--rounds N]
//!
//! Prints one line of JSON a round. `benches/peers/llama_speed.py` runs it in turns with llama.cpp.

use std::time::Instant;

use fta_llm::{
    ChatRequest, LanguageModel, Message,
    candle::{GgufConfig, GgufModel, Products},
};

/// Sentences of everyday talk, made up of parts, so that prompts of any length do not repeat themselves.
fn talk(seed: usize, sentences: usize) -> String {
    let who = ["Anna", "Her brother", "The neighbour", "My teacher", "Our doctor", "The baker", "A friend"];
    let what = ["found", "painted", "sold", "repaired", "forgot", "bought", "described", "wanted"];
    let which = [
        "an old",
        "a heavy",
        "the blue",
        "another",
        "their favourite",
        "a broken",
        "the last",
        "a strange",
        "some",
    ];
    let thing = [
        "bicycle",
        "letter",
        "lamp",
        "garden chair",
        "guitar",
        "photo album",
        "map",
        "clock",
        "winter coat",
        "boat",
        "recipe",
    ];
    let sentence = |i: usize| {
        let n = seed * 7919 + i * i * 31 + i * 17;
        let (who, what) = (who[n % 7], what[n / 7 % 8]);
        let (which, thing) = (which[n / 3 % 9], thing[n / 5 % 11]);
        format!("{who} {what} {which} {thing} on day {}.", n % 365)
    };
    (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
}

/// Seconds of processor time of this process so far.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let own = stat.and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0);
    let tasks = std::fs::read_dir("/proc/self/task").map(|tasks| {
        let read = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            stat.split(' ').next()?.parse::<f64>().ok()
        };
        tasks.filter_map(Result::ok).filter_map(read).sum::<f64>()
    });
    tasks.unwrap_or(own) / 1e9
}

struct Options {
    config: GgufConfig,
    prompt: usize,
    reply: u32,
    rounds: usize,
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options { config: GgufConfig::new(""), prompt: 512, reply: 64, rounds: 3 };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("`{name}` needs a value"))?;
        let number = || value.parse::<usize>().map_err(|error| format!("`{name}`: {error}"));
        match name.as_str() {
            "--model" => options.config.path = value.into(),
            "--products" if value == "automatic" => options.config.products = Products::Automatic,
            "--products" if value == "candle" => options.config.products = Products::Candle,
            "--threads" => options.config.threads = number()?,
            "--prompt" => options.prompt = number()?,
            "--reply" => options.reply = number()? as u32,
            "--rounds" => options.rounds = number()?,
            _ => return Err(format!("`{name} {value}` is not understood")),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "a program")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Options { config, prompt, reply, rounds } = options()?;
    let began = cpu_seconds();
    let model = GgufModel::load(&config)?;
    let loaded = cpu_seconds() - began;
    for round in 0..rounds {
        let per_sentence = model.tokenizer().tokens(&talk(round, 40))?.len() as f64 / 40.0;
        let text = talk(round, (prompt as f64 / per_sentence) as usize);
        let ask = |question: &str, tokens: u32| {
            let mut request =
                ChatRequest::new("speed", vec![Message::system(&text), Message::user(question)]);
            request.max_tokens = Some(tokens);
            // A list that never ends, so that replies are as long as wanted.
            if tokens > 1 {
                let items = serde_json::json!({ "type": "string", "minLength": 20, "maxLength": 40 });
                request.schema =
                    Some(serde_json::json!({ "type": "array", "minItems": 1000, "items": items }));
            }
            request
        };
        let timed = async |request: ChatRequest| {
            let (cpu, wall) = (cpu_seconds(), Instant::now());
            let reply = model.complete(request).await;
            reply.map(|reply| (reply.usage, cpu_seconds() - cpu, wall.elapsed().as_secs_f64()))
        };
        let (usage, prefill, wall) = timed(ask("What did Anna do?", 1)).await?;
        let before = model.prefix_usage();
        let (_, again, _) = timed(ask("What was repaired, and when?", 1)).await?;
        let reused = model.prefix_usage().reused_tokens - before.reused_tokens;
        let mut request = ask("What was repaired, and when?", reply);
        request.schema = None;
        // The first token is there already, so this is the time of the others.
        let (free, decode, _) = timed(request).await?;
        timed(ask("Name all things.", 2)).await?;
        let (held, constrained, _) = timed(ask("Name all things.", reply)).await?;
        let rate = |tokens: u64, seconds: f64| (tokens as f64 / seconds * 10.0).round() / 10.0;
        println!(
            "{}",
            serde_json::json!({
                "model": model.model_id(), "load_seconds": loaded, "prompt_tokens": usage.prompt_tokens,
                "prefill": rate(usage.prompt_tokens, prefill), "prefill_wall": rate(usage.prompt_tokens, wall),
                "prefill_again": rate(usage.prompt_tokens, again), "reused_tokens": reused,
                "decode": rate(free.completion_tokens, decode), "decode_tokens": free.completion_tokens,
                "decode_constrained": rate(held.completion_tokens, constrained),
            })
        );
    }
    Ok(())
}
