//! From a folder of files to hidden states of a text.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use candle_core::{D, DType, Device, Tensor};
use candle_nn::{Activation, VarBuilder};
use candle_transformers::models::{bert, xlm_roberta};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::{BertScoreConfig, BertScoreError};

/// What is needed of `config.json`.
#[derive(Debug, Deserialize)]
struct ModelConfig {
    model_type: String,
    hidden_act: String,
    position_embedding_type: Option<String>,
    hidden_size: usize,
    intermediate_size: usize,
    layer_norm_eps: f64,
    max_position_embeddings: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    #[serde(default)]
    pad_token_id: u32,
    type_vocab_size: usize,
    vocab_size: usize,
}

/// A model whose output is the hidden state after its last loaded layer.
enum Model {
    Bert(bert::BertModel),
    /// RoBERTa and XLM-RoBERTa: positions count from behind the padding token's id.
    Roberta(xlm_roberta::XLMRobertaModel),
}

/// Turns texts into hidden states.
pub(super) struct Encoder {
    tokenizer: Tokenizer,
    model: Model,
    /// Whether texts begin with a space to it, as those of byte pairs do.
    leading_space: bool,
    /// Ids of the tokens that are put around a text.
    special: Vec<u32>,
}

/// Hidden states of a text's tokens.
pub(super) struct Pieces {
    /// `[tokens, hidden]`, each row of length 1.
    states: Tensor,
    /// Which tokens are word pieces.
    is_word: Vec<bool>,
}

impl Encoder {
    pub(super) fn load(directory: &Path, config: BertScoreConfig) -> Result<Self, BertScoreError> {
        let path = directory.join("config.json");
        let model: ModelConfig = serde_json::from_slice(&read(&path)?)
            .map_err(|error| BertScoreError::Damaged { path: path.clone(), reason: error.to_string() })?;
        model.check(&path, config)?;
        let (tokenizer, special) = tokenizer(directory, config.window.min(model.positions()))?;
        Ok(Self {
            leading_space: model.model_type == "roberta",
            model: weights(directory, &model, config.layer)?,
            tokenizer,
            special,
        })
    }

    /// Encodes a text that has no white space at its ends.
    pub(super) fn encode(&self, text: &str) -> Result<Pieces, BertScoreError> {
        let failed = |reason: String| BertScoreError::Encode { bytes: text.len(), reason };
        let spaced;
        let input = if self.leading_space && !text.is_empty() {
            spaced = format!(" {text}");
            spaced.as_str()
        } else {
            text
        };
        let encoding = self.tokenizer.encode(input, true).map_err(|error| failed(error.to_string()))?;
        let ids = encoding.get_ids();
        let states = self.states(ids).map_err(|error| failed(first_line(&error)))?;
        Ok(Pieces { states, is_word: ids.iter().map(|id| !self.special.contains(id)).collect() })
    }

    fn states(&self, ids: &[u32]) -> candle_core::Result<Tensor> {
        let ids = Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?;
        let types = ids.zeros_like()?;
        let states = match &self.model {
            Model::Bert(model) => model.forward(&ids, &types, None)?,
            Model::Roberta(model) => model.forward(&ids, &ids.ones_like()?, &types, None, None, None)?,
        };
        let states = states.squeeze(0)?;
        let lengths = states.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?;
        states.broadcast_div(&lengths)
    }
}

impl Pieces {
    /// Number of word pieces.
    pub(super) fn words(&self) -> usize {
        self.is_word.iter().filter(|word| **word).count()
    }

    /// Size of the hidden states.
    pub(super) fn bytes(&self) -> usize {
        self.states.elem_count() * size_of::<f32>()
    }

    /// Mean over the word pieces of each side of the best cosine with any token of the other: this side's, the other's.
    pub(super) fn best_cosines(&self, other: &Self) -> Result<(f64, f64), BertScoreError> {
        let cosines = || self.states.matmul(&other.states.t()?)?.to_vec2::<f32>();
        let cosines = cosines()
            .map_err(|error| BertScoreError::Encode { bytes: self.bytes(), reason: first_line(&error) })?;
        let best = |best: f32, cosine: &f32| best.max(*cosine);
        let rows: Vec<f32> = cosines.iter().map(|row| row.iter().fold(f32::NEG_INFINITY, best)).collect();
        let columns: Vec<f32> = (0..other.is_word.len())
            .map(|column| cosines.iter().map(|row| row[column]).fold(f32::NEG_INFINITY, f32::max))
            .collect();
        Ok((mean_of_words(&rows, &self.is_word), mean_of_words(&columns, &other.is_word)))
    }
}

fn mean_of_words(best: &[f32], is_word: &[bool]) -> f64 {
    let words: Vec<f64> =
        best.iter().zip(is_word).filter(|(_, word)| **word).map(|(cosine, _)| f64::from(*cosine)).collect();
    words.iter().sum::<f64>() / words.len() as f64
}

impl ModelConfig {
    fn check(&self, path: &Path, config: BertScoreConfig) -> Result<(), BertScoreError> {
        let unsupported = |reason: String| BertScoreError::Unsupported { path: path.to_owned(), reason };
        if !["bert", "roberta", "xlm-roberta"].contains(&self.model_type.as_str()) {
            return Err(unsupported(format!(
                "`model_type` is `{}`; `bert`, `roberta` and `xlm-roberta` are supported",
                self.model_type
            )));
        }
        if let Some(kind) = self.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
            return Err(unsupported(format!("`position_embedding_type` is `{kind}`, not `absolute`")));
        }
        if self.activation().is_none() {
            return Err(unsupported(format!("`hidden_act` is `{}`", self.hidden_act)));
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(unsupported(format!(
                "`hidden_size` `{}` does not split into `{}` heads",
                self.hidden_size, self.num_attention_heads
            )));
        }
        if config.layer == 0 || config.layer > self.num_hidden_layers {
            return Err(BertScoreError::Layer { layer: config.layer, layers: self.num_hidden_layers });
        }
        let window = config.window.min(self.positions());
        if window < 3 {
            return Err(BertScoreError::Window { window });
        }
        Ok(())
    }

    /// Tokens that there are positions for.
    fn positions(&self) -> usize {
        match self.model_type.as_str() {
            "bert" => self.max_position_embeddings,
            _ => self.max_position_embeddings.saturating_sub(self.pad_token_id as usize + 1),
        }
    }

    fn activation(&self) -> Option<(bert::HiddenAct, Activation)> {
        match self.hidden_act.as_str() {
            "gelu" => Some((bert::HiddenAct::Gelu, Activation::Gelu)),
            "gelu_new" | "gelu_pytorch_tanh" => Some((bert::HiddenAct::GeluApproximate, Activation::NewGelu)),
            "relu" => Some((bert::HiddenAct::Relu, Activation::Relu)),
            _ => None,
        }
    }

    fn build(&self, weights: VarBuilder<'_>, layers: usize) -> candle_core::Result<Model> {
        let (act, activation) = self.activation().expect("the activation was checked");
        if self.model_type == "bert" {
            let config = bert::Config {
                vocab_size: self.vocab_size,
                hidden_size: self.hidden_size,
                num_hidden_layers: layers,
                num_attention_heads: self.num_attention_heads,
                intermediate_size: self.intermediate_size,
                hidden_act: act,
                max_position_embeddings: self.max_position_embeddings,
                type_vocab_size: self.type_vocab_size,
                layer_norm_eps: self.layer_norm_eps,
                pad_token_id: self.pad_token_id as usize,
                model_type: None,
                ..bert::Config::default()
            };
            return Ok(Model::Bert(bert::BertModel::load(weights, &config)?));
        }
        let config = xlm_roberta::Config {
            hidden_size: self.hidden_size,
            layer_norm_eps: self.layer_norm_eps,
            attention_probs_dropout_prob: 0.0,
            hidden_dropout_prob: 0.0,
            num_attention_heads: self.num_attention_heads,
            position_embedding_type: "absolute".to_owned(),
            intermediate_size: self.intermediate_size,
            hidden_act: activation,
            num_hidden_layers: layers,
            vocab_size: self.vocab_size,
            max_position_embeddings: self.max_position_embeddings,
            type_vocab_size: self.type_vocab_size,
            pad_token_id: self.pad_token_id,
        };
        Ok(Model::Roberta(xlm_roberta::XLMRobertaModel::new(&config, weights)?))
    }
}

/// Reads the tokenizer, set to cut at `window` tokens and to pad nothing, and the ids that it puts around a text.
fn tokenizer(directory: &Path, window: usize) -> Result<(Tokenizer, Vec<u32>), BertScoreError> {
    let path = directory.join("tokenizer.json");
    let bytes = read(&path)?;
    let damaged =
        |error: tokenizers::Error| BertScoreError::Damaged { path: path.clone(), reason: error.to_string() };
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(damaged)?;
    // Files of this kind often come with padding and a shorter window built in.
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: window, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(damaged)?;
    let special = tokenizer.encode("", true).map_err(damaged)?.get_ids().to_vec();
    Ok((tokenizer, special))
}

/// Reads the weights of the embeddings and of the first layers.
fn weights(directory: &Path, config: &ModelConfig, layers: usize) -> Result<Model, BertScoreError> {
    let path: PathBuf = directory.join("model.safetensors");
    let bytes = read(&path)?;
    let damaged = |error: candle_core::Error| BertScoreError::Damaged {
        path: path.clone(),
        reason: first_line(&error),
    };
    let all = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu).map_err(damaged)?;
    drop(bytes);
    let named: HashMap<String, Tensor> = all
        .into_iter()
        .map(|(name, tensor)| (plain_name(&name), tensor))
        .filter(|(name, _)| is_needed(name, layers))
        .collect();
    let weights = VarBuilder::from_tensors(named, DType::F32, &Device::Cpu);
    config.build(weights, layers).map_err(damaged)
}

/// Name of a tensor without the model's name before it; old files call a norm's weight `gamma` and its bias `beta`.
fn plain_name(name: &str) -> String {
    let name = ["bert.", "roberta."].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match name
        .strip_suffix("LayerNorm.gamma")
        .map(|stem| (stem, "LayerNorm.weight"))
        .or_else(|| name.strip_suffix("LayerNorm.beta").map(|stem| (stem, "LayerNorm.bias")))
    {
        Some((stem, end)) => format!("{stem}{end}"),
        None => name.to_owned(),
    }
}

fn is_needed(name: &str, layers: usize) -> bool {
    match name.strip_prefix("encoder.layer.").and_then(|rest| rest.split_once('.')) {
        Some((number, _)) => number.parse().is_ok_and(|number: usize| number < layers),
        None => name.starts_with("embeddings."),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, BertScoreError> {
    std::fs::read(path).map_err(|source| BertScoreError::Read { path: path.to_owned(), source })
}

/// Candle appends a backtrace to its messages.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
