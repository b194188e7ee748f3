//! Bytes of tokens to text, piece by piece.

/// Text that grows by the bytes of tokens and is handed on in whole characters.
#[derive(Debug, Default)]
pub(super) struct TextStream {
    text: String,
    /// The start of a character whose end has not come.
    open: Vec<u8>,
    /// Bytes of `text` that have been handed on.
    handed: usize,
    /// A text at which the reply ends.
    stop: Option<&'static str>,
}

impl TextStream {
    pub(super) fn new(stop: Option<&'static str>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Takes the bytes of a token in; true if the text at which the reply ends has come.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        self.open.extend_from_slice(bytes);
        let mut rest = &self.open[..];
        let from = self.text.len();
        loop {
            match str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(good));
                    let Some(length) = error.error_len() else {
                        rest = bad;
                        break;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = &bad[length..];
                }
            }
        }
        self.open = rest.to_vec();
        let Some(stop) = self.stop else { return false };
        let mut search = from.saturating_sub(stop.len());
        while !self.text.is_char_boundary(search) {
            search -= 1;
        }
        match self.text[search..].find(stop) {
            None => false,
            Some(at) => {
                self.text.truncate(search + at);
                self.open.clear();
                true
            }
        }
    }

    /// What has come since the last call, but nothing that may turn out to be the start of the stop text.
    pub(super) fn take(&mut self) -> &str {
        let held = self.stop.map_or(0, |stop| {
            let starts =
                stop.char_indices().map(|(at, _)| at).skip(1).filter(|&at| self.text.ends_with(&stop[..at]));
            starts.max().unwrap_or(0)
        });
        let to = (self.text.len() - held).max(self.handed);
        let from = std::mem::replace(&mut self.handed, to);
        &self.text[from.min(to)..to]
    }

    /// The whole text; an unfinished character at its end is shown as one that cannot be read.
    pub(super) fn finish(mut self) -> (String, String) {
        if !self.open.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        let rest = self.text[self.handed.min(self.text.len())..].to_owned();
        (self.text, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stop: Option<&'static str>, parts: &[&[u8]]) -> (Vec<String>, String) {
        let mut stream = TextStream::new(stop);
        let mut pieces = Vec::new();
        for part in parts {
            let stopped = stream.push(part);
            pieces.push(stream.take().to_owned());
            if stopped {
                break;
            }
        }
        let (text, rest) = stream.finish();
        pieces.push(rest);
        assert_eq!(pieces.concat(), text);
        (pieces, text)
    }

    #[test]
    fn pieces_end_on_characters() {
        let (pieces, text) = run(None, &[b"a", &[0xC3], &[0xA9, b'b'], &[0xF0, 0x9F], &[0x98, 0x80]]);
        assert_eq!(text, "aéb😀");
        assert_eq!(pieces, ["a", "", "éb", "", "😀", ""]);
        assert_eq!(run(None, &[&[0xFF, b'x', 0xC3]]).1, "\u{FFFD}x\u{FFFD}");
    }

    #[test]
    fn a_stop_text_is_cut_off_and_never_shown() {
        let (pieces, text) = run(Some("\n\nUser:"), &[b"yes\n", b"\nUs", b"er: and", b"more"]);
        assert_eq!(text, "yes");
        assert_eq!(pieces, ["yes", "", "", ""]);
        let (_, text) = run(Some("\n\nUser:"), &[b"yes\n", b"\nUs", b" too"]);
        assert_eq!(text, "yes\n\nUs too");
    }
}
