//! Bad and strange input: a typed error or a sound result, never a panic, and the memory stays as it was.

use std::sync::Arc;

use fta_index::testing::HashEmbedder;
use fta_mem::{Error, ListFilter, Memory, RetrieveOptions, units::StoreError};

use crate::support::{export, in_memory, open, session, three_sessions, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_or_foreign_store_is_an_error_and_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    {
        let memory = open(directory.path());
        let ines = user(&memory, "ines");
        for s in &three_sessions() {
            ines.ingest(s).await.unwrap();
        }
    }
    let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    let mut cases: Vec<(String, Vec<u8>)> = vec![
        ("foreign".to_owned(), b"SQLite format 3\0 and more".to_vec()),
        ("empty".to_owned(), Vec::new()),
    ];
    cases.extend(
        [1, 100, 4_096, whole.len() / 2, whole.len() - 1]
            .map(|n| (format!("cut to {n}"), whole[..n].to_vec())),
    );
    let mut seed = 7_u64;
    for _ in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let position = (seed >> 20) as usize % whole.len();
        let mut bytes = whole.clone();
        bytes[position] ^= 1 << (seed % 8);
        cases.push((format!("bit flipped at {position}"), bytes));
    }
    for (what, bytes) in cases {
        std::fs::write(&file, &bytes).unwrap();
        let opened =
            Memory::builder().path(directory.path()).embedder(Arc::new(HashEmbedder::default())).build();
        let result = opened.and_then(|memory| {
            let name = memory.namespaces()?.into_iter().next();
            name.map(|name| memory.user(name).map(|u| u.stats().units)).transpose()
        });
        match result {
            // The flip fell into space that nothing uses.
            Ok(_) => assert!(what.starts_with("bit"), "{what} was opened"),
            Err(Error::Store(
                StoreError::Damaged { .. } | StoreError::Version { .. } | StoreError::Backend { .. },
            )) => {
                if !what.starts_with("bit") {
                    assert_eq!(std::fs::read(&file).unwrap(), bytes, "{what}: the file was changed");
                }
            }
            Err(error) => panic!("{what}: {error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_or_handle_is_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let _first = open(directory.path());
    let second = Memory::builder().path(directory.path()).embedder(Arc::new(HashEmbedder::default())).build();
    assert!(matches!(second.err(), Some(Error::Store(StoreError::InUse { .. }))));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_embedding_model_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    {
        let memory = open(directory.path());
        user(&memory, "ines").ingest(&three_sessions()[0]).await.unwrap();
    }
    let memory =
        Memory::builder().path(directory.path()).embedder(Arc::new(HashEmbedder::new(128))).build().unwrap();
    let name = memory.namespaces().unwrap().remove(0);
    assert!(matches!(memory.user(name).err(), Some(Error::Embedder { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_cannot_be_used_change_nothing() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    ines.ingest(&three_sessions()[0]).await.unwrap();
    let before = export(&ines);
    let mut no_turns = session("empty", "2024-01-01", &[]);
    assert!(matches!(ines.ingest(&no_turns).await, Err(Error::Dialogue(_))));
    no_turns.id.0.clear();
    assert!(matches!(ines.ingest(&no_turns).await, Err(Error::Dialogue(_))));
    let mut misnumbered = three_sessions()[1].clone();
    misnumbered.turns[1].index = 7;
    assert!(matches!(ines.ingest(&misnumbered).await, Err(Error::Dialogue(_))));
    assert!(matches!(ines.ask("  ", &RetrieveOptions::default()).await, Err(Error::Rewrite(_))));
    assert_eq!(export(&ines), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_texts_are_kept_and_found() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    let long = "I counted another sheep and could not sleep at all. ".repeat(4_000);
    assert!(long.len() > 200_000);
    let texts = [
        "我昨天在北京见到了我的姐姐，她送给我一只猫。",
        "ذهبت إلى السوق أمس واشتريت الخبز والزيتون.",
        "😀🎉👩‍👩‍👧‍👦🏳️‍🌈",
        "e\u{301}\u{200b}\u{feff}\0\u{7}",
        long.as_str(),
        "",
        "I met him on 31 February 2024 and again on 30/30/2030.",
    ];
    let report = ines.ingest(&session("strange", "2024-05-05", &texts)).await.unwrap();
    assert_eq!(report.turns, texts.len());
    assert_eq!(report.covered_turns, report.content_turns);
    let stored = ines.sessions().remove(0).session;
    for (turn, text) in stored.turns.iter().zip(texts) {
        assert_eq!(turn.text, text);
    }
    for unit in ines.list(&ListFilter::default()) {
        for quote in &unit.evidence.quotes {
            let text = &stored.turns[quote.turn as usize].text;
            assert!(text.get(quote.start as usize..quote.end as usize).is_some());
        }
    }
    let asked = ines.ask("Did you buy olives at the market?", &RetrieveOptions::default()).await.unwrap();
    assert!(asked.packet.tokens() < 20_000, "a long turn is not handed back whole");
    ines.ask("?!?", &RetrieveOptions::default()).await.unwrap();
    ines.ask("他昨天在哪里？", &RetrieveOptions::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_memory_abstains() {
    let asked =
        user(&in_memory(), "nobody").ask("Where does Ines work?", &RetrieveOptions::default()).await.unwrap();
    assert!(asked.answer.abstained && asked.answer.evidence.is_empty());
}
