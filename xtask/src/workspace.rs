//! What cargo knows about the workspace.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The workspace.
pub(crate) struct Workspace {
    /// Its root.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    /// Its packages by name.
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    /// Whether it may be published.
    pub(crate) published: bool,
    /// Whether it has a library.
    pub(crate) has_library: bool,
    /// Features but `default`.
    pub(crate) features: Vec<String>,
    /// What each feature turns on, as the manifest says it.
    pub(crate) turns_on: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as the manifest declares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only of tests, examples and benchmarks.
    pub(crate) dev: bool,
    /// Features that the manifest asks for.
    pub(crate) features: Vec<String>,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .stderr(Stdio::inherit())
            .output()
            .context("cargo cannot be run")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed");
        }
        Self::parse(&output.stdout)
    }

    fn parse(json: &[u8]) -> Result<Self> {
        let metadata: Value = serde_json::from_slice(json).context("`cargo metadata` gave no JSON")?;
        let mut packages: Vec<Package> = list(&metadata["packages"]).map(package).collect();
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            root: text(&metadata["workspace_root"]).into(),
            target: text(&metadata["target_directory"]).into(),
            packages,
        })
    }

    /// Path of a binary of the dev profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

fn package(value: &Value) -> Package {
    let targets = list(&value["targets"]);
    let features = value["features"].as_object().into_iter().flat_map(|features| features.keys());
    Package {
        name: text(&value["name"]),
        manifest: text(&value["manifest_path"]).into(),
        published: !value["publish"].as_array().is_some_and(Vec::is_empty),
        has_library: targets.flat_map(|t| list(&t["kind"])).any(|kind| kind == "lib"),
        features: features.filter(|name| *name != "default").cloned().collect(),
        turns_on: value["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, on)| (name.clone(), list(on).map(text).collect()))
            .collect(),
        dependencies: list(&value["dependencies"])
            .map(|d| Dependency {
                name: text(&d["name"]),
                dev: d["kind"] == "dev",
                features: list(&d["features"]).map(text).collect(),
            })
            .collect(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The cargo that runs us.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}
