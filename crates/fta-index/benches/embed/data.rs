//! Turns and questions of a data set in the form of LoCoMo.

use std::path::Path;

use serde_json::Value;

use crate::Result;

/// Questions whose latency is measured.
const QUERIES: usize = 200;

/// What is embedded.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) name: String,
    /// The first turns of all conversations, whose throughput is measured.
    pub(crate) turns: Vec<String>,
    pub(crate) queries: Vec<String>,
    pub(crate) conversations: Vec<Conversation>,
}

/// One conversation, for recall.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// Id and text of each turn.
    pub(crate) turns: Vec<(String, String)>,
    /// Question and ids of the turns that answer it.
    pub(crate) questions: Vec<(String, Vec<String>)>,
}

impl Data {
    pub(crate) fn read(path: &Path, n_turns: usize) -> Result<Self> {
        let file = std::fs::read(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
        let samples: Vec<Value> = serde_json::from_slice(&file)?;
        let conversations: Vec<Conversation> = samples.iter().map(Conversation::of).collect();
        let all = conversations.iter().flat_map(|conversation| &conversation.turns);
        let turns = all.map(|(_, text)| text.clone()).take(n_turns).collect();
        let all = conversations.iter().flat_map(|conversation| &conversation.questions);
        let queries = all.map(|(text, _)| text.clone()).take(QUERIES).collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, turns, queries, conversations })
    }
}

impl Conversation {
    fn of(sample: &Value) -> Self {
        let empty = serde_json::Map::new();
        let sessions = sample["conversation"].as_object().unwrap_or(&empty);
        let mut numbered: Vec<(usize, &Value)> = sessions
            .iter()
            .filter_map(|(name, turns)| Some((name.strip_prefix("session_")?.parse().ok()?, turns)))
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let turns = numbered.iter().flat_map(|(_, turns)| turns.as_array().into_iter().flatten());
        let turns = turns
            .map(|turn| {
                (text(&turn["dia_id"]), format!("{}: {}", text(&turn["speaker"]), text(&turn["text"])))
            })
            .collect();
        let questions = sample["qa"].as_array().into_iter().flatten();
        let questions = questions
            .filter(|question| question["category"].as_u64().is_some_and(|category| category < 5))
            .map(|question| {
                let evidence =
                    question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
                // Some name several turns in one string.
                let ids = evidence.flat_map(|ids| ids.split([';', ' ', ','])).filter(|id| id.contains(':'));
                (text(&question["question"]), ids.map(str::to_owned).collect())
            })
            .filter(|(_, evidence): &(String, Vec<String>)| !evidence.is_empty())
            .collect();
        Self { turns, questions }
    }
}
