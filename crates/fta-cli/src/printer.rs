//! Where text goes: data to standard output, remarks to standard error.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::{paint::Paint, settings::Settings};

/// Version of the JSON that commands print. It changes when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

/// Prints data and remarks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    paint: Paint,
    paint_err: Paint,
    width: usize,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema_version: u32,
    command: &'a str,
    #[serde(flatten)]
    data: T,
}

impl Printer {
    /// A printer for one run.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            json: settings.json,
            quiet: settings.quiet,
            paint: settings.paint,
            paint_err: settings.paint_err,
            width: settings.width,
        }
    }

    /// Whether data is printed as JSON.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Colours of standard output.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Columns of the output.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Prints data: `text` for people, or `data` as one JSON object.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(crate) fn data<T: Serialize>(
        &self,
        command: &str,
        data: T,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.json {
            let envelope = Envelope { schema_version: SCHEMA_VERSION, command, data };
            self.text(&serde_json::to_string_pretty(&envelope)?)
        } else {
            self.text(&text())
        }
    }

    /// Prints text to standard output, with a line end if it has none.
    ///
    /// # Errors
    /// Standard output cannot be written.
    #[expect(clippy::unused_self, reason = "all output goes through the printer")]
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(())
    }

    /// Prints a remark to standard error unless told to be quiet.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            self.warn_line(text);
        }
    }

    /// Prints a warning to standard error, quiet or not.
    pub(crate) fn warning(&self, text: &str) {
        self.warn_line(&format!("{}: {text}", self.paint_err.warn("warning")));
    }

    /// A bar on a terminal's standard error, or one that nobody sees.
    pub(crate) fn bar(&self, length: u64, template: &str) -> ProgressBar {
        let bar = ProgressBar::new(length);
        if self.quiet || !stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar
    }

    // What cannot be told on a closed standard error stays untold.
    #[expect(clippy::unused_self, reason = "remarks belong to the printer that decides on them")]
    fn warn_line(&self, text: &str) {
        let _ = writeln!(stderr().lock(), "{text}");
    }
}
