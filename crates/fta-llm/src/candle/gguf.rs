//! Reading GGUF files: header, metadata, and the bytes of tensors.
//!
//! Every length is checked against the file before anything is allocated, so that a damaged file costs an error and
//! not the memory of the machine. (candle's own reader divides by an alignment that the file names.)

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use candle_core::quantized::GgmlDType;
use sha2::{Digest, Sha256};

use super::error::GgufError;

/// Names, tensors and strings beyond these are taken for damage.
const MOST_TENSORS: u64 = 1 << 17;
const MOST_DIMENSIONS: u32 = 4;
const LONGEST_NAME: u64 = 1 << 16;
const DEFAULT_ALIGNMENT: u64 = 32;

/// A metadata value. Numbers are widened; lists keep one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
}

/// Where a tensor lies and what it is.
#[derive(Debug, Clone)]
pub(super) struct TensorInfo {
    pub(super) dtype: GgmlDType,
    /// Rows first: `[rows, columns]` for a matrix.
    pub(super) shape: Vec<usize>,
    /// First byte in the file.
    start: u64,
    bytes: usize,
}

type Metadata = BTreeMap<String, Value>;
type Tensors = BTreeMap<String, TensorInfo>;

/// An open GGUF file.
pub(super) struct Gguf {
    path: PathBuf,
    reader: BufReader<File>,
    metadata: Metadata,
    tensors: Tensors,
    /// Takes in what is read, to tell one model from another.
    digest: Sha256,
}

impl Gguf {
    /// Opens a file and reads all of its head.
    pub(super) fn open(path: &Path) -> Result<Self, GgufError> {
        let io = |source| GgufError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut head = Head { path, reader: BufReader::new(file), length, at: 0, digest: Sha256::new() };
        let (metadata, tensors) = head.read()?;
        let Head { reader, digest, .. } = head;
        Ok(Self { path: path.to_owned(), reader, metadata, tensors, digest })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn has_tensor(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    pub(super) fn tensor_info(&self, name: &str) -> Result<&TensorInfo, GgufError> {
        self.tensors.get(name).ok_or_else(|| self.damaged(format!("it lacks the tensor `{name}`")))
    }

    /// The bytes of a tensor, as they lie in the file.
    pub(super) fn tensor_bytes(&mut self, name: &str) -> Result<(TensorInfo, Vec<u8>), GgufError> {
        let info = self.tensor_info(name)?.clone();
        let mut bytes = vec![0; info.bytes];
        let io = |source| GgufError::Io { path: self.path.clone(), source };
        self.reader.seek(SeekFrom::Start(info.start)).map_err(io)?;
        self.reader.read_exact(&mut bytes).map_err(io)?;
        self.digest.update(&bytes);
        Ok((info, bytes))
    }

    /// First digits of a SHA-256 over the head and the tensors read so far, in order of reading.
    pub(super) fn fingerprint(&self) -> String {
        let digest = self.digest.clone().finalize();
        let first = digest.iter().take(6).fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        format!("{first:012x}")
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn bool(&self, key: &str) -> Option<bool> {
        match self.metadata.get(key)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A whole number of at most 32 bits, which all sizes and ids are.
    pub(super) fn integer(&self, key: &str) -> Option<u32> {
        match self.metadata.get(key)? {
            Value::Unsigned(value) => u32::try_from(*value).ok(),
            Value::Signed(value) => u32::try_from(*value).ok(),
            _ => None,
        }
    }

    pub(super) fn float(&self, key: &str) -> Option<f32> {
        match self.metadata.get(key)? {
            Value::Float(value) => Some(*value as f32),
            Value::Unsigned(value) => Some(*value as f32),
            Value::Signed(value) => Some(*value as f32),
            _ => None,
        }
    }

    pub(super) fn texts(&self, key: &str) -> Option<&[String]> {
        match self.metadata.get(key)? {
            Value::Texts(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn integers(&self, key: &str) -> Option<&[i64]> {
        match self.metadata.get(key)? {
            Value::Integers(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn floats(&self, key: &str) -> Option<&[f32]> {
        match self.metadata.get(key)? {
            Value::Floats(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn damaged(&self, what: impl Into<String>) -> GgufError {
        GgufError::Damaged { path: self.path.clone(), what: what.into() }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> GgufError {
        GgufError::Unsupported { path: self.path.clone(), what: what.into() }
    }

    pub(super) fn tokenizer(&self, what: impl Into<String>) -> GgufError {
        GgufError::Tokenizer { path: self.path.clone(), what: what.into() }
    }
}

/// The head of a file while it is read.
struct Head<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    length: u64,
    at: u64,
    digest: Sha256,
}

impl Head<'_> {
    fn read(&mut self) -> Result<(Metadata, Tensors), GgufError> {
        if self.length < 8 || self.bytes(4, "the first bytes")? != b"GGUF" {
            return Err(GgufError::NotGguf { path: self.path.to_owned() });
        }
        let version = self.u32("the version")?;
        if !(2..=3).contains(&version) {
            let what = format!("it has version `{version}` of the format, not `2` or `3`");
            return Err(GgufError::Unsupported { path: self.path.to_owned(), what });
        }
        let n_tensors = self.u64("the number of tensors")?;
        let n_values = self.u64("the number of metadata values")?;
        // The least that each takes: a tensor 24 bytes, a value 13.
        let least = n_tensors.saturating_mul(24).saturating_add(n_values.saturating_mul(13));
        if n_tensors > MOST_TENSORS || least > self.left() {
            let what = format!("its head names `{n_tensors}` tensors and `{n_values}` values");
            return Err(self.damaged(what));
        }
        let mut metadata = BTreeMap::new();
        for _ in 0..n_values {
            let key = self.text(LONGEST_NAME, "the name of a metadata value")?;
            let kind = self.u32(&key)?;
            let value = self.value(kind, &key)?;
            metadata.insert(key, value);
        }
        let mut tensors = Vec::new();
        for _ in 0..n_tensors {
            tensors.push(self.tensor()?);
        }
        self.place(&metadata, tensors).map(|tensors| (metadata, tensors))
    }

    /// Name, shape, type and offset of the next tensor.
    fn tensor(&mut self) -> Result<(String, TensorInfo), GgufError> {
        let name = self.text(LONGEST_NAME, "the name of a tensor")?;
        let n_dimensions = self.u32(&name)?;
        if n_dimensions == 0 || n_dimensions > MOST_DIMENSIONS {
            return Err(self.damaged(format!("tensor `{name}` has `{n_dimensions}` dimensions")));
        }
        let mut shape = Vec::new();
        for _ in 0..n_dimensions {
            let size = self.u64(&name)?;
            let size = u32::try_from(size).ok().filter(|&size| size > 0);
            let size = size.ok_or_else(|| self.damaged(format!("tensor `{name}` has an impossible size")))?;
            shape.push(size as usize);
        }
        shape.reverse();
        let code = self.u32(&name)?;
        let dtype = dtype(code).ok_or_else(|| GgufError::Unsupported {
            path: self.path.to_owned(),
            what: format!("tensor `{name}` is of the type `{code}`, which is not known here"),
        })?;
        let start = self.u64(&name)?;
        let columns = shape[shape.len() - 1];
        let elements = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        let bytes = elements
            .filter(|_| columns.is_multiple_of(dtype.block_size()))
            .and_then(|elements| (elements / dtype.block_size()).checked_mul(dtype.type_size()));
        let bytes = bytes.ok_or_else(|| {
            self.damaged(format!("tensor `{name}` of the type `{dtype:?}` cannot have the shape `{shape:?}`"))
        })?;
        Ok((name, TensorInfo { dtype, shape, start, bytes }))
    }

    /// Makes offsets of tensors places in the file, and checks that they are in it.
    fn place(&self, metadata: &Metadata, tensors: Vec<(String, TensorInfo)>) -> Result<Tensors, GgufError> {
        let alignment = match metadata.get("general.alignment") {
            None => DEFAULT_ALIGNMENT,
            Some(Value::Unsigned(value)) if value.is_power_of_two() && *value <= 1 << 20 => *value,
            Some(_) => return Err(self.damaged("its alignment is not a power of two")),
        };
        let data = self.at.next_multiple_of(alignment);
        let mut placed = BTreeMap::new();
        for (name, mut info) in tensors {
            let start = data.checked_add(info.start);
            let end = start.and_then(|start| start.checked_add(info.bytes as u64));
            let (Some(start), Some(end)) = (start, end) else {
                return Err(self.damaged(format!("tensor `{name}` lies nowhere")));
            };
            if end > self.length {
                let what = format!("tensor `{name}` ends at byte `{end}`, the file at `{}`", self.length);
                return Err(GgufError::Truncated { path: self.path.to_owned(), what });
            }
            info.start = start;
            if placed.insert(name.clone(), info).is_some() {
                return Err(self.damaged(format!("tensor `{name}` is there twice")));
            }
        }
        Ok(placed)
    }

    fn value(&mut self, kind: u32, key: &str) -> Result<Value, GgufError> {
        Ok(match kind {
            0 => Value::Unsigned(self.number::<1>(key)?[0].into()),
            1 => Value::Signed(i8::from_le_bytes(self.number(key)?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.number(key)?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.number(key)?).into()),
            4 => Value::Unsigned(u32::from_le_bytes(self.number(key)?).into()),
            5 => Value::Signed(i32::from_le_bytes(self.number(key)?).into()),
            6 => Value::Float(f32::from_le_bytes(self.number(key)?).into()),
            7 => Value::Bool(self.number::<1>(key)?[0] != 0),
            8 => Value::Text(self.text(u64::MAX, key)?),
            9 => {
                let kind = self.u32(key)?;
                let length = self.u64(key)?;
                self.list(kind, length, key)?
            }
            10 => Value::Unsigned(u64::from_le_bytes(self.number(key)?)),
            11 => Value::Signed(i64::from_le_bytes(self.number(key)?)),
            12 => Value::Float(f64::from_le_bytes(self.number(key)?)),
            _ => return Err(self.damaged(format!("metadata value `{key}` is of the unknown kind `{kind}`"))),
        })
    }

    fn list(&mut self, kind: u32, length: u64, key: &str) -> Result<Value, GgufError> {
        let least = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            _ => return Err(self.damaged(format!("list `{key}` is of the unknown kind `{kind}`"))),
        };
        if length.saturating_mul(least) > self.left() {
            let what = format!("list `{key}` of `{length}` values goes beyond the end");
            return Err(GgufError::Truncated { path: self.path.to_owned(), what });
        }
        let mut list = match kind {
            8 => Value::Texts(Vec::new()),
            6 | 12 => Value::Floats(Vec::new()),
            _ => Value::Integers(Vec::new()),
        };
        for _ in 0..length {
            match (&mut list, self.value(kind, key)?) {
                (Value::Texts(list), Value::Text(value)) => list.push(value),
                (Value::Floats(list), Value::Float(value)) => list.push(value as f32),
                (Value::Integers(list), Value::Signed(value)) => list.push(value),
                (Value::Integers(list), Value::Unsigned(value)) => list.push(value.cast_signed()),
                (Value::Integers(list), Value::Bool(value)) => list.push(value.into()),
                _ => return Err(self.damaged(format!("list `{key}` mixes kinds"))),
            }
        }
        Ok(list)
    }

    fn u32(&mut self, what: &str) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.number(what)?))
    }

    fn u64(&mut self, what: &str) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.number(what)?))
    }

    fn text(&mut self, longest: u64, what: &str) -> Result<String, GgufError> {
        let length = self.u64(what)?;
        if length > longest {
            return Err(self.damaged(format!("{what} has `{length}` bytes")));
        }
        let bytes = self.bytes(length, what)?;
        // Some tokens of real files are not UTF-8; they are never made by an encoder.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn number<const N: usize>(&mut self, what: &str) -> Result<[u8; N], GgufError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    fn bytes(&mut self, length: u64, what: &str) -> Result<Vec<u8>, GgufError> {
        if length > self.left() {
            return Err(self.truncated(what));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), GgufError> {
        if bytes.len() as u64 > self.left() {
            return Err(self.truncated(what));
        }
        let read = self.reader.read_exact(bytes);
        read.map_err(|source| GgufError::Io { path: self.path.to_owned(), source })?;
        self.at += bytes.len() as u64;
        self.digest.update(bytes);
        Ok(())
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    fn truncated(&self, what: &str) -> GgufError {
        let what = format!("it ends within its head, at {what}");
        GgufError::Truncated { path: self.path.to_owned(), what }
    }

    fn damaged(&self, what: impl Into<String>) -> GgufError {
        GgufError::Damaged { path: self.path.to_owned(), what: what.into() }
    }
}

/// The types that candle knows, by their number in files.
fn dtype(code: u32) -> Option<GgmlDType> {
    Some(match code {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}
