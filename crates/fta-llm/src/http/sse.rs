//! Server-sent events, as far as chat completions use them.

/// Splits a stream of bytes into the data of its events; a piece may end anywhere, even within a character.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Bytes of the line that is not over yet.
    line: Vec<u8>,
    /// Data lines of the event that is not over yet.
    data: Option<String>,
    /// Whether the last byte ended a line by `\r`, so that a `\n` after it ends none.
    after_return: bool,
}

impl Events {
    /// Takes the next bytes and gives the data of the events that end in them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// The event that the stream ended in without the empty line after it.
    pub(super) fn finish(mut self) -> Option<String> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        // Other fields (`event`, `id`, `retry`) and comments, which keep a connection alive, say nothing to us.
        if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(lines) => {
                    lines.push('\n');
                    lines.push_str(data);
                }
                none => *none = Some(data.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stream: &str, expected: &[&str]) {
        // However the stream is cut, the events are the same.
        for size in [1, 2, 3, 5, 7, stream.len().max(1)] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                found.extend(events.push(piece));
            }
            found.extend(events.finish());
            assert_eq!(found, expected, "pieces of {size} bytes");
        }
    }

    #[test]
    fn events_are_split_at_empty_lines() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check(": comment\n\nevent: x\nid: 7\ndata: a\ndata: b\n\n", &["a\nb"]);
        check("\u{feff}data: größe 🙂\n\n", &["größe 🙂"]);
        check("data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
        check("", &[]);
        check("data:\n\n", &[""]);
    }
}
