//! Tables in aligned columns, the last one cut to the width of the output.

use crate::paint::Paint;

/// Spaces between two columns.
const GAP: usize = 2;

/// The last column is never narrower.
const NARROWEST: usize = 20;

/// A table: a head and rows of the same length.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, as long as the head.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.head.len(), "rows are as long as the head");
        self.rows.push(cells);
    }

    /// The table as text; the first column holds ids.
    pub(crate) fn render(&self, paint: Paint, width: usize) -> String {
        let last = self.head.len().saturating_sub(1);
        let widths: Vec<usize> = (0..last)
            .map(|c| {
                self.rows.iter().map(|r| r[c].chars().count()).chain([self.head[c].len()]).max().unwrap_or(0)
            })
            .collect();
        let used: usize = widths.iter().map(|w| w + GAP).sum();
        let room = width.saturating_sub(used).max(NARROWEST);
        let mut out = String::new();
        let head: Vec<String> = self.head.iter().map(|h| (*h).to_owned()).collect();
        let line: String = pad(&head, &widths, |_, cell| cell) + self.head.last().unwrap_or(&"");
        out.push_str(&paint.dim(line.trim_end()));
        out.push('\n');
        for row in &self.rows {
            out.push_str(&pad(row, &widths, |c, cell| if c == 0 { paint.id(&cell) } else { cell }));
            out.push_str(&cut(&row[last], room));
            out.push('\n');
        }
        out
    }
}

fn pad(cells: &[String], widths: &[usize], style: impl Fn(usize, String) -> String) -> String {
    let mut out = String::new();
    for (c, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let space = width + GAP - cell.chars().count().min(*width);
        out.push_str(&style(c, cell.clone()));
        out.extend(std::iter::repeat_n(' ', space));
    }
    out
}

/// The text on one line, at most `room` characters.
pub(crate) fn cut(text: &str, room: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= room {
        return text;
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Breaks text into lines of at most `room` characters, between words.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = visible(word);
        match lines.last_mut() {
            Some(line) if width + 1 + length <= room => {
                line.push(' ');
                line.push_str(word);
                width += 1 + length;
            }
            _ => {
                lines.push(word.to_owned());
                width = length;
            }
        }
    }
    lines
}

/// Characters of a word that take room: colour codes, from the escape to its `m`, do not.
fn visible(word: &str) -> usize {
    let mut in_code = false;
    let mut count = 0;
    for c in word.chars() {
        match c {
            '\u{1b}' => in_code = true,
            'm' if in_code => in_code = false,
            _ if in_code => {}
            _ => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_last_is_cut() {
        let mut table = Table::new(&["ID", "CLAIM"]);
        table.row(vec!["u1".to_owned(), "Short.".to_owned()]);
        table.row(vec!["u100".to_owned(), "A claim that\nis much too long.".to_owned()]);
        let text = table.render(Paint::new(false), 26);
        assert_eq!(text, "ID    CLAIM\nu1    Short.\nu100  A claim that is muc…\n");
    }

    #[test]
    fn wrapping_keeps_every_word() {
        let text = "one two three four five six";
        for room in 1..30 {
            assert_eq!(wrap(text, room).join(" "), text);
        }
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
    }
}
