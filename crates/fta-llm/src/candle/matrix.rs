//! Matrices of a model: loading, products, single rows.

use candle_core::{
    Device, Module, Tensor,
    quantized::{GgmlDType, QMatMul, QStorage, QTensor},
};
use rayon::prelude::*;

use super::{
    error::GgufError,
    gguf::{Gguf, TensorInfo},
    tile_kernels::{Blocks, Kernel},
    tiles::{TILE_ROWS, Tiles},
};

/// Who multiplies.
pub(super) struct Engine {
    /// Our own kernel, where the machine has what it takes; else candle's.
    pub(super) kernel: Option<Kernel>,
    /// Whether candle multiplies weights of single precision.
    pub(super) is_widened: bool,
    /// More threads than the one that asks.
    pub(super) pool: Option<rayon::ThreadPool>,
}

/// Rows of values on their way into products; several products may share them.
#[derive(Default)]
pub(super) struct Input {
    pub(super) values: Vec<f32>,
    columns: usize,
    blocks: Blocks,
}

impl Input {
    /// Says that `values` has been filled with rows of `columns` values.
    pub(super) fn ready(&mut self, columns: usize, engine: &Engine) {
        self.columns = columns;
        if engine.kernel.is_some() {
            self.blocks.fill(&self.values, columns);
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }
}

/// A matrix `[rows, columns]`.
pub(super) enum Matrix {
    /// Packed for our kernel.
    Packed(Tiles, Kernel),
    /// Multiplied by candle; `table` is there if rows are looked up.
    Candle { product: QMatMul, table: Option<Tensor> },
}

impl Matrix {
    /// Reads a matrix of the given shape.
    pub(super) fn read(
        gguf: &mut Gguf,
        name: &str,
        shape: (usize, usize),
        engine: &Engine,
        is_table: bool,
    ) -> Result<Self, GgufError> {
        let found = &gguf.tensor_info(name)?.shape;
        if found[..] != [shape.0, shape.1] {
            let what = format!("tensor `{name}` has the shape `{found:?}`, not `{shape:?}`");
            return Err(gguf.damaged(what));
        }
        let (info, bytes) = gguf.tensor_bytes(name)?;
        Self::load(&info, bytes, engine, is_table)
            .map_err(|error| gguf.damaged(format!("tensor `{name}` cannot be loaded: {error}")))
    }

    fn load(info: &TensorInfo, bytes: Vec<u8>, engine: &Engine, is_table: bool) -> candle_core::Result<Self> {
        let (rows, columns) = (info.shape[0], info.shape[1]);
        if let Some(kernel) = engine.kernel {
            if let Some(tiles) = Tiles::pack(info.dtype, rows, columns, &bytes) {
                return Ok(Self::Packed(tiles, kernel));
            }
            // Types of two and three bits, which are rare, are widened to eight.
            if matches!(info.dtype, GgmlDType::Q2K | GgmlDType::Q3K) {
                let wide =
                    QTensor::quantize(&tensor(info, bytes)?.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?;
                let tiles = Tiles::pack(GgmlDType::Q8_0, rows, columns, &wide.data()?);
                return Ok(Self::Packed(tiles.expect("eight bits can be packed"), kernel));
            }
        }
        let mut matrix = tensor(info, bytes)?;
        let table = is_table.then(|| matrix.dequantize(&Device::Cpu)).transpose()?;
        if engine.is_widened {
            return Ok(Self::Candle { product: QMatMul::Tensor(matrix.dequantize(&Device::Cpu)?), table });
        }
        // candle has no vector code for these; eight bits hold their quants as they are, or nearly.
        if matches!(info.dtype, GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1) {
            matrix = QTensor::quantize(&matrix.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?;
        }
        Ok(Self::Candle { product: QMatMul::from_qtensor(matrix)?, table })
    }

    /// Writes the products with all rows of the input: `[input rows, rows]`.
    ///
    /// # Errors
    /// What candle says, where it multiplies.
    pub(super) fn multiply(
        &self,
        engine: &Engine,
        input: &Input,
        out: &mut Vec<f32>,
    ) -> candle_core::Result<()> {
        let n = input.rows();
        match self {
            Self::Packed(tiles, kernel) => {
                out.resize(n * tiles.rows, 0.0);
                match &engine.pool {
                    None => kernel.multiply(tiles, 0..tiles.rows.div_ceil(TILE_ROWS), &input.blocks, out),
                    Some(pool) => pool.install(|| multiply_in_parts(tiles, *kernel, &input.blocks, out)),
                }
            }
            Self::Candle { product, .. } => {
                let rows = Tensor::from_slice(&input.values, (n, input.columns), &Device::Cpu)?;
                *out = product.forward(&rows)?.flatten_all()?.to_vec1()?;
            }
        }
        Ok(())
    }

    /// Appends one row to `values`.
    ///
    /// # Errors
    /// What candle says, where it has the matrix.
    pub(super) fn append_row(&self, row: usize, values: &mut Vec<f32>) -> candle_core::Result<()> {
        match self {
            Self::Packed(tiles, _) => {
                let start = values.len();
                values.resize(start + tiles.columns, 0.0);
                tiles.row(row, &mut values[start..]);
            }
            Self::Candle { table, .. } => {
                let table =
                    table.as_ref().ok_or_else(|| candle_core::Error::Msg("not a table".to_owned()))?;
                values.extend(table.get(row)?.to_vec1::<f32>()?);
            }
        }
        Ok(())
    }
}

/// Each thread makes the products of a range of tiles.
fn multiply_in_parts(tiles: &Tiles, kernel: Kernel, input: &Blocks, out: &mut [f32]) {
    let n_tiles = tiles.rows.div_ceil(TILE_ROWS);
    let per_part = n_tiles.div_ceil(rayon::current_num_threads()).max(1);
    let parts: Vec<(usize, Vec<f32>)> = (0..n_tiles.div_ceil(per_part))
        .into_par_iter()
        .map(|part| {
            let (from, to) = (part * per_part, ((part + 1) * per_part).min(n_tiles));
            let width = (to * TILE_ROWS).min(tiles.rows) - from * TILE_ROWS;
            let mut products = vec![0.0; input.rows() * width];
            kernel.multiply(tiles, from..to, input, &mut products);
            (from * TILE_ROWS, products)
        })
        .collect();
    for (start, products) in parts {
        let width = products.len() / input.rows();
        for (row, products) in out.chunks_exact_mut(tiles.rows).zip(products.chunks_exact(width)) {
            row[start..start + width].copy_from_slice(products);
        }
    }
}

/// A vector of the given length, in single precision.
pub(super) fn read_vector(gguf: &mut Gguf, name: &str, length: usize) -> Result<Vec<f32>, GgufError> {
    let found = &gguf.tensor_info(name)?.shape;
    if found[..] != [length] {
        let what = format!("tensor `{name}` has the shape `{found:?}`, not `[{length}]`");
        return Err(gguf.damaged(what));
    }
    let (info, bytes) = gguf.tensor_bytes(name)?;
    let values = tensor(&info, bytes).and_then(|tensor| tensor.dequantize(&Device::Cpu)?.to_vec1::<f32>());
    values.map_err(|error| gguf.damaged(format!("tensor `{name}` cannot be read: {error}")))
}

fn tensor(info: &TensorInfo, bytes: Vec<u8>) -> candle_core::Result<QTensor> {
    QTensor::new(QStorage::from_data(bytes.into(), &Device::Cpu, info.dtype)?, info.shape.clone())
}
