//! Which texts of a unit are embedded: the retrieval text `rho(m)` and, for the offline preset, finer views.

use fta_segment::{Session, Turn};
use fta_units::{Unit, UnitId};

/// A view of a unit: which of its texts a vector stands for.
pub type View = u16;

/// `rho(m)`: the structured retrieval text of section 6.
pub const RHO: View = 0;
/// First of the sentence views: `FIRST_SENTENCE + i` is the `i`-th quote. View 1 was that of the turns around a unit; memories
/// of version 0.1 may still hold it, and it is looked at no more.
pub const FIRST_SENTENCE: View = 2;
/// Most sentence views of a unit; later sentences are reached through the retrieval text.
pub const MAX_SENTENCES: usize = 24;
/// One past the highest view: sentences and one caption.
pub const MAX_VIEWS: View = FIRST_SENTENCE + MAX_SENTENCES as View + 1;

/// Key of a view in a vector index: below `2^63` for unit ids below `2^47`.
pub fn vector_id(unit: UnitId, view: View) -> u64 {
    (unit.0 << 16) | u64::from(view)
}

/// The unit and view behind a key of [`vector_id`].
pub fn unit_view(id: u64) -> (UnitId, View) {
    (UnitId(id >> 16), (id & 0xffff) as View)
}

/// One past the highest view that this unit can have.
pub fn most_views(unit: &Unit) -> View {
    // A corrected unit has one sentence, whatever it quotes; the last view is a caption.
    FIRST_SENTENCE + unit.evidence.quotes.len().clamp(1, MAX_SENTENCES) as View + 1
}

/// A text to embed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewText {
    /// Which view.
    pub view: View,
    /// The text.
    pub text: String,
}

/// The texts of a unit, [`RHO`] first; never empty. `session` is the unit's session.
///
/// # Source
/// `rho(m)` of section 6; the other views are this project's (spec section 9 leaves `s_emb` to one vector).
pub fn view_texts(unit: &Unit, session: &Session) -> Vec<ViewText> {
    let mut views = vec![ViewText { view: RHO, text: retrieval_text(unit) }];
    if unit.provenance.corrected_at.is_some() {
        // The person's words count, not those that were corrected.
        views.push(ViewText { view: FIRST_SENTENCE, text: unit.fact.claim.clone() });
        return views;
    }
    let said_in = claim_turn(unit);
    for (i, quote) in unit.evidence.quotes.iter().take(MAX_SENTENCES).enumerate() {
        // The question that a claim answers is near whatever asks the same, and so would be every answer to it.
        if quote.turn == said_in
            && let Some(turn) = session.turns.get(quote.turn as usize)
            && let Some(text) = turn.text.get(quote.start as usize..quote.end as usize)
        {
            views.push(ViewText { view: FIRST_SENTENCE + i as View, text: text.trim().to_owned() });
        }
    }
    if let Some(caption) = quoted_turns(unit, session).iter().find_map(|t| t.caption.as_deref()) {
        let view = FIRST_SENTENCE + unit.evidence.quotes.len().min(MAX_SENTENCES) as View;
        views.push(ViewText { view, text: caption.to_owned() });
    }
    views
}

/// `rho(m)`: claim, time, affect and participants in one line.
pub fn retrieval_text(unit: &Unit) -> String {
    let mut text = unit.fact.claim.clone();
    let mut add = |label: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(label);
            text.push_str(value);
        }
    };
    if let Some(said) = unit.time.said_at {
        add(" | said ", &said.date().to_string());
    }
    if let Some(interval) = unit.time.event.as_ref().and_then(|e| e.interval) {
        add(" | happened ", &interval.first.to_string());
        if interval.last != interval.first {
            add(" to ", &interval.last.to_string());
        }
    }
    add(" | feels ", &unit.affect.emotions.join(", "));
    add(" | about ", &unit.fact.participants.join(", "));
    text
}

/// What the unit's speakers said, as far as the unit quotes it: `Speaker: text [caption]`, a line for each turn.
pub fn quoted_text(unit: &Unit, session: &Session) -> String {
    let mut text = String::new();
    for turn in quoted_turns(unit, session) {
        let quotes = unit.evidence.quotes.iter().filter(|q| q.turn == turn.index);
        let (start, end) =
            quotes.fold((usize::MAX, 0), |(a, b), q| (a.min(q.start as usize), b.max(q.end as usize)));
        text.push_str(&turn.speaker);
        text.push_str(": ");
        text.push_str(turn.text.get(start..end).unwrap_or(&turn.text));
        if let Some(caption) = &turn.caption {
            text.push_str(" [");
            text.push_str(caption);
            text.push(']');
        }
        text.push('\n');
    }
    text
}

/// The first `bytes` of a text or a little less, cut at a character.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last `bytes` of a text or a little less, cut at a character.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The turn in which the claim was said: the last that the unit quotes, for a question before it is only answered.
pub fn claim_turn(unit: &Unit) -> u32 {
    let said = unit.evidence.quotes.iter().map(|quote| quote.turn).max();
    said.unwrap_or(unit.evidence.turns.end.saturating_sub(1))
}

/// The turns that hold a quote of the unit, in order.
pub fn quoted_turns<'s>(unit: &Unit, session: &'s Session) -> Vec<&'s Turn> {
    let mut indexes: Vec<u32> = unit.evidence.quotes.iter().map(|q| q.turn).collect();
    indexes.sort_unstable();
    indexes.dedup();
    indexes.into_iter().filter_map(|i| session.turns.get(i as usize)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{quote, session, unit};

    #[test]
    fn a_unit_has_its_retrieval_text_and_its_sentences() {
        let mut stored = session("s1", 4, &["Where did you row?", "To the island. It took an hour."]);
        stored.session.turns[1].caption = Some("a red boat".to_owned());
        let mut unit = unit(1, &stored, 1);
        unit.evidence.quotes = vec![quote(0, 0, 18), quote(1, 0, 14), quote(1, 15, 31)];
        unit.affect.emotions = vec!["joy".to_owned()];
        let views = view_texts(&unit, &stored.session);
        let texts: Vec<(View, &str)> = views.iter().map(|v| (v.view, v.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                (RHO, "Bo: To the island. It took an hour. | said 2024-01-04 | feels joy | about Bo"),
                (FIRST_SENTENCE + 1, "To the island."),
                (FIRST_SENTENCE + 2, "It took an hour."),
                (FIRST_SENTENCE + 3, "a red boat"),
            ]
        );
    }

    #[test]
    fn of_a_corrected_unit_only_the_correction_counts() {
        let stored = session("s1", 4, &["I rowed to the island."]);
        let mut unit = unit(1, &stored, 0);
        unit.fact.claim = "Ada swam there.".to_owned();
        unit.provenance.corrected_at = unit.time.said_at;
        let views = view_texts(&unit, &stored.session);
        assert!(views.len() == 2 && views.iter().all(|v| !v.text.contains("rowed")), "{views:?}");
        assert!(views.iter().all(|v| v.view < most_views(&unit)));
    }

    #[test]
    fn sentences_and_a_caption_stay_below_the_bound() {
        let text = "Row. ".repeat(MAX_SENTENCES + 9);
        let mut stored = session("s1", 4, &[&text]);
        stored.session.turns[0].caption = Some("a red boat".to_owned());
        let mut unit = unit(1, &stored, 0);
        unit.evidence.quotes = (0..MAX_SENTENCES as u32 + 9).map(|i| quote(0, i * 5, i * 5 + 4)).collect();
        let mut views: Vec<View> = view_texts(&unit, &stored.session).iter().map(|v| v.view).collect();
        assert_eq!(views.iter().max(), Some(&(MAX_VIEWS - 1)));
        assert_eq!(most_views(&unit), MAX_VIEWS);
        let n_views = views.len();
        views.dedup();
        assert_eq!(views.len(), n_views);
    }

    proptest! {
        #[test]
        fn a_key_names_unit_and_view(id in 0_u64..(1 << 47), view in any::<View>()) {
            let key = vector_id(UnitId(id), view);
            prop_assert!(key < 1 << 63);
            prop_assert_eq!(unit_view(key), (UnitId(id), view));
        }

        #[test]
        fn ends_of_a_text_are_cut_at_characters(text in "\\PC{0,40}", bytes in 0_usize..60) {
            let (first, last) = (head(&text, bytes), tail(&text, bytes));
            prop_assert!(text.starts_with(first) && text.ends_with(last));
            prop_assert!(first.len() <= bytes && last.len() <= bytes);
            prop_assert!(first.len() + 4 > bytes.min(text.len()) && last.len() + 4 > bytes.min(text.len()));
        }
    }
}
