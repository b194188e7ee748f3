//! Answers of the whole pipeline with MiniLM, over the dialogue of the demo and two others.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc};

use fta_eval::datasets::{self, Format};
use fta_mem::{Memory, RetrieveOptions, UserMemory, index::Embedder, retrieve::Answer, units::Namespace};
use serde::Deserialize;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A question over one of the dialogues.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    dialogue: String,
    question: String,
    /// The answer holds one of these, whatever the case of the letters. Empty: it must abstain.
    expected: Vec<String>,
    /// Other ways to say it.
    #[serde(default)]
    also: Vec<String>,
}

impl Asked {
    fn is_right(&self, answer: &Answer) -> bool {
        let text = answer.text.to_lowercase();
        if self.expected.is_empty() {
            return answer.abstained;
        }
        !answer.abstained && self.expected.iter().chain(&self.also).any(|e| text.contains(&e.to_lowercase()))
    }
}

async fn memory_of(dialogue: &str, embedder: &Arc<dyn Embedder>) -> UserMemory {
    let path = match dialogue {
        "ines" => Path::new(ROOT).join("../crates/fta-cli/demo/ines.json"),
        other => Path::new(ROOT).join(format!("fixtures/answers/{other}.json")),
    };
    let loaded = datasets::load(&path, Some(Format::Chat)).expect("the fixture is a chat");
    let memory = Memory::builder().embedder(embedder.clone()).build().expect("nothing can fail in memory");
    let user = memory.user(Namespace::new(dialogue).expect("a legal name")).expect("the memory is new");
    for session in &loaded.cases[0].conversation.sessions {
        user.ingest(session).await.expect("the session can be taken in");
    }
    user
}

#[tokio::test(flavor = "multi_thread")]
async fn most_questions_are_answered_and_most_unanswerable_ones_refused() {
    let questions: Vec<Asked> = serde_json::from_slice(
        &std::fs::read(Path::new(ROOT).join("fixtures/answers/questions.json")).expect("the file is there"),
    )
    .expect("the fixture is a list of questions");
    let embedder = fta_eval::bench::embedder(None).expect("the weights are in the cache");
    let mut memories: BTreeMap<&str, UserMemory> = BTreeMap::new();
    let (mut answered, mut refused, mut failures) = ((0, 0), (0, 0), String::new());
    for asked in &questions {
        if !memories.contains_key(asked.dialogue.as_str()) {
            memories.insert(&asked.dialogue, memory_of(&asked.dialogue, &embedder).await);
        }
        let memory = &memories[asked.dialogue.as_str()];
        let answer = memory.ask(&asked.question, &RetrieveOptions::default()).await.expect("it can be asked");
        let answer = answer.answer;
        let right = usize::from(asked.is_right(&answer));
        let count = if asked.expected.is_empty() { &mut refused } else { &mut answered };
        *count = (count.0 + right, count.1 + 1);
        if right == 0 {
            let _ = writeln!(failures, "{}: {} (wanted {:?})", asked.question, answer.text, asked.expected);
        }
    }
    let summary = format!("answered {answered:?}, refused {refused:?}; wrong:\n{failures}");
    assert!(answered.0 * 100 >= answered.1 * 80, "{summary}");
    assert!(refused.0 * 100 >= refused.1 * 70, "{summary}");
}
