//! [`Precision`]: how exact, and so how fast, the matrix products of an encoder are.

/// How the factors of matrix products are held; all else is computed in `f32`.
///
/// Every precision works on every processor; where there is no instruction for one, it is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Precision {
    /// The fastest that is faithful on this processor: [`Precision::fastest_faithful`].
    #[default]
    Auto,
    /// 32-bit floating point: within 1e-5 of other implementations.
    F32,
    /// 16-bit brain floating point, with sums in `f32`: cosine to `F32` above 0.9999.
    ///
    /// Fast where the processor does two such products per cycle, as Zen 5 does; servers of Intel take twice as long
    /// as with `F32`, since they leave this to their tile unit.
    Bf16,
    /// 16-bit whole numbers with a scale for each row and column, with exact sums: cosine to `F32` above 0.9999.
    ///
    /// Ten times as exact as `Bf16`, since rows of an encoder have values of like size, and as fast at its best.
    Int16,
    /// 8-bit whole numbers with a scale for each row and column: cosine to `F32` above 0.99.
    ///
    /// Vectors are not interchangeable with those of the others, so the id of the model ends in `+int8`.
    Int8,
}

impl Precision {
    /// `Int16` where the processor multiplies whole numbers in AVX-512 (VNNI), else `F32`.
    ///
    /// Vectors of both are interchangeable, so that a memory made on one processor is read on another.
    pub fn fastest_faithful() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
            return Self::Int16;
        }
        Self::F32
    }

    /// What [`Precision::Auto`] stands for; the others stand for themselves.
    pub fn resolved(self) -> Self {
        if self == Self::Auto { Self::fastest_faithful() } else { self }
    }

    /// What the id of a model ends in, so that vectors that must not be compared have different ids.
    pub fn id_suffix(self) -> &'static str {
        if self == Self::Int8 { "+int8" } else { "" }
    }
}
