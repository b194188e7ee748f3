//! Files on this machine: the user's folder and the cache.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::Progress;
use super::error::WeightsError;
use super::spec::{FileSpec, ModelSpec};

const BUFFER_BYTES: usize = 1 << 16;

/// Lists the files of the cache that have been hashed, so that they need not be at every start.
const STAMPS: &str = "verified";

/// Checks that a folder holds all files of a model.
pub(super) fn verify_directory(
    directory: &Path,
    spec: &ModelSpec,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), WeightsError> {
    for file in spec.files {
        let path = directory.join(file.name);
        progress(Progress::Verifying { path: &path });
        match hash_file(&path).map_err(|source| io_error(&path, source))? {
            None => return Err(WeightsError::Missing { path }),
            Some(found) if found != file.sha256 => {
                return Err(WeightsError::WrongFile { path, expected: file.sha256.to_owned(), found });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The folder of one model in the cache.
pub(super) struct Cache<'a> {
    pub(super) directory: PathBuf,
    spec: &'a ModelSpec,
}

/// What is wrong with a file of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Absent,
    Damaged,
}

impl<'a> Cache<'a> {
    pub(super) fn new(directory: PathBuf, spec: &'a ModelSpec) -> Self {
        Self { directory, spec }
    }

    pub(super) fn create(&self) -> Result<(), WeightsError> {
        fs::create_dir_all(&self.directory).map_err(|source| io_error(&self.directory, source))
    }

    /// The files that must be fetched. Hashes only what has no stamp, and stamps what is good.
    pub(super) fn missing(
        &self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Vec<(&'a FileSpec, Lack)>, WeightsError> {
        let stamps = fs::read_to_string(self.directory.join(STAMPS)).unwrap_or_default();
        let (mut missing, mut good) = (Vec::new(), String::new());
        for file in self.spec.files {
            let path = self.directory.join(file.name);
            let stamp = stamp(&path, file);
            if let Some(stamp) = stamp.as_deref().filter(|stamp| stamps.lines().any(|line| line == *stamp)) {
                good.extend([stamp, "\n"]);
                continue;
            }
            progress(Progress::Verifying { path: &path });
            match hash_file(&path).map_err(|source| io_error(&path, source))? {
                None => missing.push((file, Lack::Absent)),
                Some(found) if found != file.sha256 => missing.push((file, Lack::Damaged)),
                Some(_) => good.extend([stamp.as_deref().unwrap_or_default(), "\n"]),
            }
        }
        if good != stamps && self.directory.is_dir() {
            // A cache that cannot be written to is still good; it is only hashed again next time.
            let _ = self.write(STAMPS, good.as_bytes());
        }
        Ok(missing)
    }

    /// Copies one file into the cache and checks its content; it appears under its name only when it is right.
    ///
    /// # Errors
    /// What is wrong, for the user.
    pub(super) fn store(
        &self,
        file: &FileSpec,
        mut input: impl Read,
        mut on_bytes: impl FnMut(u64),
    ) -> Result<(), String> {
        let cannot = |error: io::Error| format!("`{}` cannot be stored: {error}", file.name);
        let mut temporary = self.temporary().map_err(cannot)?;
        let (mut hasher, mut done, mut buffer) = (Sha256::new(), 0, vec![0; BUFFER_BYTES]);
        loop {
            let n = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(format!("`{}` broke off after `{done}` bytes: {error}", file.name)),
            };
            done += n as u64;
            if done > file.bytes {
                return Err(format!("`{}` has more than `{}` bytes", file.name, file.bytes));
            }
            hasher.update(&buffer[..n]);
            temporary.write_all(&buffer[..n]).map_err(cannot)?;
            on_bytes(done);
        }
        let found = hex(&hasher.finalize());
        if found != file.sha256 {
            return Err(format!(
                "`{}` is another file: expected sha256 `{}` and `{}` bytes, found `{found}` and `{done}`",
                file.name, file.sha256, file.bytes
            ));
        }
        temporary.as_file().sync_all().map_err(cannot)?;
        temporary.persist(self.directory.join(file.name)).map_err(|failed| cannot(failed.error))?;
        Ok(())
    }

    fn temporary(&self) -> io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        // Readable by others as the user's umask says: models are no secret, and caches get shared.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(&self.directory)
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut temporary = self.temporary()?;
        temporary.write_all(content)?;
        temporary.persist(self.directory.join(name)).map_err(|failed| failed.error)?;
        Ok(())
    }
}

/// Says what the cache lacks.
pub(super) fn describe_missing(missing: &[(&FileSpec, Lack)]) -> String {
    let one = |(file, lack): &(&FileSpec, Lack)| match lack {
        Lack::Absent => format!("`{}` is missing", file.name),
        Lack::Damaged => format!("`{}` is damaged", file.name),
    };
    missing.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// SHA-256 of a file in hexadecimal digits, or `None` if there is no such file.
pub(super) fn hash_file(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; BUFFER_BYTES]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(hex(&hasher.finalize()))),
            Ok(n) => hasher.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Name, size, time of change and expected content of a file, as one line.
fn stamp(path: &Path, file: &FileSpec) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {} {}", file.name, metadata.len(), changed.as_nanos(), file.sha256))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn io_error(path: &Path, source: io::Error) -> WeightsError {
    WeightsError::Io { path: path.to_owned(), source }
}
