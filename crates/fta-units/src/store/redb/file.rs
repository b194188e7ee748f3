//! The file itself: opening, making and rewriting it.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
};

use ::redb::{Builder, Database, ReadableDatabase, ReadableTable, WriteTransaction, backends::FileBackend};

use super::{FORMAT, Failure, RECORD_TABLES, damaged, open_table, stamp};
use crate::store::{StoreError, overlay::Overlay};

/// Version of the set of tables and keys.
pub(super) const FORMAT_VERSION: u32 = 1;

const KIND_KEY: &[u8] = b"kind";
const KIND: &[u8] = b"fta-mem unit store";
const VERSION_KEY: &[u8] = b"version";

/// How every redb file begins.
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";
/// Bit of the byte after the magic number that is set while the file is open for writing.
const NOT_CLOSED: u8 = 2;

/// The engine's cache: far below its default of 1 GiB, since what is read is kept by the caller.
const CACHE_BYTES: usize = 32 << 20;

/// Opens or makes the file at `path`; one of `note_from` bytes or more is not verified if its note holds.
pub(super) fn open(path: &Path, note_from: u64) -> Result<Database, StoreError> {
    loop {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return create(path),
            Err(error) => return Err(refused(path, &error)),
        };
        lock(path, &file)?;
        // Between opening and locking, a purge may have put another file in the place of this one.
        if !is_at(&file, path) {
            continue;
        }
        let clean = check_header(path, &file)?;
        let large = file.metadata().map_err(|e| refused(path, &e))?.len() >= note_from;
        let verified = clean && large && stamp::holds(path, &file);
        check_content(path, &file, clean, !verified)?;
        stamp::remove(path).map_err(|e| refused(path, &e))?;
        remove_leftover(path)?;
        let backend = FileBackend::new(file).map_err(|e| Failure::from(e).at(path))?;
        return builder().create_with_backend(backend).map_err(|e| Failure::from(e).at(path));
    }
}

/// Copies all records of `old` into a new file and puts that in the place of the file at `path`.
///
/// A crash before the rename leaves the old file, one after it the new file; in both cases whole.
pub(super) fn rewrite(path: &Path, old: &Database) -> Result<Database, StoreError> {
    remove_leftover(path)?;
    let fill = |fresh: &Database| -> Result<(), Failure> {
        let from = old.begin_read()?;
        let to = begin_write(fresh)?;
        for definition in RECORD_TABLES {
            let Some(source) = open_table(&from, definition)? else { continue };
            let mut target = to.open_table(definition)?;
            for entry in source.iter()? {
                let (key, value) = entry?;
                target.insert(key.value(), value.value())?;
            }
        }
        to.commit()?;
        Ok(())
    };
    place(path, fill).inspect_err(|_| {
        // The caller hears of the first failure; a file that stays behind is removed at the next opening.
        let _ = fs::remove_file(temporary(path));
    })
}

fn create(path: &Path) -> Result<Database, StoreError> {
    let directory = directory(path);
    fs::create_dir_all(directory).map_err(|e| refused(directory, &e))?;
    match OpenOptions::new().read(true).write(true).open(temporary(path)) {
        // Left behind by a crash, or being filled right now by another process.
        Ok(leftover) => {
            lock(path, &leftover)?;
            remove_leftover(path)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(path, &error)),
    }
    place(path, |_| Ok(()))
}

/// Makes a store beside `path`, fills it, makes it durable and renames it to `path`.
///
/// The handle stays good and locked across the rename, so that no other process can come between.
fn place(path: &Path, fill: impl FnOnce(&Database) -> Result<(), Failure>) -> Result<Database, StoreError> {
    let temporary = temporary(path);
    let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(StoreError::InUse { path: path.to_owned() });
        }
        Err(error) => return Err(refused(&temporary, &error)),
    };
    lock(path, &file)?;
    let make = || -> Result<Database, Failure> {
        let database = builder().create_with_backend(FileBackend::new(file)?)?;
        let transaction = begin_write(&database)?;
        {
            let mut table = transaction.open_table(FORMAT)?;
            table.insert(KIND_KEY, KIND)?;
            table.insert(VERSION_KEY, FORMAT_VERSION.to_le_bytes().as_slice())?;
        }
        transaction.commit()?;
        fill(&database)?;
        Ok(database)
    };
    let database = make().map_err(|failure| failure.at(path))?;
    fs::rename(&temporary, path).map_err(|e| refused(path, &e))?;
    sync_directory(path).map_err(|e| refused(path, &e))?;
    Ok(database)
}

/// Begins a transaction that recovery after a crash can tell from an altered file.
///
/// With one-phase commits, a damaged newest commit is taken for one that was never finished and silently rolled back.
/// The price is a second synchronisation with the disk.
pub(super) fn begin_write(database: &Database) -> Result<WriteTransaction, Failure> {
    let mut transaction = database.begin_write()?;
    transaction.set_two_phase_commit(true);
    Ok(transaction)
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn lock(path: &Path, file: &File) -> Result<(), StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: path.to_owned() }),
        // A file system without locks: the engine does without as well.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(refused(path, &error)),
    }
}

/// Looks at the first bytes without changing any; returns whether the file was closed.
fn check_header(path: &Path, file: &File) -> Result<bool, StoreError> {
    let mut header = Vec::new();
    file.take(MAGIC.len() as u64 + 1).read_to_end(&mut header).map_err(|e| refused(path, &e))?;
    let reason = match header.split_first_chunk() {
        Some((magic, [flags])) if *magic == MAGIC => return Ok(flags & NOT_CLOSED == 0),
        _ if header.is_empty() => "it is empty",
        _ => "it does not begin as a store does",
    };
    Err(StoreError::Damaged { path: path.to_owned(), reason: reason.to_owned() })
}

/// Opens the file through an [`Overlay`], verifies all of it if told to, and checks that it is a store of this format.
fn check_content(path: &Path, file: &File, clean: bool, verify: bool) -> Result<(), StoreError> {
    let overlay = file.try_clone().and_then(Overlay::new).map_err(|e| refused(path, &e))?;
    let check = || -> Result<u32, Failure> {
        let database = builder()
            .set_check_integrity_on_open(verify)
            .set_repair_callback(move |session| {
                // This far it only comes if the newest commit is damaged and the one before would be taken for it.
                // After a crash that is right, since nobody was told of that commit; otherwise it hides a loss.
                if clean && (0.2..0.5).contains(&session.progress()) {
                    session.abort();
                }
            })
            .create_with_backend(overlay)?;
        let transaction = database.begin_read()?;
        let table =
            open_table(&transaction, FORMAT)?.ok_or_else(|| damaged("it is another program's database"))?;
        if table.get(KIND_KEY)?.is_none_or(|kind| kind.value() != KIND) {
            return Err(damaged("it is another program's database"));
        }
        let version = table.get(VERSION_KEY)?;
        let version = version.and_then(|v| Some(u32::from_le_bytes(v.value().try_into().ok()?)));
        version.ok_or_else(|| damaged("it has no format version"))
    };
    match check().map_err(|failure| failure.at(path))? {
        FORMAT_VERSION => Ok(()),
        found => Err(StoreError::Version { path: path.to_owned(), found, supported: FORMAT_VERSION }),
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(|| OsString::from("store"), OsString::from);
    name.push(".new");
    path.with_file_name(name)
}

fn remove_leftover(path: &Path) -> Result<(), StoreError> {
    let leftover = temporary(path);
    match fs::remove_file(&leftover) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(&leftover, &error)),
        _ => Ok(()),
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a rename survive a power cut.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(directory(path))?.sync_all()
}

/// Directories cannot be synchronised here.
#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |m: &fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if place(&a) == place(&b))
}

/// An open file cannot be replaced here.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Backend { path: path.to_owned(), message: error.to_string() }
}
