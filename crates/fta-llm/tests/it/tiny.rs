//! Tiny models of each family, written as GGUF files with weights made up from a seed.

#![allow(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

use std::{fs::File, path::Path};

use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor, gguf_file, gguf_file::Value},
};

pub(crate) const WIDTH: usize = 64;
pub(crate) const INNER: usize = 96;
pub(crate) const LAYERS: u32 = 2;
pub(crate) const HEADS: u32 = 4;
pub(crate) const KEY_HEADS: u32 = 2;
pub(crate) const HEAD_WIDTH: usize = 16;
pub(crate) const CONTEXT: u32 = 256;

const CHATML: &str = "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}\
    {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Metadata and tensors of a model.
pub(crate) struct Tiny {
    pub(crate) metadata: Vec<(String, Value)>,
    tensors: Vec<(String, QTensor)>,
}

/// Letters of GPT-2's alphabet for all bytes, in order of the bytes.
fn letters() -> Vec<String> {
    let mut next = 0x100_u32;
    let letter = |byte: u8| {
        let printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if printable { u32::from(byte) } else { next };
        next += u32::from(!printable);
        char::from_u32(code).unwrap().to_string()
    };
    (0..=u8::MAX).map(letter).collect()
}

/// Numbers around 0, of the size of weights.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5) * 0.5
    };
    (0..n).map(next).collect()
}

impl Tiny {
    /// A model of `family`, its matrices of the type `dtype`.
    pub(crate) fn new(family: &str, dtype: GgmlDType) -> Self {
        let mut tiny = Self { metadata: Vec::new(), tensors: Vec::new() };
        tiny.describe(family);
        let tokens = tiny.vocabulary();
        tiny.weights(family, tokens, dtype);
        tiny
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.metadata.retain(|(known, _)| known != key);
        self.metadata.push((key.to_owned(), value));
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.metadata.retain(|(known, _)| known != key);
        self.tensors.retain(|(known, _)| known != key);
    }

    pub(crate) fn write(&self, path: &Path) {
        let metadata: Vec<(&str, &Value)> =
            self.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let tensors: Vec<(&str, &QTensor)> =
            self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        gguf_file::write(&mut File::create(path).unwrap(), &metadata, &tensors).unwrap();
    }

    fn describe(&mut self, family: &str) {
        let text = |text: &str| Value::String(text.to_owned());
        self.set("general.architecture", text(family));
        self.set("general.name", text("Tiny Model"));
        self.set("general.file_type", Value::U32(7));
        self.set("general.dtype", Value::U32(0));
        for (key, value) in [
            ("block_count", LAYERS),
            ("context_length", CONTEXT),
            ("embedding_length", WIDTH as u32),
            ("feed_forward_length", INNER as u32),
            ("attention.head_count", HEADS),
            ("attention.head_count_kv", KEY_HEADS),
            ("attention.key_length", HEAD_WIDTH as u32),
            ("attention.value_length", HEAD_WIDTH as u32),
            ("rope.dimension_count", HEAD_WIDTH as u32),
            ("attention.sliding_window", 8),
        ] {
            self.set(&format!("{family}.{key}"), Value::U32(value));
        }
        self.set(&format!("{family}.attention.layer_norm_rms_epsilon"), Value::F32(1e-5));
        self.set(&format!("{family}.rope.freq_base"), Value::F32(10_000.0));
    }

    fn vocabulary(&mut self) -> usize {
        let mut tokens = letters();
        tokens.extend(
            ["th", "the", "Ġthe", "in", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool>"]
                .map(str::to_owned),
        );
        let kinds = (0..tokens.len())
            .map(|id| {
                Value::I32(match id {
                    260..=262 => 3,
                    263 => 4,
                    _ => 1,
                })
            })
            .collect();
        let n = tokens.len();
        let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
        self.set("tokenizer.ggml.model", Value::String("gpt2".to_owned()));
        self.set("tokenizer.ggml.pre", Value::String("qwen2".to_owned()));
        self.set("tokenizer.ggml.tokens", texts(tokens));
        self.set("tokenizer.ggml.token_type", Value::Array(kinds));
        self.set("tokenizer.ggml.merges", texts(["t h", "th e", "Ġ the", "i n"].map(str::to_owned).into()));
        self.set("tokenizer.ggml.eos_token_id", Value::U32(262));
        self.set("tokenizer.ggml.bos_token_id", Value::U32(260));
        self.set("tokenizer.ggml.add_bos_token", Value::Bool(false));
        self.set("tokenizer.chat_template", Value::String(CHATML.to_owned()));
        n
    }

    fn weights(&mut self, family: &str, tokens: usize, dtype: GgmlDType) {
        let (query, key) = (HEADS as usize * HEAD_WIDTH, KEY_HEADS as usize * HEAD_WIDTH);
        self.matrix("token_embd.weight", tokens, WIDTH, dtype);
        self.matrix("output.weight", tokens, WIDTH, dtype);
        self.vector("output_norm.weight", WIDTH, 1.0);
        for layer in 0..LAYERS {
            let name = |part: &str| format!("blk.{layer}.{part}");
            self.matrix(&name("attn_q.weight"), query, WIDTH, dtype);
            self.matrix(&name("attn_k.weight"), key, WIDTH, dtype);
            self.matrix(&name("attn_v.weight"), key, WIDTH, dtype);
            self.matrix(&name("attn_output.weight"), WIDTH, query, dtype);
            self.matrix(&name("ffn_gate.weight"), INNER, WIDTH, dtype);
            self.matrix(&name("ffn_up.weight"), INNER, WIDTH, dtype);
            self.matrix(&name("ffn_down.weight"), WIDTH, INNER, dtype);
            self.vector(&name("attn_norm.weight"), WIDTH, 1.0);
            self.vector(&name("ffn_norm.weight"), WIDTH, 1.0);
            if family == "qwen2" {
                self.vector(&name("attn_q.bias"), query, 0.0);
                self.vector(&name("attn_k.bias"), key, 0.0);
                self.vector(&name("attn_v.bias"), key, 0.0);
            }
            if matches!(family, "qwen3" | "gemma3") {
                self.vector(&name("attn_q_norm.weight"), HEAD_WIDTH, 1.0);
                self.vector(&name("attn_k_norm.weight"), HEAD_WIDTH, 1.0);
            }
            if family == "gemma3" {
                self.vector(&name("post_attention_norm.weight"), WIDTH, 1.0);
                self.vector(&name("post_ffw_norm.weight"), WIDTH, 1.0);
            }
        }
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize, dtype: GgmlDType) {
        let values = numbers(
            rows * columns,
            name.bytes().fold(7, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte)),
        );
        let tensor = Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap();
        self.tensors.push((name.to_owned(), QTensor::quantize(&tensor, dtype).unwrap()));
    }

    fn vector(&mut self, name: &str, length: usize, around: f32) {
        let seed = name.bytes().fold(3, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte));
        let values = numbers(length, seed).into_iter().map(|x| around + x).collect();
        let tensor = Tensor::from_vec(values, length, &Device::Cpu).unwrap();
        self.tensors.push((name.to_owned(), QTensor::quantize(&tensor, GgmlDType::F32).unwrap()));
    }
}
