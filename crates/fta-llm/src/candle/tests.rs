//! Networks and kernels against each other and against llama.cpp, with real weights where they are.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{
    cache::Sequence,
    gguf::Gguf,
    matrix::Engine,
    network::Network,
    tile_kernels::Kernel,
    tokenizer::Tokenizer,
};

#[derive(Deserialize)]
struct Recorded {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    prompt: Vec<u32>,
    tokens: Vec<u32>,
    margins: Vec<f32>,
}

fn cached(name: &str) -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "fta-mem")?;
    let path = folders.cache_dir().join("models").join(name).join("model.gguf");
    path.exists().then_some(path)
}

fn network(path: &Path, kernel: Option<Kernel>, is_widened: bool) -> Network {
    let mut gguf = Gguf::open(path).unwrap();
    let tokens = Tokenizer::read(&gguf).unwrap().vocabulary.len();
    Network::read(&mut gguf, tokens, Engine { kernel, is_widened, pool: None }).unwrap()
}

/// Logits after the prompt and after each of the tokens but the last.
fn forced(network: &mut Network, prompt: &[u32], tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut sequence = Sequence::new(network.cache_shape());
    network.append(&mut sequence, prompt).unwrap();
    let mut all = Vec::new();
    for &token in tokens {
        let mut logits = Vec::new();
        network.logits(&mut logits).unwrap();
        all.push(logits);
        network.append(&mut sequence, &[token]).unwrap();
    }
    all
}

fn best(logits: &[f32]) -> u32 {
    (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap() as u32
}

#[test]
fn probe() {
    let Ok(names) = std::env::var("PROBE") else { return };
    for name in names.split(',') {
        let path = cached(name).unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/greedy-{name}.json"));
        let recorded: Recorded = serde_json::from_str(&std::fs::read_to_string(fixture).unwrap()).unwrap();
        let mut exact = network(&path, None, true);
        let reference: Vec<_> = recorded.cases.iter().map(|case| forced(&mut exact, &case.prompt, &case.tokens)).collect();
        drop(exact);
        for kernel in [Kernel::detect(), None] {
            let mut network = network(&path, kernel, false);
            for (case, reference) in recorded.cases.iter().zip(&reference) {
                let ours = forced(&mut network, &case.prompt, &case.tokens);
                let mut line = String::new();
                for (((ours, reference), token), margin) in ours.iter().zip(reference).zip(&case.tokens).zip(&case.margins) {
                    let n = ours.len() as f32;
                    let rms = (ours.iter().zip(reference).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() / n).sqrt();
                    line += &format!("{}{}{}:{rms:.2}/{margin:.2} ", if best(ours) == *token { "" } else { "!" }, if best(reference) == *token { "" } else { "L" }, if best(reference) == best(ours) { "" } else { "*" });
                }
                println!("{name} {:?} {line}", kernel.is_some());
            }
        }
    }
}
