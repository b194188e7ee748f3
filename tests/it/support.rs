//! What several tests use: memories over the test embedder, small sessions, a look into a directory.

use std::{path::Path, sync::Arc};

use fta_index::testing::HashEmbedder;
use fta_mem::{
    Memory, UserMemory,
    segment::{Role, Session, SessionId, Turn},
    units::Namespace,
};
use jiff::civil::DateTime;

/// A memory in `directory` that needs no model.
pub(crate) fn open(directory: &Path) -> Memory {
    Memory::builder()
        .path(directory)
        .embedder(Arc::new(HashEmbedder::default()))
        .build()
        .expect("the directory can be opened")
}

/// A memory that is kept nowhere.
pub(crate) fn in_memory() -> Memory {
    Memory::builder().embedder(Arc::new(HashEmbedder::default())).build().expect("nothing can fail in memory")
}

/// The memory of one user.
pub(crate) fn user(memory: &Memory, name: &str) -> UserMemory {
    memory.user(Namespace::new(name).expect("a legal name")).expect("the memory can be read")
}

/// A dated session of alternating speakers: even turns are Ines's, odd ones Robin's.
pub(crate) fn session(id: &str, date: &str, texts: &[&str]) -> Session {
    let started_at: DateTime = format!("{date}T18:30:00").parse().expect("a date of the test");
    let turns = texts
        .iter()
        .enumerate()
        .map(|(i, text)| Turn {
            index: i as u32,
            source_id: format!("{id}:{}", i + 1),
            speaker: if i % 2 == 0 { "Ines" } else { "Robin" }.to_owned(),
            role: if i % 2 == 0 { Role::Seeker } else { Role::Supporter },
            at: None,
            text: (*text).to_owned(),
            caption: None,
        })
        .collect();
    Session { id: SessionId::from(id), started_at: Some(started_at), turns }
}

/// Three sessions about one person, with a change, a plan and its follow-up.
pub(crate) fn three_sessions() -> Vec<Session> {
    vec![
        session(
            "s1",
            "2024-03-04",
            &[
                "I started as a night nurse at the Marienhof clinic two weeks ago.",
                "That is a big change. How do you sleep?",
                "Badly. I lie awake until four and I feel exhausted.",
                "Did you talk to your head of ward about it?",
                "Not yet. I am going to ask her for day shifts next Monday.",
                "That sounds like a good plan.",
            ],
        ),
        session(
            "s2",
            "2024-03-18",
            &[
                "I asked her last Monday and she said yes!",
                "How did that feel?",
                "I am so relieved. From April on I work day shifts.",
                "And your sister, did she call?",
                "My sister Greta called yesterday. We had not spoken for three years.",
                "What did she want?",
                "She invited me to her wedding in June. I am not sure that I want to go.",
            ],
        ),
        session(
            "s3",
            "2024-06-24",
            &[
                "I went to Greta's wedding last Saturday after all.",
                "How was it?",
                "Beautiful. I danced with my father, and I cried a little.",
                "And the day shifts?",
                "I no longer work at the Marienhof clinic. I moved to a practice in Lindau.",
            ],
        ),
    ]
}

/// The memory as one text, in the order of ids: for comparing two memories.
pub(crate) fn export(user: &UserMemory) -> String {
    let mut bytes = Vec::new();
    user.export(&mut bytes).expect("a vector can be written");
    String::from_utf8(bytes).expect("exports are UTF-8")
}

/// Whether any file under `directory` holds `needle`.
pub(crate) fn directory_holds(directory: &Path, needle: &str) -> bool {
    let mut found = false;
    for entry in std::fs::read_dir(directory).expect("the directory is there") {
        let path = entry.expect("an entry can be read").path();
        found |= if path.is_dir() {
            directory_holds(&path, needle)
        } else {
            let bytes = std::fs::read(&path).expect("the file can be read");
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        };
    }
    found
}
