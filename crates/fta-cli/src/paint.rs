//! Colours of the terminal, or none.

/// Puts text into terminal styles; without colours the text stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    colors: bool,
}

impl Paint {
    /// A painter that uses colours or does not.
    pub(crate) fn new(colors: bool) -> Self {
        Self { colors }
    }

    /// What stands out most.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What is beside the point.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Ids to type.
    pub(crate) fn id(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// Names of people.
    pub(crate) fn name(self, text: &str) -> String {
        self.wrap("34", text)
    }

    /// What is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// What is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31;1", text)
    }

    /// What deserves a look.
    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// The quoted part of a turn: reversed, or in marks where there are no colours.
    pub(crate) fn quote(self, text: &str) -> String {
        if self.colors { self.wrap("1;33", text) } else { format!("«{text}»") }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colors && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
