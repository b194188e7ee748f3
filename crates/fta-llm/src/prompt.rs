//! Prompts: versioned files with constant instructions and a last message into which data is put as escaped JSON.
//!
//! # Format of a prompt file
//! ```text
//! <!-- extract/1
//! Notes for people; they are not sent.
//! -->
//! # system
//! Instructions, sent as they stand.
//! # user
//! Optional worked example.
//! # assistant
//! Its answer.
//! # user
//! The data: {{ turns|rows }}
//! ```
//! The first comment names the prompt and its version. Only the last message, which must be the user's, is a template
//! (minijinja); all before it is sent as it stands, the same for every request, so that back ends can reuse the prefix.
//! A template puts in a value with the filter `data` (one line of compact JSON) or `rows` (the items of a list as JSON, a
//! line each); text that went through neither is refused.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::model::{Message, Role};

/// A prompt that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A file of prompts is there but cannot be read.
    #[error("prompt `{file}` cannot be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The file is not laid out as a prompt.
    #[error("prompt `{file}`, line `{line}`: {message}")]
    Layout {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The template is not well formed.
    #[error("prompt `{file}`, line `{line}`: template is not well formed: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The template asks for a value that there is not.
    #[error("prompt `{file}`, line `{line}`: no value is called `{name}`; there are {known}")]
    UnknownVariable {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The template cannot be filled in.
    #[error("prompt `{file}`, line `{line}`: cannot be filled in: {message}")]
    Render {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// Where prompts come from: the built-in ones, or a directory whose files take their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSource {
    directory: Option<PathBuf>,
}

impl PromptSource {
    /// The built-in prompts.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// The files `NAME.md` of a directory, and the built-in prompts where it has none. It is read at each
    /// [`load`](Self::load).
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self { directory: Some(path.into()) }
    }

    /// Loads the prompt `name`; `builtin` is the text of the built-in one.
    ///
    /// A file of the directory may use the values that the built-in one uses.
    ///
    /// # Errors
    /// [`PromptError`], naming file and line.
    pub fn load(&self, name: &str, builtin: &'static str) -> Result<Prompt, PromptError> {
        let own = Prompt::parse(name, builtin, &format!("built-in {name}.md"), None)?;
        let Some(path) = self.directory.as_ref().map(|d| d.join(format!("{name}.md"))) else {
            return Ok(own);
        };
        match read(&path)? {
            Some(text) => Prompt::parse(name, &text, &path.display().to_string(), Some(&own.variables)),
            None => Ok(own),
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, PromptError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.replace("\r\n", "\n"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PromptError::Read { file: path.display().to_string(), source }),
    }
}

/// A prompt, ready to be filled in.
#[derive(Clone)]
pub struct Prompt {
    id: String,
    file: String,
    /// All messages but the last.
    instructions: Vec<Message>,
    template: Arc<Template>,
    variables: BTreeSet<String>,
}

struct Template {
    environment: Environment<'static>,
    source: String,
    /// Line of the file at which it begins.
    line: usize,
}

impl std::fmt::Debug for Prompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt").field("id", &self.id).field("file", &self.file).finish_non_exhaustive()
    }
}

impl Prompt {
    /// Name and version, kept as provenance: `extract/1`, and `extract/1+0123abcd` for a file of a directory, with the
    /// first digits of its SHA-256.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The messages that are the same for every request: all but the last.
    pub fn instructions(&self) -> &[Message] {
        &self.instructions
    }

    /// The messages of a request, with these values put in.
    ///
    /// # Errors
    /// [`PromptError::Render`] if a value is missing, or text would be put in without a filter.
    pub fn render(&self, values: &impl Serialize) -> Result<Vec<Message>, PromptError> {
        let text =
            self.template.environment.render_str(&self.template.source, Value::from(Serde(values))).map_err(
                |error| PromptError::Render {
                    file: self.file.clone(),
                    line: self.template.line + error.line().unwrap_or(1) - 1,
                    message: describe(&error),
                },
            )?;
        let mut messages = self.instructions.clone();
        messages.push(Message::user(text.trim()));
        Ok(messages)
    }

    /// `known`: the names that a template may use; `None` for all.
    fn parse(
        name: &str,
        text: &str,
        file: &str,
        known: Option<&BTreeSet<String>>,
    ) -> Result<Self, PromptError> {
        let layout = |line: usize, message: &str| PromptError::Layout {
            file: file.to_owned(),
            line,
            message: message.to_owned(),
        };
        let version = version(name, text).ok_or_else(|| {
            layout(
                1,
                &format!("the first line must be a comment with name and version, as in `<!-- {name}/1 -->`"),
            )
        })?;
        let mut sections = sections(text);
        let (line, last) = match sections.pop() {
            Some((line, Role::User, last)) => (line, last),
            Some((line, ..)) => return Err(layout(line, "the last section must be `# user`")),
            None => return Err(layout(1, "there is no section `# user`")),
        };
        let mut instructions = Vec::new();
        for (line, role, content) in sections {
            if let Some(offset) = content.lines().position(|l| l.contains("{{") || l.contains("{%")) {
                return Err(layout(line + offset, "values can be put into the last section alone"));
            }
            instructions.push(Message { role, content: content.trim().to_owned() });
        }
        let template = Template { environment: environment(), source: last, line };
        let variables = template.variables(file, known)?;
        let mut id = format!("{name}/{version}");
        if known.is_some() {
            let digest = Sha256::digest(text.as_bytes());
            id.push('+');
            for byte in digest.iter().take(4) {
                let _ = write!(id, "{byte:02x}");
            }
        }
        Ok(Self { id, file: file.to_owned(), instructions, template: Arc::new(template), variables })
    }
}

impl Template {
    /// The names that the template uses, if all are known.
    fn variables(
        &self,
        file: &str,
        known: Option<&BTreeSet<String>>,
    ) -> Result<BTreeSet<String>, PromptError> {
        let compiled = self.environment.template_from_named_str(file, &self.source).map_err(|error| {
            PromptError::Syntax {
                file: file.to_owned(),
                line: self.line + error.line().unwrap_or(1) - 1,
                message: describe(&error),
            }
        })?;
        let used: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
        if let Some(known) = known
            && let Some(name) = used.iter().find(|name| !known.contains(*name))
        {
            let offset = self.source.lines().position(|l| l.contains('{') && l.contains(name.as_str()));
            return Err(PromptError::UnknownVariable {
                file: file.to_owned(),
                line: self.line + offset.unwrap_or(0),
                name: name.clone(),
                known: known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
            });
        }
        Ok(used)
    }
}

/// The version in the first comment.
fn version(name: &str, text: &str) -> Option<u32> {
    let comment = text.trim_start_matches('\u{feff}').strip_prefix("<!--")?.split("-->").next()?;
    comment.split_whitespace().next()?.strip_prefix(name)?.strip_prefix('/')?.parse().ok()
}

/// The sections, each with the number of its first line. What stands before the first one is for people.
fn sections(text: &str) -> Vec<(usize, Role, String)> {
    let mut sections: Vec<(usize, Role, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let role = match line.trim_end() {
            "# system" => Some(Role::System),
            "# user" => Some(Role::User),
            "# assistant" => Some(Role::Assistant),
            _ => None,
        };
        match (role, sections.last_mut()) {
            (Some(role), _) => sections.push((number + 2, role, String::new())),
            (None, Some((.., content))) => {
                content.push_str(line);
                content.push('\n');
            }
            (None, None) => {}
        }
    }
    sections
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, _, value| {
        let harmless = value.is_safe() || value.is_number() || matches!(value.as_str(), Some(""));
        if value.is_undefined() {
            return Err(ErrorKind::UndefinedError.into());
        }
        if !harmless {
            let message = "text is put in by the filters `data` and `rows` alone";
            return Err(minijinja::Error::new(ErrorKind::InvalidOperation, message));
        }
        write!(out, "{value}").map_err(minijinja::Error::from)
    });
    environment.add_filter("data", |value: &Value| json(value).map(Value::from_safe_string));
    environment.add_filter("rows", |value: &Value| {
        let mut lines = Vec::new();
        for item in value.try_iter()? {
            lines.push(json(&item)?);
        }
        Ok::<_, minijinja::Error>(Value::from_safe_string(lines.join("\n")))
    });
    environment
}

/// What is wrong, without the place, which the error names apart.
fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Compact JSON in which no text can end its place or form a special token of a chat template.
fn json(value: &Value) -> Result<String, minijinja::Error> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Escaping);
    value
        .serialize(&mut serializer)
        .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    String::from_utf8(bytes)
        .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// Compact JSON with more characters of strings escaped than JSON needs: `<`, `>` and `&`, a `[` that begins a tag such as
/// `[INST]`, and every character that may break a line.
struct Escaping;

impl serde_json::ser::Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices() {
            let next = fragment[at + c.len_utf8()..].chars().next();
            let escaped = match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{feff}' => true,
                '[' => next.is_some_and(|n| n == '/' || n.is_ascii_uppercase()),
                _ => c.is_control(),
            };
            if escaped {
                writer.write_all(&fragment.as_bytes()[plain..at])?;
                // All of these are in the basic plane.
                write!(writer, "\\u{:04x}", u32::from(c))?;
                plain = at + c.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[plain..])
    }
}

#[cfg(test)]
mod tests;
