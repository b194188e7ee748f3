//! Files on this machine: the user's and those of the cache.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use sha2::{Digest, Sha256};

use super::{Progress, error::WeightsError, spec::ModelSpec};

/// Name of a model's file in its folder of the cache.
pub(super) const FILE: &str = "model.gguf";

/// Notes that the file of the cache has been hashed, so that it need not be at every start.
const STAMP: &str = "verified";

const BUFFER_BYTES: usize = 1 << 16;

/// Checks the user's file.
pub(super) fn verify_file(
    path: &Path,
    spec: &ModelSpec,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), WeightsError> {
    progress(Progress::Verifying { path });
    match hash_file(path).map_err(|source| io_error(path, source))? {
        None => Err(WeightsError::Missing { path: path.to_owned() }),
        Some(found) if found != spec.sha256 => {
            Err(WeightsError::WrongFile { path: path.to_owned(), expected: spec.sha256.to_owned(), found })
        }
        Some(_) => Ok(()),
    }
}

/// The folder of one model in the cache.
pub(super) struct Cache<'a> {
    pub(super) directory: PathBuf,
    spec: &'a ModelSpec,
}

impl<'a> Cache<'a> {
    pub(super) fn new(directory: PathBuf, spec: &'a ModelSpec) -> Self {
        Self { directory, spec }
    }

    pub(super) fn create(&self) -> Result<(), WeightsError> {
        fs::create_dir_all(&self.directory).map_err(|source| io_error(&self.directory, source))
    }

    /// What is wrong with the file, if anything is. Hashes it only if it has no stamp, and stamps it if it is good.
    pub(super) fn lack(
        &self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Option<String>, WeightsError> {
        let path = self.directory.join(FILE);
        let stamp = self.stamp(&path);
        let known = fs::read_to_string(self.directory.join(STAMP)).ok();
        if stamp.is_some() && stamp == known {
            return Ok(None);
        }
        if stamp.is_none() {
            return Ok(Some(format!("`{FILE}` is missing")));
        }
        progress(Progress::Verifying { path: &path });
        match hash_file(&path).map_err(|source| io_error(&path, source))? {
            None => Ok(Some(format!("`{FILE}` is missing"))),
            Some(found) if found != self.spec.sha256 => Ok(Some(format!("`{FILE}` is damaged"))),
            Some(_) => {
                // A cache that cannot be written to is still good; it is only hashed again next time.
                let _ = self.write_stamp(&stamp.unwrap_or_default());
                Ok(None)
            }
        }
    }

    pub(super) fn temporary(&self) -> io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        // Readable by others as the user's umask says: models are no secret, and caches get shared.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(&self.directory)
    }

    fn write_stamp(&self, stamp: &str) -> io::Result<()> {
        let mut temporary = self.temporary()?;
        temporary.write_all(stamp.as_bytes())?;
        temporary.persist(self.directory.join(STAMP)).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Size, time of change and expected content of the file, as one line.
    fn stamp(&self, path: &Path) -> Option<String> {
        let metadata = fs::metadata(path).ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{FILE} {} {} {}\n", metadata.len(), changed.as_nanos(), self.spec.sha256))
    }
}

/// SHA-256 of a file in hexadecimal digits, or `None` if there is no such file.
fn hash_file(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut hasher = Sha256::new();
    copy_hashed(&mut file, &mut io::sink(), &mut hasher)?;
    Ok(Some(hex(hasher)))
}

/// Copies all of the input and takes it into a hash; gives the number of bytes.
pub(super) fn copy_hashed(
    input: &mut impl Read,
    output: &mut impl Write,
    hasher: &mut Sha256,
) -> io::Result<u64> {
    let (mut done, mut buffer) = (0, vec![0; BUFFER_BYTES]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(done),
            Ok(n) => {
                hasher.update(&buffer[..n]);
                output.write_all(&buffer[..n])?;
                done += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn hex(hasher: Sha256) -> String {
    use std::fmt::Write as _;
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn io_error(path: &Path, source: io::Error) -> WeightsError {
    WeightsError::Io { path: path.to_owned(), source }
}
