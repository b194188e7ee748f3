//! Networks against candle's own, against llama.cpp, and against themselves.

#[path = "../../../tests/it/tiny.rs"]
#[expect(dead_code, reason = "shared with the tests from outside, which use all of it")]
mod tiny;

use std::path::{Path, PathBuf};

use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, gguf_file},
};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};
use serde::Deserialize;

use super::{
    cache::Sequence,
    gguf::Gguf,
    matrix::Engine,
    network::Network,
    tile_kernels::Kernel,
    tokenizer::{Piece, Tokenizer},
};
use tiny::Tiny;

const FAMILIES: [&str; 4] = ["llama", "qwen2", "qwen3", "gemma3"];

/// Below this lead of llama.cpp's token over its next best, other roundings may choose otherwise. Against exact
/// products its logits are off by about 0.2 (root of the mean square, SmolLM2), ours by as much or less.
const STEADY: f32 = 0.5;

#[derive(Deserialize)]
struct Recorded {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    question: String,
    prompt: Vec<u32>,
    tokens: Vec<u32>,
    margins: Vec<f32>,
}

fn cached(name: &str) -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "fta-mem")?;
    let path = folders.cache_dir().join("models").join(name).join("model.gguf");
    path.exists().then_some(path)
}

fn engine(kernel: Option<Kernel>, is_widened: bool, threads: usize) -> Engine {
    Engine { kernel, is_widened, pool: super::pool(threads).unwrap() }
}

fn network(path: &Path, engine: Engine) -> Network {
    let mut gguf = Gguf::open(path).unwrap();
    let tokens = Tokenizer::read(&gguf).unwrap().vocabulary.len();
    Network::read(&mut gguf, tokens, engine).unwrap()
}

fn logits(network: &mut Network) -> Vec<f32> {
    let mut logits = Vec::new();
    network.logits(&mut logits).unwrap();
    logits
}

/// Logits after the prompt and after each of the tokens but the last.
fn forced(network: &mut Network, prompt: &[u32], tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut sequence = Sequence::new(network.cache_shape());
    network.append(&mut sequence, prompt).unwrap();
    let mut all = Vec::new();
    for &token in tokens {
        all.push(logits(network));
        network.append(&mut sequence, &[token]).unwrap();
    }
    all
}

fn best(logits: &[f32]) -> u32 {
    (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap() as u32
}

/// Root of the mean square of the differences.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    (a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() / a.len() as f32).sqrt()
}

fn tiny_file(family: &str, dtype: GgmlDType) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    Tiny::new(family, dtype).write(&path);
    (folder, path)
}

fn tokens(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * i * 7 + i * 13 + 5) % 256).collect()
}

/// What candle's own network says, token by token in two calls.
fn candle_logits(family: &str, path: &Path, first: &[u32], second: &[u32]) -> Vec<f32> {
    let mut file = std::fs::File::open(path).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let rows = |tokens: &[u32]| Tensor::new(tokens, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let (a, b) = (rows(first), rows(second));
    let outcome = match family {
        "llama" => {
            let mut model =
                quantized_llama::ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
            model.forward(&a, 0).and_then(|_| model.forward(&b, first.len()))
        }
        "qwen2" => {
            let mut model =
                quantized_qwen2::ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
            model.forward(&a, 0).and_then(|_| model.forward(&b, first.len()))
        }
        _ => {
            let mut model =
                quantized_qwen3::ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
            model.forward(&a, 0).and_then(|_| model.forward(&b, first.len()))
        }
    };
    outcome.unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn networks_agree_with_those_of_candle() {
    // candle's Gemma 3 has another gate than Gemma (SiLU for GELU), so that one is held to llama.cpp only.
    for family in ["llama", "qwen2", "qwen3"] {
        let (_folder, path) = tiny_file(family, GgmlDType::F32);
        let mut network = network(&path, engine(None, false, 1));
        let tokens = tokens(90);
        let mut sequence = Sequence::new(network.cache_shape());
        network.append(&mut sequence, &tokens[..89]).unwrap();
        network.append(&mut sequence, &tokens[89..]).unwrap();
        let (ours, expect) =
            (logits(&mut network), candle_logits(family, &path, &tokens[..89], &tokens[89..]));
        let size = distance(&expect, &vec![0.0; expect.len()]);
        assert!(
            size > 0.1 && distance(&ours, &expect) < 1e-4 * size,
            "{family}: {} of {size}",
            distance(&ours, &expect)
        );
    }
}

#[test]
fn all_products_tell_the_same() {
    for family in FAMILIES {
        for dtype in [
            GgmlDType::Q8_0,
            GgmlDType::Q4_1,
            GgmlDType::Q5_0,
            GgmlDType::Q5_1,
            GgmlDType::Q4_0,
            GgmlDType::F16,
        ] {
            let (_folder, path) = tiny_file(family, dtype);
            let run = |engine| forced(&mut network(&path, engine), &tokens(40), &tokens(3));
            let exact = run(engine(None, true, 1));
            for (kernel, threads) in [(Kernel::detect(), 1), (Kernel::detect(), 3), (None, 1)] {
                for (ours, exact) in run(engine(kernel, false, threads)).iter().zip(&exact) {
                    let size = distance(exact, &vec![0.0; exact.len()]);
                    let off = distance(ours, exact) / size;
                    assert!(off < 0.05, "{family} {dtype:?} {}: {off}", kernel.is_some());
                }
            }
        }
    }
}

#[test]
fn the_way_a_prompt_is_cut_changes_nothing() {
    for family in FAMILIES {
        let (_folder, path) = tiny_file(family, GgmlDType::Q8_0);
        let mut network = network(&path, engine(Kernel::detect(), false, 1));
        let tokens = tokens(150);
        let mut run = |parts: &[usize]| {
            let mut sequence = Sequence::new(network.cache_shape());
            let mut from = 0;
            for &to in parts {
                network.append(&mut sequence, &tokens[from..to]).unwrap();
                from = to;
            }
            // Going on from a prefix of a longer sequence is the same too.
            let mut longer = sequence.clone();
            network.append(&mut longer, &[9, 9, 9]).unwrap();
            let mut again = longer.prefix(149);
            network.append(&mut again, &tokens[149..]).unwrap();
            let resumed = logits(&mut network);
            let mut fresh = sequence.prefix(149);
            network.append(&mut fresh, &tokens[149..]).unwrap();
            assert_eq!(logits(&mut network), resumed);
            resumed
        };
        let whole = run(&[150]);
        assert_eq!(run(&[1, 2, 66, 150]), whole, "{family}");
        assert_eq!(run(&[64, 128, 150]), whole, "{family}");
    }
}

#[test]
fn windowed_layers_forget_what_is_far() {
    // All layers of the tiny Gemma are windowed, with eight tokens each: fourteen back is the furthest that is felt.
    let (_folder, path) = tiny_file("gemma3", GgmlDType::F32);
    let mut network = network(&path, engine(None, false, 1));
    let mut run = |changed: usize| {
        let mut tokens = tokens(40);
        tokens[changed] += 1;
        let mut sequence = Sequence::new(network.cache_shape());
        network.append(&mut sequence, &tokens).unwrap();
        logits(&mut network)
    };
    let far = run(0);
    assert_eq!(run(24), far, "fifteen back");
    assert_ne!(run(25), far, "fourteen back");
}

fn check_against_llama_cpp(name: &str) {
    let is_wanted =
        name == "smollm2-135m" || std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1");
    let Some(path) = cached(name).filter(|_| is_wanted) else {
        assert!(!is_wanted, "`{name}` is not in the cache; run the set-up");
        return;
    };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/greedy-{name}.json"));
    let recorded: Recorded = serde_json::from_str(&std::fs::read_to_string(fixture).unwrap()).unwrap();
    let mut network = network(&path, engine(Kernel::detect(), false, 1));
    for case in &recorded.cases {
        let mut steady = 0;
        for (i, logits) in forced(&mut network, &case.prompt, &case.tokens).iter().enumerate() {
            if case.margins[i] >= STEADY {
                steady += 1;
                assert_eq!(best(logits), case.tokens[i], "{name}: token {i} of {:?}", case.question);
            }
        }
        assert!(steady * 2 > case.tokens.len(), "{name}: {:?} tells little", case.question);
    }
}

#[test]
fn tokens_follow_llama_cpp_with_the_smallest_model() {
    check_against_llama_cpp("smollm2-135m");
}

#[test]
fn tokens_follow_llama_cpp_with_other_models() {
    for name in ["qwen2.5-coder-0.5b", "gemma3-270m", "qwen2.5-coder-1.5b"] {
        check_against_llama_cpp(name);
    }
}

#[test]
fn control_tokens_are_only_those_of_the_template() {
    let (_folder, path) = tiny_file("qwen2", GgmlDType::F32);
    let tokenizer = Tokenizer::read(&Gguf::open(&path).unwrap()).unwrap();
    let template = |text: &str| tokenizer.encode(&[Piece::Template(text.to_owned())]).unwrap();
    let content = |text: &str| tokenizer.encode(&[Piece::Content(text.to_owned())]).unwrap();
    assert_eq!(template("<|im_start|>the<tool>"), [261, 257, 263]);
    let spelled = content("<|im_start|>the<tool><|endoftext|>");
    assert!(spelled.iter().all(|&id| id < 260), "{spelled:?}");
    let back: Vec<u8> =
        spelled.iter().flat_map(|&id| tokenizer.vocabulary.bytes[id as usize].clone()).collect();
    assert_eq!(back, b"<|im_start|>the<tool><|endoftext|>", "nothing is lost");
    // Text of the template and of a message grow together where they meet, as in one text.
    let pieces = [Piece::Template("<|im_start|>t".to_owned()), Piece::Content("he end".to_owned())];
    assert_eq!(tokenizer.encode(&pieces).unwrap()[..2], [261, 257]);
}
