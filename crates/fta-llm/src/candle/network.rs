//! A decoder-only network: the families differ in data, not in code.

use super::{
    cache::{CacheShape, Sequence},
    error::GgufError,
    float_kernels::{Attention, Unit},
    gguf::Gguf,
    matrix::{Engine, Input, Matrix, read_vector},
};

/// Which values of a head are turned together to mark positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rotation {
    /// Neighbours.
    Pairs,
    /// Value `i` of the first half with value `i` of the second.
    Halves,
}

/// What sets one family apart.
#[derive(Debug, Clone, Copy)]
struct Family {
    rotation: Rotation,
    /// Gemma's: embeddings are scaled up, gates are smooth, and layers look at a window of tokens in turns.
    is_gemma: bool,
}

impl Family {
    fn of(architecture: &str) -> Option<Self> {
        let (rotation, is_gemma) = match architecture {
            "llama" => (Rotation::Pairs, false),
            "qwen2" | "qwen3" => (Rotation::Halves, false),
            "gemma3" => (Rotation::Halves, true),
            _ => return None,
        };
        Some(Self { rotation, is_gemma })
    }
}

/// Sizes and constants of a network.
#[derive(Debug, Clone)]
struct Shape {
    family: Family,
    layers: usize,
    width: usize,
    inner: usize,
    heads: usize,
    key_heads: usize,
    head_width: usize,
    epsilon: f32,
    context: usize,
    /// Tokens that windowed layers see, the one that looks included.
    window: usize,
    /// Every so many layers one sees everything; 0 if all do.
    window_period: usize,
}

impl Shape {
    fn read(gguf: &Gguf) -> Result<Self, GgufError> {
        let architecture = gguf.text("general.architecture").unwrap_or_default().to_owned();
        let family = Family::of(&architecture)
            .ok_or_else(|| gguf.unsupported(format!("it is of the family `{architecture}`")))?;
        let key = |name: &str| format!("{architecture}.{name}");
        let size = |name: &str| {
            let size = gguf.integer(&key(name)).filter(|size| (1..=1 << 24).contains(size));
            size.map(|size| size as usize)
                .ok_or_else(|| gguf.damaged(format!("it has no legal `{}`", key(name))))
        };
        if gguf.integer(&key("expert_count")).is_some_and(|n| n > 0) {
            return Err(gguf.unsupported("it is a mixture of experts"));
        }
        let scaling = gguf.text(&key("rope.scaling.type")).unwrap_or("none");
        if !matches!(scaling, "none" | "linear") {
            return Err(gguf.unsupported(format!("its positions are scaled by `{scaling}`")));
        }
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let key_heads = size("attention.head_count_kv").unwrap_or(heads);
        let head_width = size("attention.key_length").unwrap_or(width / heads);
        let value_width = size("attention.value_length").unwrap_or(head_width);
        if !heads.is_multiple_of(key_heads)
            || value_width != head_width
            || head_width == 0
            || !head_width.is_multiple_of(16)
        {
            return Err(gguf.unsupported("the heads of its attention are of an unusual size"));
        }
        let epsilon = gguf.float(&key("attention.layer_norm_rms_epsilon"));
        let windowed = family.is_gemma;
        Ok(Self {
            family,
            layers: size("block_count")?,
            width,
            inner: size("feed_forward_length")?,
            heads,
            key_heads,
            head_width,
            epsilon: epsilon.ok_or_else(|| gguf.damaged("it does not say how norms are kept from zero"))?,
            context: size("context_length")?,
            window: if windowed { size("attention.sliding_window")? } else { 0 },
            // Files do not say; all of the family have one layer in six that sees everything.
            window_period: if windowed { size("attention.sliding_window_pattern").unwrap_or(6) } else { 0 },
        })
    }

    fn is_windowed(&self, layer: usize) -> bool {
        self.window_period > 0 && !(layer + 1).is_multiple_of(self.window_period)
    }
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    query_bias: Option<Vec<f32>>,
    key_bias: Option<Vec<f32>>,
    value_bias: Option<Vec<f32>>,
    query_norm: Option<Vec<f32>>,
    key_norm: Option<Vec<f32>>,
    attention_output: Matrix,
    after_attention_norm: Option<Vec<f32>>,
    inner_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
    after_inner_norm: Option<Vec<f32>>,
}

/// A network with its weights.
pub(super) struct Network {
    shape: Shape,
    engine: Engine,
    unit: Unit,
    embeddings: Matrix,
    layers: Vec<Layer>,
    output_norm: Vec<f32>,
    /// The embeddings, if there is none.
    output: Option<Matrix>,
    /// Angles per position of each pair, for layers that see everything and for windowed ones.
    angles: [Vec<f64>; 2],
    buffers: Buffers,
}

/// Values between steps, kept between calls.
#[derive(Default)]
struct Buffers {
    states: Vec<f32>,
    input: Input,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    product: Vec<f32>,
    gates: Vec<f32>,
    ups: Vec<f32>,
    scores: Vec<f32>,
    /// Cosine and sine of each pair at each position, of the two kinds of layers.
    turns: [Vec<(f32, f32)>; 2],
}

impl Network {
    /// Reads a network; `tokens` is the size of the vocabulary.
    pub(super) fn read(gguf: &mut Gguf, tokens: usize, engine: Engine) -> Result<Self, GgufError> {
        let shape = Shape::read(gguf)?;
        let embeddings = Matrix::read(gguf, "token_embd.weight", (tokens, shape.width), &engine, true)?;
        let mut layers = Vec::new();
        for index in 0..shape.layers {
            layers.push(Layer::read(gguf, &shape, index, &engine)?);
        }
        let output_norm = read_vector(gguf, "output_norm.weight", shape.width)?;
        let output = if gguf.has_tensor("output.weight") {
            Some(Matrix::read(gguf, "output.weight", (tokens, shape.width), &engine, false)?)
        } else {
            None
        };
        let angles = angles(gguf, &shape)?;
        let unit = Unit::detect();
        let buffers = Buffers::default();
        Ok(Self { shape, engine, unit, embeddings, layers, output_norm, output, angles, buffers })
    }

    /// Longest sequence that the network was made for, in tokens.
    pub(super) fn context(&self) -> usize {
        self.shape.context
    }

    pub(super) fn cache_shape(&self) -> CacheShape {
        CacheShape {
            layers: self.shape.layers,
            heads: self.shape.key_heads,
            head_width: self.shape.head_width,
        }
    }

    /// Appends tokens to a sequence. All must be of the vocabulary.
    ///
    /// # Errors
    /// What candle says, where it multiplies.
    pub(super) fn append(&mut self, sequence: &mut Sequence, tokens: &[u32]) -> candle_core::Result<()> {
        let first = sequence.len();
        sequence.extend(tokens);
        let mut buffers = std::mem::take(&mut self.buffers);
        let outcome = self.forward(&mut buffers, sequence, first, tokens);
        self.buffers = buffers;
        outcome
    }

    /// Writes the logits of what follows the last token that was appended.
    ///
    /// # Errors
    /// What candle says, where it multiplies.
    pub(super) fn logits(&mut self, logits: &mut Vec<f32>) -> candle_core::Result<()> {
        let Buffers { states, input, .. } = &mut self.buffers;
        let last = &states[states.len() - self.shape.width..];
        input.values.clear();
        input.values.extend_from_slice(last);
        self.unit.rms_norm(&mut input.values, &self.output_norm, self.shape.epsilon);
        input.ready(self.shape.width, &self.engine);
        self.output.as_ref().unwrap_or(&self.embeddings).multiply(&self.engine, input, logits)
    }

    fn forward(
        &self,
        buffers: &mut Buffers,
        sequence: &mut Sequence,
        first: usize,
        tokens: &[u32],
    ) -> candle_core::Result<()> {
        buffers.states.clear();
        for &token in tokens {
            self.embeddings.append_row(token as usize, &mut buffers.states)?;
        }
        if self.shape.family.is_gemma {
            let factor = (self.shape.width as f32).sqrt();
            buffers.states.iter_mut().for_each(|x| *x *= factor);
        }
        for (turns, angles) in buffers.turns.iter_mut().zip(&self.angles) {
            turns.clear();
            for position in first..first + tokens.len() {
                turns.extend(angles.iter().map(|angle| {
                    let (sine, cosine) = (position as f64 * angle).sin_cos();
                    (cosine as f32, sine as f32)
                }));
            }
        }
        for (index, layer) in self.layers.iter().enumerate() {
            self.attention(buffers, sequence, first, index)?;
            self.feed_forward(buffers, layer)?;
        }
        Ok(())
    }

    fn attention(
        &self,
        buffers: &mut Buffers,
        sequence: &mut Sequence,
        first: usize,
        index: usize,
    ) -> candle_core::Result<()> {
        let layer = &self.layers[index];
        let Buffers { states, input, queries, keys, values, product, scores, turns, .. } = buffers;
        let (shape, engine) = (&self.shape, &self.engine);
        self.normed(states, &layer.attention_norm, input);
        layer.query.multiply(engine, input, queries)?;
        layer.key.multiply(engine, input, keys)?;
        layer.value.multiply(engine, input, values)?;
        for (values, bias) in [
            (&mut *queries, &layer.query_bias),
            (&mut *keys, &layer.key_bias),
            (&mut *values, &layer.value_bias),
        ] {
            if let Some(bias) = bias {
                add_rows(values, bias);
            }
        }
        let turns = &turns[usize::from(shape.is_windowed(index))];
        for (values, norm, heads) in
            [(&mut *queries, &layer.query_norm, shape.heads), (&mut *keys, &layer.key_norm, shape.key_heads)]
        {
            if let Some(norm) = norm {
                self.unit.rms_norm(values, norm, shape.epsilon);
            }
            self.rotate(values, heads, turns);
        }
        let key_width = shape.key_heads * shape.head_width;
        for (i, (key, value)) in keys.chunks_exact(key_width).zip(values.chunks_exact(key_width)).enumerate()
        {
            sequence.put(index, first + i, key, value);
        }
        let width = shape.heads * shape.head_width;
        input.values.resize(queries.len(), 0.0);
        let group = shape.heads / shape.key_heads * shape.head_width;
        for head in 0..shape.key_heads {
            let (keys, values) = sequence.head(index, head);
            for (i, (queries, output)) in
                queries.chunks_exact(width).zip(input.values.chunks_exact_mut(width)).enumerate()
            {
                let to = first + i + 1;
                let from = if shape.is_windowed(index) { to.saturating_sub(shape.window) } else { 0 };
                let scale = 1.0 / (shape.head_width as f32).sqrt();
                let task = Attention { keys: &keys, values: &values, from, to, scale };
                let at = head * group..(head + 1) * group;
                self.unit.attend(task, &queries[at.clone()], &mut output[at], scores);
            }
        }
        input.ready(width, engine);
        layer.attention_output.multiply(engine, input, product)?;
        if let Some(norm) = &layer.after_attention_norm {
            self.unit.rms_norm(product, norm, shape.epsilon);
        }
        add(states, product);
        Ok(())
    }

    fn feed_forward(&self, buffers: &mut Buffers, layer: &Layer) -> candle_core::Result<()> {
        let Buffers { states, input, product, gates, ups, .. } = buffers;
        let engine = &self.engine;
        self.normed(states, &layer.inner_norm, input);
        layer.gate.multiply(engine, input, gates)?;
        layer.up.multiply(engine, input, ups)?;
        if self.shape.family.is_gemma {
            self.unit.gelu_gate(gates, ups);
        } else {
            self.unit.silu_gate(gates, ups);
        }
        std::mem::swap(&mut input.values, gates);
        input.ready(self.shape.inner, engine);
        layer.down.multiply(engine, input, product)?;
        if let Some(norm) = &layer.after_inner_norm {
            self.unit.rms_norm(product, norm, self.shape.epsilon);
        }
        add(states, product);
        Ok(())
    }

    fn normed(&self, states: &[f32], norm: &[f32], input: &mut Input) {
        input.values.clear();
        input.values.extend_from_slice(states);
        self.unit.rms_norm(&mut input.values, norm, self.shape.epsilon);
        input.ready(self.shape.width, &self.engine);
    }

    /// Turns pairs of values of each head by angles that grow with the position.
    fn rotate(&self, values: &mut [f32], heads: usize, turns: &[(f32, f32)]) {
        let head_width = self.shape.head_width;
        let pairs = self.angles[0].len();
        for (token, turns) in values.chunks_exact_mut(heads * head_width).zip(turns.chunks_exact(pairs)) {
            for head in token.chunks_exact_mut(head_width) {
                match self.shape.family.rotation {
                    Rotation::Pairs => {
                        for ([a, b], &(cosine, sine)) in head.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                            (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
                        }
                    }
                    Rotation::Halves => {
                        let (left, right) = head[..2 * pairs].split_at_mut(pairs);
                        for ((a, b), &(cosine, sine)) in left.iter_mut().zip(right).zip(turns) {
                            (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
                        }
                    }
                }
            }
        }
    }
}

impl Layer {
    fn read(gguf: &mut Gguf, shape: &Shape, index: usize, engine: &Engine) -> Result<Self, GgufError> {
        let name = |part: &str| format!("blk.{index}.{part}");
        let (query_width, key_width) = (shape.heads * shape.head_width, shape.key_heads * shape.head_width);
        let (width, inner) = (shape.width, shape.inner);
        let matrix = |gguf: &mut Gguf, part: &str, rows: usize, columns: usize| {
            Matrix::read(gguf, &name(part), (rows, columns), engine, false)
        };
        let vector = |gguf: &mut Gguf, part: &str, length: usize| read_vector(gguf, &name(part), length);
        let optional = |gguf: &mut Gguf, part: &str, length: usize| {
            gguf.has_tensor(&name(part)).then(|| read_vector(gguf, &name(part), length)).transpose()
        };
        Ok(Self {
            attention_norm: vector(gguf, "attn_norm.weight", width)?,
            query: matrix(gguf, "attn_q.weight", query_width, width)?,
            key: matrix(gguf, "attn_k.weight", key_width, width)?,
            value: matrix(gguf, "attn_v.weight", key_width, width)?,
            query_bias: optional(gguf, "attn_q.bias", query_width)?,
            key_bias: optional(gguf, "attn_k.bias", key_width)?,
            value_bias: optional(gguf, "attn_v.bias", key_width)?,
            query_norm: optional(gguf, "attn_q_norm.weight", shape.head_width)?,
            key_norm: optional(gguf, "attn_k_norm.weight", shape.head_width)?,
            attention_output: matrix(gguf, "attn_output.weight", width, query_width)?,
            after_attention_norm: optional(gguf, "post_attention_norm.weight", width)?,
            inner_norm: vector(gguf, "ffn_norm.weight", width)?,
            gate: matrix(gguf, "ffn_gate.weight", inner, width)?,
            up: matrix(gguf, "ffn_up.weight", inner, width)?,
            down: matrix(gguf, "ffn_down.weight", width, inner)?,
            after_inner_norm: optional(gguf, "post_ffw_norm.weight", width)?,
        })
    }
}

/// Angles per position of each pair, for layers that see everything and for windowed ones.
fn angles(gguf: &mut Gguf, shape: &Shape) -> Result<[Vec<f64>; 2], GgufError> {
    let architecture = gguf.text("general.architecture").unwrap_or_default().to_owned();
    let key = |name: &str| format!("{architecture}.{name}");
    let turned = gguf.integer(&key("rope.dimension_count")).map_or(shape.head_width, |n| n as usize);
    if turned == 0 || turned > shape.head_width || !turned.is_multiple_of(2) {
        return Err(gguf.damaged("its positions turn more values than a head has"));
    }
    let base = gguf.float(&key("rope.freq_base")).unwrap_or(10_000.0);
    let window_base = gguf.float(&key("rope.local_freq_base")).unwrap_or(10_000.0);
    let stretch = match gguf.text(&key("rope.scaling.type")) {
        Some("linear") => {
            gguf.float(&key("rope.scaling.factor")).filter(|factor| *factor > 0.0).unwrap_or(1.0)
        }
        _ => 1.0,
    };
    let factors = if gguf.has_tensor("rope_freqs.weight") {
        read_vector(gguf, "rope_freqs.weight", turned / 2)?
    } else {
        vec![1.0; turned / 2]
    };
    let angle = |base: f32, stretch: f32, pair: usize| {
        let exponent = 2.0 * pair as f64 / turned as f64;
        f64::from(base).powf(-exponent) / f64::from(factors[pair]) / f64::from(stretch)
    };
    Ok([
        (0..turned / 2).map(|pair| angle(base, stretch, pair)).collect(),
        (0..turned / 2).map(|pair| angle(window_base, 1.0, pair)).collect(),
    ])
}

fn add(values: &mut [f32], others: &[f32]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value += other;
    }
}

fn add_rows(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        add(row, bias);
    }
}
