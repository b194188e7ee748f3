//! The chat template of a model: messages to the pieces of a prompt.

use minijinja::{Environment, Error, ErrorKind, Value, context, syntax::SyntaxConfig};

use super::tokenizer::Piece;
use crate::model::{Message, Role};

/// For models without a template: roles as headings, then the reply of the assistant.
///
/// Base models were never shown a chat; this is text that they can go on with.
const PLAIN: &str = "{% for message in messages %}{% if message.role == 'user' %}User: {% elif message.role == \
    'assistant' %}Assistant: {% endif %}{{ message.content }}\n\n{% endfor %}Assistant:";

/// A character for private use that marks the places of messages. It stands only in texts of our own: the template
/// is searched for it first.
const MARK: char = '\u{F8FF}';

/// A compiled chat template.
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    begin: String,
    end: String,
    is_plain: bool,
}

impl ChatTemplate {
    /// Compiles the template of a file, or the plain one for a file without; `begin` and `end` are names of tokens.
    ///
    /// # Errors
    /// What is wrong with the template.
    pub(super) fn new(source: Option<&str>, begin: &str, end: &str) -> Result<Self, String> {
        let is_plain = source.is_none();
        let source = source.unwrap_or(PLAIN).to_owned();
        if source.contains(MARK) {
            return Err("it holds a character that marks the places of messages here".to_owned());
        }
        let mut environment = Environment::new();
        // The settings that templates are written for.
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()
                .map_err(|error| said(&error))?,
        );
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_template_owned("chat", source).map_err(|error| said(&error))?;
        Ok(Self { environment, begin: begin.to_owned(), end: end.to_owned(), is_plain })
    }

    /// Whether this is the plain template for models that have none.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The prompt for the next message of the assistant.
    ///
    /// The template sees a mark in place of each message's text, so nothing that a message says can be taken for
    /// part of the template's own text.
    ///
    /// # Errors
    /// What the template says, for example about an order of roles that it does not take.
    pub(super) fn render(&self, messages: &[Message]) -> Result<Vec<Piece>, String> {
        match self.render_as_is(messages) {
            Err(_) if messages.iter().any(|message| message.role == Role::System) => {
                // Some templates know no system messages: the instructions go before what the user says first.
                self.render_as_is(&without_system(messages))
            }
            outcome => outcome,
        }
    }

    fn render_as_is(&self, messages: &[Message]) -> Result<Vec<Piece>, String> {
        let list: Vec<Value> = messages.iter().enumerate().map(|(i, message)| marked(i, message)).collect();
        let template = self.environment.get_template("chat").map_err(|error| said(&error))?;
        let rendered = template.render(context! {
            messages => list,
            add_generation_prompt => true,
            // Models that can think aloud first are asked to reply at once.
            enable_thinking => false,
            bos_token => &self.begin,
            eos_token => &self.end,
        });
        pieces(&rendered.map_err(|error| said(&error))?, messages)
    }
}

/// A message as the template sees it. White space at the ends is shown as it is, since templates trim it.
fn marked(index: usize, message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = &message.content;
    let trimmed = content.trim();
    let content = if trimmed.is_empty() {
        content.clone()
    } else {
        let before = content.len() - content.trim_start().len();
        let after = content.trim_end().len();
        format!("{}{MARK}{index}{MARK}{}", &content[..before], &content[after..])
    };
    context! { role => role, content => content }
}

/// Puts the texts of messages in the places of their marks.
fn pieces(rendered: &str, messages: &[Message]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    for (i, part) in rendered.split(MARK).enumerate() {
        if i % 2 == 0 {
            if !part.is_empty() {
                pieces.push(Piece::Template(part.to_owned()));
            }
            continue;
        }
        let message = part.parse::<usize>().ok().and_then(|index| messages.get(index));
        let message = message.ok_or("the template changed the text of a message")?;
        pieces.push(Piece::Content(message.content.trim().to_owned()));
    }
    Ok(pieces)
}

/// The same messages with system messages put before the next message of the user.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let (mut kept, mut instructions) = (Vec::new(), String::new());
    for message in messages {
        match message.role {
            Role::System => {
                instructions.push_str(&message.content);
                instructions.push_str("\n\n");
            }
            Role::User => {
                kept.push(Message::user(std::mem::take(&mut instructions) + &message.content));
            }
            Role::Assistant => kept.push(message.clone()),
        }
    }
    if !instructions.is_empty() {
        kept.push(Message::user(instructions.trim_end()));
    }
    kept
}

/// Without the excerpt of the template.
fn said(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATML: &str = "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

    fn template(text: &str) -> Piece {
        Piece::Template(text.to_owned())
    }

    fn content(text: &str) -> Piece {
        Piece::Content(text.to_owned())
    }

    #[test]
    fn messages_keep_out_of_the_template() {
        let chat = ChatTemplate::new(Some(CHATML), "", "").unwrap();
        let user = Message::user(format!("a {MARK}0{MARK} <|im_end|> {{{{ messages }}}}"));
        let pieces = chat.render(std::slice::from_ref(&user)).unwrap();
        let expect = [
            template("<|im_start|>user\n"),
            content(&user.content),
            template("<|im_end|>\n<|im_start|>assistant\n"),
        ];
        assert_eq!(pieces, expect);
    }

    #[test]
    fn white_space_is_trimmed_where_the_template_trims() {
        let trims = "{% for m in messages %}[{{ m.content | trim }}]{% endfor %}";
        let keeps = "{% for m in messages %}[{{ m.content }}]{% endfor %}";
        let message = [Message::user(" a b\n")];
        let trimmed = ChatTemplate::new(Some(trims), "", "").unwrap().render(&message).unwrap();
        assert_eq!(trimmed, [template("["), content("a b"), template("]")]);
        let kept = ChatTemplate::new(Some(keeps), "", "").unwrap().render(&message).unwrap();
        assert_eq!(kept, [template("[ "), content("a b"), template("\n]")]);
        let empty = ChatTemplate::new(Some(keeps), "", "").unwrap().render(&[Message::user(" ")]).unwrap();
        assert_eq!(empty, [template("[ ]")]);
    }

    #[test]
    fn a_template_without_system_messages_gets_them_from_the_user() {
        let strict = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}({{ m.role }} {{ m.content }}){% endfor %}";
        let chat = ChatTemplate::new(Some(strict), "", "").unwrap();
        let pieces = chat.render(&[Message::system("Be brief."), Message::user("Hello")]).unwrap();
        assert_eq!(pieces, [template("(user "), content("Be brief.\n\nHello"), template(")")]);
        let never = ChatTemplate::new(Some("{{ raise_exception('never') }}"), "", "").unwrap();
        assert!(never.render(&[Message::user("a")]).unwrap_err().contains("never"));
    }

    #[test]
    fn a_model_without_template_gets_headings() {
        let chat = ChatTemplate::new(None, "", "").unwrap();
        assert!(chat.is_plain());
        let pieces = chat.render(&[Message::system("Be brief."), Message::user("Hello")]).unwrap();
        let expect =
            [content("Be brief."), template("\n\nUser: "), content("Hello"), template("\n\nAssistant:")];
        assert_eq!(pieces, expect);
        assert!(ChatTemplate::new(Some("{% for %}"), "", "").is_err());
    }
}
