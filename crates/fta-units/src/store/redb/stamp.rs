//! A note beside a large store that says: this very file was verified, and closed in good order.
//!
//! Verifying a store reads all of it. A file that has not been touched since this program closed it need not be read
//! again; one that was touched has another time of change than its note says, and is verified. Small files are always
//! verified, since that takes no time.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

/// Files from this length on are noted.
pub(super) const NOTE_FROM: u64 = 64 << 20;

/// Coarser than the clock that file systems take their times from: a change after so long a wait has another time.
const CLOCK_STEP: Duration = Duration::from_millis(20);

const MAGIC: &[u8; 8] = b"FTACHECK";

/// Removes the note of a store: it is about to change.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(note(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a file is as its note says.
pub(super) fn holds(path: &Path, file: &File) -> bool {
    let written = fs::read(note(path));
    let now = file.metadata().map(|metadata| encode(&metadata));
    matches!((written, now), (Ok(written), Ok(Some(now))) if written == now)
}

/// Writes the note of a store that was verified and has just been closed; a failure means that it is verified again.
pub(super) fn write(path: &Path) {
    let look = || fs::metadata(path).ok().as_ref().and_then(encode);
    let Some(closed) = look() else { return };
    std::thread::sleep(CLOCK_STEP);
    if look().as_ref() == Some(&closed) {
        let _ = fs::write(note(path), closed);
    }
}

fn note(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(|| OsString::from("store"), OsString::from);
    name.push(".checked");
    path.with_file_name(name)
}

/// Length, time of change and place of a file, with a checksum; `None` where file times are not kept.
fn encode(metadata: &Metadata) -> Option<Vec<u8>> {
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(metadata.len().to_le_bytes());
    bytes.extend(modified.as_nanos().to_le_bytes());
    bytes.extend(place(metadata).into_iter().flat_map(i64::to_le_bytes));
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    Some(bytes)
}

/// What else tells a touched or exchanged file: device, number, and the time of any change to either.
#[cfg(unix)]
fn place(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [metadata.dev().cast_signed(), metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()]
}

#[cfg(not(unix))]
fn place(_metadata: &Metadata) -> [i64; 4] {
    [0; 4]
}
