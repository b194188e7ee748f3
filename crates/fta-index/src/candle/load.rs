//! From a folder of files to an [`Encoder`].

use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::kernels::{Heads, Linear, Norm, Unit};
use super::model::{Encoder, Layer};
use super::precision::Precision;

/// Why a sentence encoder cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error(
        "`{path}` cannot be read; the folder must hold config.json, tokenizer.json and model.safetensors"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is damaged, or of another model than the others.
    #[error("`{path}` is damaged or of another model: {reason}; fetch the files of the model again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The model is of a kind that this encoder cannot run.
    #[error(
        "`{path}` describes a model that is not supported: {reason}; use a BERT encoder with mean pooling"
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not supported.
        reason: String,
    },
}

/// What is needed of `config.json`.
#[derive(Debug, Deserialize)]
struct Config {
    model_type: Option<String>,
    hidden_act: String,
    position_embedding_type: Option<String>,
    hidden_size: usize,
    intermediate_size: usize,
    layer_norm_eps: f32,
    max_position_embeddings: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    type_vocab_size: usize,
    vocab_size: usize,
}

/// What is needed of `1_Pooling/config.json`.
#[derive(Debug, Deserialize)]
struct Pooling {
    pooling_mode_mean_tokens: bool,
}

/// Reads the encoder of a folder.
pub(super) fn encoder(directory: &Path, precision: Precision) -> Result<Encoder, LoadError> {
    let config = config(directory)?;
    check_pooling(directory)?;
    let path = directory.join("model.safetensors");
    let bytes = read(&path)?;
    let damaged =
        |error: candle_core::Error| LoadError::Damaged { path: path.clone(), reason: first_line(&error) };
    let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).map_err(damaged)?;
    build(&config, &weights, precision).map_err(damaged)
}

/// Reads the tokenizer of a folder, set to cut texts at `window` tokens and to pad nothing.
pub(super) fn tokenizer(directory: &Path, window: usize) -> Result<Tokenizer, LoadError> {
    let path = directory.join("tokenizer.json");
    let bytes = read(&path)?;
    let damaged =
        |error: tokenizers::Error| LoadError::Damaged { path: path.clone(), reason: error.to_string() };
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(damaged)?;
    // Files of this kind often come with padding and a shorter window built in.
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: window, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(damaged)?;
    Ok(tokenizer)
}

fn config(directory: &Path) -> Result<Config, LoadError> {
    let path = directory.join("config.json");
    let config: Config = parse(&path)?;
    let unsupported = |reason: String| Err(LoadError::Unsupported { path: path.clone(), reason });
    if let Some(kind) = config.model_type.as_deref().filter(|kind| *kind != "bert") {
        return unsupported(format!("model type `{kind}`"));
    }
    if config.hidden_act != "gelu" {
        return unsupported(format!("activation `{}`", config.hidden_act));
    }
    if let Some(kind) = config.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
        return unsupported(format!("position embedding `{kind}`"));
    }
    let Config { hidden_size: width, num_attention_heads: heads, .. } = config;
    let sizes = [width, heads, config.intermediate_size, config.num_hidden_layers, config.type_vocab_size];
    if sizes.contains(&0) || !width.is_multiple_of(heads) {
        let reason = format!("`{width}` values in `{heads}` heads, or a size of 0");
        return Err(LoadError::Damaged { path, reason });
    }
    if config.max_position_embeddings < super::SHORTEST_WINDOW || !config.layer_norm_eps.is_sign_positive() {
        let reason = "too few positions, or a negative epsilon".to_owned();
        return Err(LoadError::Damaged { path, reason });
    }
    Ok(config)
}

/// The file is optional, but a model that says that it pools otherwise would give wrong vectors here.
fn check_pooling(directory: &Path) -> Result<(), LoadError> {
    let path = directory.join("1_Pooling").join("config.json");
    if path.exists() && !parse::<Pooling>(&path)?.pooling_mode_mean_tokens {
        return Err(LoadError::Unsupported { path, reason: "pooling other than the mean".to_owned() });
    }
    Ok(())
}

fn build(config: &Config, weights: &VarBuilder<'_>, precision: Precision) -> candle_core::Result<Encoder> {
    // Models saved with a head on top have their encoder under a name of its own.
    let weights = if weights.contains_tensor("bert.embeddings.word_embeddings.weight") {
        weights.pp("bert")
    } else {
        weights.clone()
    };
    let (width, inner) = (config.hidden_size, config.intermediate_size);
    let norm = |weights: VarBuilder<'_>| -> candle_core::Result<Norm> {
        Ok(Norm {
            scale: values(&weights.get(width, "weight")?)?,
            shift: values(&weights.get(width, "bias")?)?,
            epsilon: config.layer_norm_eps,
        })
    };
    let embeddings = weights.pp("embeddings");
    let table = |name: &str, rows: usize| embeddings.pp(name).get((rows, width), "weight");
    let types = table("token_type_embeddings", config.type_vocab_size)?;
    let positions = table("position_embeddings", config.max_position_embeddings)?;
    let mut layers = Vec::new();
    for i in 0..config.num_hidden_layers {
        let layer = weights.pp(format!("encoder.layer.{i}"));
        let attention = layer.pp("attention");
        layers.push(Layer {
            project: joint_projection(&attention.pp("self"), width, precision)?,
            attention_output: linear(&attention.pp("output.dense"), width, width, precision)?,
            attention_norm: norm(attention.pp("output.LayerNorm"))?,
            expand: linear(&layer.pp("intermediate.dense"), width, inner, precision)?,
            contract: linear(&layer.pp("output.dense"), inner, width, precision)?,
            output_norm: norm(layer.pp("output.LayerNorm"))?,
        });
    }
    Ok(Encoder {
        words: values(&table("word_embeddings", config.vocab_size)?)?,
        positions: values(&positions.broadcast_add(&types.narrow(0, 0, 1)?)?)?,
        embedding_norm: norm(embeddings.pp("LayerNorm"))?,
        layers,
        shape: Heads { heads: config.num_attention_heads, head_width: width / config.num_attention_heads },
        unit: Unit::detect(),
    })
}

/// Query, key and value as one matrix.
fn joint_projection(
    weights: &VarBuilder<'_>,
    width: usize,
    precision: Precision,
) -> candle_core::Result<Linear> {
    let (mut matrices, mut biases) = (Vec::new(), Vec::new());
    for name in ["query", "key", "value"] {
        matrices.extend(values(&weights.pp(name).get((width, width), "weight")?)?);
        biases.extend(values(&weights.pp(name).get(width, "bias")?)?);
    }
    Ok(Linear::new(matrices, biases, precision))
}

fn linear(
    weights: &VarBuilder<'_>,
    inputs: usize,
    outputs: usize,
    precision: Precision,
) -> candle_core::Result<Linear> {
    let matrix = weights.get((outputs, inputs), "weight")?;
    Ok(Linear::new(values(&matrix)?, values(&weights.get(outputs, "bias")?)?, precision))
}

fn values(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    serde_json::from_slice(&read(path)?)
        .map_err(|error| LoadError::Damaged { path: path.to_owned(), reason: error.to_string() })
}

/// Without the backtrace that candle puts after it.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
