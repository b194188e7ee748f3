//! Turns as the rows of a prompt.

use jiff::civil::DateTime;
use serde::{Serialize, Serializer, ser::SerializeTuple};

use crate::dialogue::Turn;

/// Minutes between two turns from which on the time of the later one is shown.
const PAUSE_MINUTES: i64 = 30;

/// A turn as prompts show it: `[12,"Ana","text"]`, with a fourth item `{"at":…,"picture":…}` where there is one to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Turn index in the session.
    pub index: u32,
    /// Who speaks.
    pub speaker: String,
    /// What was said, shortened if it was to be.
    pub text: String,
    /// Time and picture.
    pub beside: Option<Beside>,
}

/// What is shown of a turn beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// When it was said, if that is known for the turn and the turn before was said well before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Description of a picture shared with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

impl Serialize for TurnRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_tuple(3 + usize::from(self.beside.is_some()))?;
        row.serialize_element(&self.index)?;
        row.serialize_element(&self.speaker)?;
        row.serialize_element(&self.text)?;
        if let Some(beside) = &self.beside {
            row.serialize_element(beside)?;
        }
        row.end()
    }
}

/// The rows of neighbouring turns, in order; texts longer than `max_chars` characters are cut (0: never).
pub fn turn_rows(turns: &[Turn], max_chars: usize) -> Vec<TurnRow> {
    let mut before: Option<DateTime> = None;
    turns
        .iter()
        .map(|turn| {
            let at = turn.at.filter(|at| before.is_none_or(|before| is_pause(before, *at)));
            before = turn.at.or(before);
            let picture = turn.caption.as_deref().map(|caption| shortened(caption, max_chars));
            let beside = Beside { at: at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string()), picture };
            TurnRow {
                index: turn.index,
                speaker: turn.speaker.clone(),
                text: shortened(&turn.text, max_chars),
                beside: (beside.at.is_some() || beside.picture.is_some()).then_some(beside),
            }
        })
        .collect()
}

fn is_pause(before: DateTime, at: DateTime) -> bool {
    at.duration_since(before).as_mins().abs() >= PAUSE_MINUTES
}

fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((cut, _)) if max_chars > 0 => format!("{}…", &text[..cut]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::dialogue::Role;

    fn turn(index: u32, minute: i8, text: &str) -> Turn {
        Turn {
            index,
            source_id: String::new(),
            speaker: "Ana".to_owned(),
            role: Role::Peer,
            at: Some(date(2024, 5, 6).at(10, minute, 0, 0)),
            text: text.to_owned(),
            caption: None,
        }
    }

    #[test]
    fn a_row_shows_times_after_a_pause_and_pictures() {
        let mut turns = [turn(4, 0, "first"), turn(5, 10, "a \"longer\" one"), turn(6, 50, "")];
        turns[2].caption = Some("a red boat".to_owned());
        let rows: Vec<String> =
            turn_rows(&turns, 8).iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        assert_eq!(
            rows,
            [
                r#"[4,"Ana","first",{"at":"2024-05-06 10:00"}]"#,
                r#"[5,"Ana","a \"longe…"]"#,
                r#"[6,"Ana","",{"at":"2024-05-06 10:50","picture":"a red bo…"}]"#,
            ]
        );
        assert_eq!(turn_rows(&turns, 0)[1].text, "a \"longer\" one");
    }
}
