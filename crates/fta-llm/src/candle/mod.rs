//! [`GgufModel`]: models in GGUF files, in this process, on the CPU.
//!
//! The network is our own, one for all families, since it must share what prompts have in common and hold many
//! sequences; candle gives the types of the file format and the products where the machine lacks the instructions
//! of our own kernel. Tokenizer and chat template are those of the file.

mod cache;
mod error;
mod float_kernels;
mod generate;
mod gguf;
mod grammar;
mod matrix;
mod network;
mod sampling;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod tile_kernels;
mod tiles;
mod tokenizer;
mod vocabulary;
mod worker;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

pub use error::GgufError;

use cache::PrefixCache;
use generate::{Generator, PrefixCounters};
use gguf::Gguf;
use grammar::Grammars;
use matrix::Engine;
use network::Network;
use template::ChatTemplate;
use tile_kernels::Kernel;
use tokenizer::Tokenizer;
use worker::{Job, Worker, ended};

use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel, Message},
};

/// Who multiplies matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Products {
    /// Our own kernel where the machine has AVX-512 with VNNI, candle elsewhere.
    #[default]
    Automatic,
    /// Always candle. Slower; of `Q4_1`, `Q5_0` and `Q5_1`, for which candle has no vector code, it makes `Q8_0`.
    Candle,
    /// candle, with all weights widened to single precision: slow, and takes four bytes a weight. Nothing is rounded
    /// but the file's own weights, so this is what others are compared with.
    Widened,
}

/// How to run a model of a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufConfig {
    /// The file.
    pub path: PathBuf,
    /// Most tokens of prompt and reply together; `None` for what the model was made for.
    pub context: Option<usize>,
    /// Threads of a product, 1 or more. More than the machine has idle cores make it slower. candle's products take
    /// as many as `RAYON_NUM_THREADS` says instead.
    pub threads: usize,
    /// Most tokens of a reply to a request that names no limit.
    pub max_new_tokens: usize,
    /// Tokens that are remembered for prompts that begin alike, 0 for none. Each takes 8 bytes for every layer,
    /// key head and value of a head: 46 kB for SmolLM2-135M, 115 kB for Qwen2.5-1.5B.
    pub prefix_tokens: usize,
    /// Who multiplies.
    pub products: Products,
}

impl GgufConfig {
    /// One thread, the model's own context, replies of up to 1024 tokens, 8192 remembered tokens.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            context: None,
            threads: 1,
            max_new_tokens: 1024,
            prefix_tokens: 8192,
            products: Products::Automatic,
        }
    }
}

/// What prompts that begin alike have saved, since the model was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixUsage {
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Those of them that had been computed for an earlier prompt.
    pub reused_tokens: u64,
}

/// Splits text as the model of a GGUF file does, without loading its weights; cheap to clone.
#[derive(Clone)]
pub struct GgufTokenizer {
    tokenizer: Arc<Tokenizer>,
    template: Arc<ChatTemplate>,
}

impl GgufTokenizer {
    /// Reads tokenizer and chat template of a file.
    ///
    /// # Errors
    /// [`GgufError`] if the file cannot be read, is damaged, or has no tokenizer that can be used.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        Self::read(&Gguf::open(path)?)
    }

    fn read(gguf: &Gguf) -> Result<Self, GgufError> {
        let tokenizer = Tokenizer::read(gguf)?;
        let vocabulary = &tokenizer.vocabulary;
        let source = gguf.text("tokenizer.chat_template");
        let template = ChatTemplate::new(
            source,
            vocabulary.name(vocabulary.begin),
            vocabulary.name(Some(vocabulary.end)),
        );
        let template = template
            .map_err(|reason| gguf.tokenizer(format!("its chat template cannot be used: {reason}")))?;
        Ok(Self { tokenizer: Arc::new(tokenizer), template: Arc::new(template) })
    }

    /// The tokens of the prompt that messages become, chat template included.
    ///
    /// What messages say is only ever text: the name of a control token in it is spelled out.
    ///
    /// # Errors
    /// [`ModelError::Permanent`] if the template refuses the messages, or there is nothing in them.
    pub fn prompt_tokens(&self, messages: &[Message]) -> Result<Vec<u32>, ModelError> {
        let request = ChatRequest::new(String::new(), messages.to_vec());
        generate::prompt_tokens(&self.template, &self.tokenizer, &request)
    }

    /// The tokens of a text alone.
    ///
    /// # Errors
    /// [`ModelError::Permanent`] if the tokenizer cannot spell it.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.tokenizer.encode_plain(text).map_err(|message| ModelError::Permanent { message })
    }
}

impl std::fmt::Debug for GgufTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GgufTokenizer")
            .field("tokens", &self.tokenizer.vocabulary.len())
            .finish_non_exhaustive()
    }
}

/// A language model in this process.
///
/// Requests wait in a queue and are worked on one after the other, on a thread of the model's own. A call whose
/// future is dropped ends at the next token. At temperature 0 the same request gives the same reply on the same
/// kind of machine, whatever was asked before; above, by the request's seed, or 0 where it has none.
///
/// A schema is kept to by construction: tokens that would break it are never chosen, and white space is left out.
/// A reply cut off by its limit of tokens is cut JSON, as its [`FinishReason`](crate::FinishReason) says.
#[derive(Debug)]
pub struct GgufModel {
    id: String,
    context: usize,
    tokenizer: GgufTokenizer,
    counters: Arc<PrefixCounters>,
    worker: Worker,
}

impl GgufModel {
    /// Loads a model. Takes seconds for a big one: call it off the async threads.
    ///
    /// # Errors
    /// [`GgufError`], by what is wrong with the file or the options.
    pub fn load(config: &GgufConfig) -> Result<Self, GgufError> {
        let option = |option, reason: &str| GgufError::Config { option, reason: reason.to_owned() };
        if config.threads == 0 || config.max_new_tokens == 0 {
            return Err(option("threads` or `max_new_tokens", "must be 1 or more"));
        }
        let mut gguf = Gguf::open(&config.path)?;
        let tokenizer = GgufTokenizer::read(&gguf)?;
        let engine = Engine {
            kernel: if config.products == Products::Automatic { Kernel::detect() } else { None },
            is_widened: config.products == Products::Widened,
            pool: pool(config.threads)?,
        };
        let network = Network::read(&mut gguf, tokenizer.tokenizer.vocabulary.len(), engine)?;
        let context = config.context.unwrap_or(network.context());
        if context == 0 || context > network.context() {
            return Err(option("context", &format!("must be in `1..={}` for this model", network.context())));
        }
        let counters = Arc::new(PrefixCounters::default());
        let generator = Generator {
            grammars: Grammars::new(Arc::clone(&tokenizer.tokenizer)),
            prefixes: PrefixCache::new(network.cache_shape(), config.prefix_tokens),
            network,
            tokenizer: Arc::clone(&tokenizer.tokenizer),
            template: Arc::clone(&tokenizer.template),
            counters: Arc::clone(&counters),
            context,
            max_new_tokens: config.max_new_tokens,
        };
        let worker =
            Worker::start(generator).map_err(|source| GgufError::Io { path: config.path.clone(), source })?;
        Ok(Self { id: model_id(&gguf), context, tokenizer, counters, worker })
    }

    /// Most tokens of prompt and reply together.
    pub fn context(&self) -> usize {
        self.context
    }

    /// The model's tokenizer.
    pub fn tokenizer(&self) -> &GgufTokenizer {
        &self.tokenizer
    }

    /// What prompts that begin alike have saved so far.
    pub fn prefix_usage(&self) -> PrefixUsage {
        PrefixUsage {
            prompt_tokens: self.counters.prompt_tokens.load(Ordering::Relaxed),
            reused_tokens: self.counters.reused_tokens.load(Ordering::Relaxed),
        }
    }

    fn check(request: &ChatRequest) -> Result<(), ModelError> {
        if request.temperature.is_finite() && request.temperature >= 0.0 {
            return Ok(());
        }
        Err(ModelError::Permanent { message: format!("`{}` is no temperature", request.temperature) })
    }
}

fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>, GgufError> {
    if threads == 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some).map_err(|error| GgufError::Config { option: "threads", reason: error.to_string() })
}

/// Name, quantisation and fingerprint of a file that has been read.
fn model_id(gguf: &Gguf) -> String {
    let name = gguf.text("general.name").filter(|name| !name.trim().is_empty());
    let file = gguf.path().file_stem().and_then(|stem| stem.to_str());
    let name = name.or(file).unwrap_or("model").trim().replace(char::is_whitespace, "-");
    let quantisation = gguf.integer("general.file_type").map_or("unknown", file_type);
    format!("{name} {quantisation} {}", gguf.fingerprint())
}

/// How llama.cpp calls the mixes of types that it writes.
fn file_type(code: u32) -> &'static str {
    match code {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        7 => "Q8_0",
        8 => "Q5_0",
        9 => "Q5_1",
        10 => "Q2_K",
        11 => "Q3_K_S",
        12 => "Q3_K_M",
        13 => "Q3_K_L",
        14 => "Q4_K_S",
        15 => "Q4_K_M",
        16 => "Q5_K_S",
        17 => "Q5_K_M",
        18 => "Q6_K",
        32 => "BF16",
        _ => "mixed",
    }
}

#[async_trait]
impl LanguageModel for GgufModel {
    fn model_id(&self) -> &str {
        &self.id
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        Self::check(&request)?;
        let (reply, received) = oneshot::channel();
        self.worker.send(Job { request, reply, pieces: None })?;
        received.await.unwrap_or_else(|_| Err(ended()))
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'text> FnMut(&'text str) + Send),
    ) -> Result<ChatReply, ModelError> {
        Self::check(&request)?;
        let (reply, received) = oneshot::channel();
        let (pieces, mut text) = mpsc::unbounded_channel();
        self.worker.send(Job { request, reply, pieces: Some(pieces) })?;
        while let Some(piece) = text.recv().await {
            on_text(&piece);
        }
        received.await.unwrap_or_else(|_| Err(ended()))
    }
}
