//! What needs more than a Rust compiler: the feature `faiss`, whose C++ is built from source. Everything else must
//! work on a machine without CMake, so this decides which features a step turns on.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::LazyLock,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    steps::{self, responds, say, words},
    workspace::{Package, Workspace},
};

/// The feature that needs C++, in whichever crate passes it on.
const FEATURE: &str = "faiss";

/// The oldest CMake that can build faiss.
const CMAKE: (u32, u32) = (3, 24);

/// Something that must be installed, and the package of Debian that has it.
struct Need {
    what: &'static str,
    package: &'static str,
    is_there: fn() -> bool,
}

const NEEDS: [Need; 4] = [
    Need { what: "CMake 3.24 or newer", package: "cmake", is_there: has_cmake },
    Need { what: "make", package: "make", is_there: || responds("make", &["--version"]) },
    Need { what: "a C++ compiler", package: "g++", is_there: || responds("c++", &["--version"]) },
    // The variant that takes its number of threads from the caller; others start threads of their own.
    Need { what: "OpenBLAS with OpenMP", package: "libopenblas-openmp-dev", is_there: has_blas },
];

/// What is missing, asked once.
static MISSING: LazyLock<Vec<&Need>> =
    LazyLock::new(|| NEEDS.iter().filter(|need| !(need.is_there)()).collect());

/// Builds the binaries with these features.
pub(crate) fn build(workspace: &Workspace, features: &[String], release: bool, install: bool) -> Result<()> {
    let needs_native =
        workspace.packages.iter().any(|p| features.iter().any(|f| is_native(&workspace.packages, p, f)));
    if needs_native {
        provide(workspace, install)?;
    }
    let features = features.join(",");
    let mut arguments = vec!["build", "--workspace", "--bins"];
    if release {
        arguments.push("--release");
    }
    if !features.is_empty() {
        arguments.extend(["--features", &features]);
    }
    steps::cargo(workspace, &arguments, &[])
}

/// Runs the benchmark of vector indexes, with faiss where it can be built.
pub(crate) fn bench_index(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let features = if MISSING.is_empty() {
        "testing,faiss"
    } else {
        say(&left_out());
        "testing"
    };
    let command = ["bench", "--package", "fta-index", "--bench", "index", "--features", features, "--"];
    steps::cargo(workspace, &[&command[..], &words(arguments)].concat(), &[])
}

/// Makes sure that the C++ can be built.
fn provide(workspace: &Workspace, install: bool) -> Result<()> {
    if MISSING.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = MISSING.iter().map(|need| need.package).collect();
    let arguments = [&["install", "--yes", "--no-install-recommends"], &packages[..]].concat();
    if !install {
        let what: Vec<&str> = MISSING.iter().map(|need| need.what).collect();
        bail!(
            "the feature `{FEATURE}` needs {}, which is missing; install it, on Debian and its kin by `apt-get {}`, or \
             give `--install`",
            what.join(", "),
            arguments.join(" ")
        );
    }
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0"));
    let command = if is_root { vec!["apt-get"] } else { vec!["sudo", "apt-get"] };
    for step in [&["update"][..], &arguments] {
        let words = [&command[..], step].concat();
        steps::run(workspace, Path::new(words[0]), &words[1..], &[("DEBIAN_FRONTEND", "noninteractive")])?;
    }
    match NEEDS.iter().find(|need| !(need.is_there)()) {
        Some(need) => bail!("{} is still missing", need.what),
        None => Ok(()),
    }
}

/// The arguments that turn on all features of these packages that can be built here.
pub(crate) fn all_features<'a>(
    workspace: &Workspace,
    packages: impl IntoIterator<Item = &'a Package>,
) -> Vec<String> {
    if MISSING.is_empty() {
        return vec!["--all-features".to_owned()];
    }
    say(&left_out());
    vec!["--features".to_owned(), without_native(&workspace.packages, packages).join(",")]
}

/// The features of a package that can be built here.
pub(crate) fn possible(workspace: &Workspace, package: &Package) -> Vec<String> {
    let can = |feature: &&String| MISSING.is_empty() || !is_native(&workspace.packages, package, feature);
    let possible: Vec<String> = package.features.iter().filter(can).cloned().collect();
    if possible.len() < package.features.len() {
        say(&left_out());
    }
    possible
}

fn left_out() -> String {
    let what: Vec<&str> = MISSING.iter().map(|need| need.what).collect();
    format!(
        "feature `{FEATURE}` is left out: {} is missing (`cargo xtask build --features {FEATURE} --install`)",
        what.join(", ")
    )
}

fn without_native<'a>(all: &[Package], packages: impl IntoIterator<Item = &'a Package>) -> Vec<String> {
    let of = |package: &'a Package| {
        let rest = package.features.iter().filter(|feature| !is_native(all, package, feature));
        rest.map(|feature| format!("{}/{feature}", package.name)).collect::<Vec<_>>()
    };
    packages.into_iter().flat_map(of).collect()
}

/// Whether a feature is the native one, or turns it on somewhere.
fn is_native(all: &[Package], package: &Package, feature: &str) -> bool {
    let Some(turns_on) = package.turns_on.get(feature) else { return false };
    feature == FEATURE
        || turns_on.iter().any(|on| match on.split_once('/') {
            // `crate/feature` or `crate?/feature`.
            Some((name, feature)) => {
                let name = name.trim_end_matches('?');
                all.iter().find(|p| p.name == name).is_some_and(|other| is_native(all, other, feature))
            }
            None => !on.starts_with("dep:") && is_native(all, package, on),
        })
}

/// Variables that a command of cargo gets: the C++ is compiled through ccache where that is installed, and for this
/// processor where the configuration of the workspace asks for more or, in a release build, for less.
pub(crate) fn environment(arguments: &[&str]) -> Vec<(&'static str, &'static str)> {
    let unset = |name| std::env::var_os(name).is_none();
    let mut environment = Vec::new();
    if unset(LAUNCHER) && MISSING.is_empty() && *CCACHE {
        environment.push((LAUNCHER, "ccache"));
    }
    // Tests keep the common level, so that `cargo test` and this build the same.
    let is_release = arguments.contains(&"--release") || arguments.first() == Some(&"bench");
    let flags = match level() {
        Level::Old => Some("-march=x86-64"),
        Level::V4 if is_release => Some("-march=x86-64-v4"),
        Level::V3 | Level::V4 => None,
    };
    environment.extend(flags.filter(|_| unset(FLAGS)).map(|flags| (FLAGS, flags)));
    environment
}

const LAUNCHER: &str = "CMAKE_CXX_COMPILER_LAUNCHER";
/// Set to `-march=x86-64-v3` by `.cargo/config.toml`.
const FLAGS: &str = "CXXFLAGS_x86_64_unknown_linux_gnu";

static CCACHE: LazyLock<bool> = LazyLock::new(|| responds("ccache", &["--version"]));

/// What this processor can run.
enum Level {
    Old,
    V3,
    V4,
}

#[cfg(target_arch = "x86_64")]
fn level() -> Level {
    let v3 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe");
    let v4 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (v3, v4) {
        (false, _) => Level::Old,
        (true, false) => Level::V3,
        (true, true) => Level::V4,
    }
}

/// The variable is for x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn level() -> Level {
    Level::V3
}

fn has_cmake() -> bool {
    let Ok(output) = Command::new("cmake").arg("--version").output() else { return false };
    cmake_version(&String::from_utf8_lossy(&output.stdout)).is_some_and(|version| version >= CMAKE)
}

/// Reads `cmake version 3.25.1`.
fn cmake_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("cmake version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Links what the build of faiss links.
fn has_blas() -> bool {
    let link = || -> Result<bool> {
        let output = std::env::temp_dir().join(format!("fta-xtask-link-{}", std::process::id()));
        let mut child = Command::new("c++")
            .args(["-x", "c++", "-", "-lblas", "-llapack", "-lgomp", "-o"])
            .arg(&output)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("no compiler")?;
        child.stdin.take().context("no input")?.write_all(b"int main() {}\n")?;
        let linked = child.wait()?.success();
        let _ = std::fs::remove_file(output);
        Ok(linked)
    };
    link().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, features: &[(&str, &[&str])]) -> Package {
        let turns_on = features
            .iter()
            .map(|(feature, on)| ((*feature).to_owned(), on.iter().map(|on| (*on).to_owned()).collect()));
        Package {
            name: name.to_owned(),
            features: features.iter().map(|(feature, _)| (*feature).to_owned()).collect(),
            turns_on: turns_on.collect(),
            ..Package::default()
        }
    }

    #[test]
    fn features_that_lead_to_the_native_one_are_left_out() {
        let all = [
            package("index", &[("faiss", &["dep:faiss"]), ("candle", &["dep:candle"]), ("testing", &[])]),
            package("mem", &[("ann", &["index?/faiss"]), ("candle", &["index/candle"]), ("most", &["ann"])]),
            package("cli", &[("everything", &["candle", "mem/most"]), ("candle", &["other/faiss"])]),
        ];
        assert_eq!(without_native(&all, &all), ["index/candle", "index/testing", "mem/candle", "cli/candle"]);
        assert_eq!(without_native(&all, &all[1..2]), ["mem/candle"]);
    }

    #[test]
    fn versions_of_cmake_are_compared_as_numbers() {
        assert_eq!(cmake_version("cmake version 3.25.1\n\nCMake suite"), Some((3, 25)));
        assert_eq!(cmake_version("cmake version 4.0.0-rc1"), Some((4, 0)));
        assert!(cmake_version("cmake version 3.9.6").is_some_and(|version| version < CMAKE));
        assert_eq!(cmake_version(""), None);
    }
}
