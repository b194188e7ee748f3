use std::{sync::atomic::AtomicUsize, time::Duration};

use super::*;
use crate::{
    meter::UsageMeter,
    model::{Message, Usage},
    scripted::ScriptedModel,
};

fn request(text: &str) -> ChatRequest {
    ChatRequest::new("s", vec![Message::user(text)])
}

fn reply(text: &str, finish: FinishReason) -> ChatReply {
    ChatReply { text: text.to_owned(), finish, usage: Usage { prompt_tokens: 4, completion_tokens: 2 } }
}

fn only_file(directory: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[tokio::test]
async fn replies_outlive_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let first = DiskCache::open(
        ScriptedModel::new("m").reply("s", reply("ünï", FinishReason::Length)),
        directory.path(),
    )
    .unwrap();
    let said = first.complete(request("a")).await.unwrap();
    assert_eq!(first.stats(), CacheStats { misses: 1, ..CacheStats::default() });
    drop(first);
    let second = DiskCache::open(ScriptedModel::new("m"), directory.path()).unwrap();
    assert_eq!(second.complete(request("a")).await.unwrap(), said);
    assert_eq!(second.stats(), CacheStats { hits: 1, ..CacheStats::default() });
    // Another request, another step and another model have replies of their own.
    assert!(second.complete(request("b")).await.is_err());
    assert!(second.complete(ChatRequest { step: "t".to_owned(), ..request("a") }).await.is_err());
    let other = DiskCache::open(ScriptedModel::new("n"), directory.path()).unwrap();
    assert!(other.complete(request("a")).await.is_err());
    assert_eq!(other.len().unwrap(), 1);
    other.clear().unwrap();
    assert!(other.is_empty().unwrap());
    assert!(second.complete(request("a")).await.is_err());
}

#[tokio::test]
async fn errors_and_filtered_replies_are_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let failure = ModelError::Transient { message: "down".to_owned() };
    let model = ScriptedModel::new("m")
        .fail("s", failure.clone())
        .reply("s", reply("no", FinishReason::ContentFilter))
        .reply("s", reply("?", FinishReason::Other))
        .reply("s", reply("yes", FinishReason::Stop));
    let cache = DiskCache::open(model, directory.path()).unwrap();
    assert_eq!(cache.complete(request("a")).await, Err(failure));
    for text in ["no", "?", "yes", "yes"] {
        assert_eq!(cache.complete(request("a")).await.unwrap().text, text);
    }
    assert_eq!(cache.stats(), CacheStats { hits: 1, misses: 4, unkept: 0 });
    assert_eq!(cache.len().unwrap(), 1);
}

#[tokio::test]
async fn damage_is_noticed_and_mended() {
    let directory = tempfile::tempdir().unwrap();
    let ask = async |text: &str| {
        let model = ScriptedModel::new("m").reply("s", reply(text, FinishReason::Stop));
        DiskCache::open(model, directory.path()).unwrap().complete(request("a")).await.unwrap().text
    };
    assert_eq!(ask("first").await, "first");
    let path = only_file(directory.path());
    let sound = fs::read_to_string(&path).unwrap();
    let damages = [
        String::new(),
        sound[..sound.len() / 2].to_owned(),
        sound.replace("first", "fjrst"),
        sound.replace("\"prompt_tokens\":4", "\"prompt_tokens\":5"),
        sound.replace("\"format\":1", "\"format\":0"),
        "null".to_owned(),
    ];
    for damage in damages {
        assert_ne!(damage, sound);
        fs::write(&path, damage).unwrap();
        assert_eq!(ask("second").await, "second");
        assert_eq!(ask("third").await, "second");
        fs::write(&path, &sound).unwrap();
    }
    assert_eq!(ask("fourth").await, "first");
}

#[tokio::test]
async fn a_kill_before_the_rename_leaves_a_cache_that_works() {
    let directory = tempfile::tempdir().unwrap();
    // What a killed process leaves: a half-written temporary file that nobody owns.
    let left = directory.path().join(format!("{TEMPORARY}k1ll3d"));
    fs::write(&left, "{\"format\":1,\"ke").unwrap();
    fs::write(directory.path().join("notes.txt"), "mine").unwrap();
    let model = ScriptedModel::new("m").reply("s", reply("x", FinishReason::Stop));
    let cache = DiskCache::open(model, directory.path()).unwrap();
    assert!(cache.is_empty().unwrap());
    for _ in 0..2 {
        assert_eq!(cache.complete(request("a")).await.unwrap().text, "x");
    }
    assert_eq!(cache.len().unwrap(), 1);
    cache.clear().unwrap();
    assert!(!left.exists());
    assert!(only_file(directory.path()).ends_with("notes.txt"));
}

#[tokio::test]
async fn a_reply_that_cannot_be_written_is_still_given() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("cache");
    let model = ScriptedModel::new("m").reply("s", reply("x", FinishReason::Stop));
    let cache = DiskCache::open(model, &place).unwrap();
    fs::remove_dir(&place).unwrap();
    assert_eq!(cache.complete(request("a")).await.unwrap().text, "x");
    assert_eq!(cache.stats(), CacheStats { misses: 1, unkept: 1, hits: 0 });
}

#[tokio::test]
async fn hits_show_their_text_and_cost_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new("m").reply("s", reply("text", FinishReason::Stop));
    let meter = Arc::new(UsageMeter::new(model, || Duration::ZERO));
    let cache = DiskCache::open(meter.clone(), directory.path()).unwrap();
    for _ in 0..2 {
        let mut shown = String::new();
        let said = cache.complete_streaming(request("a"), &mut |text: &str| shown.push_str(text)).await;
        assert_eq!((shown.as_str(), said.unwrap().usage.prompt_tokens), ("text", 4));
    }
    assert_eq!((meter.total().calls, meter.total().prompt_tokens), (1, 4));
}

/// Fails once, then replies; each time only after others had their turn.
struct Slow(AtomicUsize);

#[async_trait]
impl LanguageModel for Slow {
    fn model_id(&self) -> &'static str {
        "m"
    }

    async fn complete(&self, _: ChatRequest) -> Result<ChatReply, ModelError> {
        let n_before = self.0.fetch_add(1, Ordering::SeqCst);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        if n_before == 0 {
            return Err(ModelError::Transient { message: "down".to_owned() });
        }
        Ok(reply("x", FinishReason::Stop))
    }
}

#[tokio::test]
async fn equal_requests_at_once_are_asked_once() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Arc::new(DiskCache::open(Slow(AtomicUsize::new(0)), directory.path()).unwrap());
    let ask = |cache: Arc<DiskCache<Slow>>| async move { cache.complete(request("a")).await };
    let tasks: Vec<_> = (0..10).map(|_| tokio::spawn(ask(cache.clone()))).collect();
    let mut n_failed = 0;
    for task in tasks {
        n_failed += usize::from(task.await.unwrap().is_err());
    }
    // The first failed; the next asked for all that were left.
    assert_eq!((n_failed, cache.stats().misses, cache.stats().hits), (1, 2, 8));
    assert!(locked(&cache.flights).is_empty());
}

#[tokio::test]
async fn a_dropped_request_lets_the_next_ask() {
    let directory = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(Slow(AtomicUsize::new(1)), directory.path()).unwrap();
    let mut dropped = cache.complete(request("a"));
    std::future::poll_fn(|context| {
        assert!(dropped.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(dropped);
    assert!(locked(&cache.flights).is_empty());
    assert_eq!(cache.complete(request("a")).await.unwrap().text, "x");
}
