//! What commands work with: settings, printer, the memory and its embedder.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use anyhow::{Context as _, Result, bail};
use fta_mem::{Memory, UserMemory, profile::OpenModel, units::Namespace};

use crate::{embedder::LazyEmbedder, printer::Printer, settings::Settings};

/// What commands work with.
pub(crate) struct Context {
    /// Settings of this run.
    pub(crate) settings: Settings,
    /// Where text goes.
    pub(crate) printer: Printer,
    /// The embedding model.
    pub(crate) embedder: Arc<LazyEmbedder>,
    /// The language model, once it was needed.
    model: OnceLock<OpenModel>,
}

/// Directory in the data directory for replies of builds that are going on.
const JOURNAL: &str = "journal";

impl Context {
    /// Makes the context of one run.
    pub(crate) fn new(settings: Settings) -> Self {
        let printer = Printer::new(&settings);
        let embedder = LazyEmbedder::new(&settings, printer);
        Self { settings, printer, embedder, model: OnceLock::new() }
    }

    /// Makes the model of the settings, if they name one. Replies of builds are kept in `directory` until they are stored.
    ///
    /// # Errors
    /// A setting is missing or wrong.
    pub(crate) fn open_model(&self, directory: Option<&Path>) -> Result<Option<OpenModel>> {
        if let Some(model) = self.model.get() {
            return Ok(Some(model.clone()));
        }
        let key = std::env::var("FTA_LLM_KEY").ok().filter(|key| !key.is_empty());
        let journal = directory.map(|d| d.join(JOURNAL));
        let environment = |name: &str| std::env::var(name).ok();
        let open = self
            .settings
            .profile
            .open_model(key.as_deref(), &environment, journal.as_deref())
            .context("the language model of the settings cannot be used")?;
        Ok(open.map(|open| self.model.get_or_init(|| open).clone()))
    }

    /// Tells on standard error which step asked the model how often, if any did.
    pub(crate) fn report_usage(&self) {
        let Some(model) = self.model.get() else { return };
        for (step, usage) in model.meter.take() {
            self.printer.remark(&format!(
                "model, {step}: {} calls, {} failed, {} prompt and {} reply tokens, {:.1} s",
                usage.calls, usage.errors, usage.prompt_tokens, usage.completion_tokens, usage.seconds
            ));
        }
    }

    /// Opens the memory in a directory, which is made if it is not there. `by`: who does the steps.
    ///
    /// # Errors
    /// The directory cannot be used, or the model cannot.
    pub(crate) fn open(&self, directory: &Path, by: Steps) -> Result<Memory> {
        let mut builder = Memory::builder()
            .path(directory)
            .embedder(Arc::clone(&self.embedder) as Arc<_>)
            .index(self.settings.index.clone())
            .config(self.settings.config.clone());
        let model = match by {
            Steps::Rules => None,
            Steps::Profile => self.open_model(Some(directory))?,
        };
        match model {
            Some(model) => builder = builder.profile(&self.settings.profile, &model)?,
            None => builder = builder.journal(forget(directory.join(JOURNAL))),
        }
        builder.build().with_context(|| format!("memory in `{}` cannot be opened", directory.display()))
    }

    /// Opens the memory of the settings, for writing.
    ///
    /// # Errors
    /// The directory cannot be used, or the model cannot.
    pub(crate) fn memory(&self, by: Steps) -> Result<Memory> {
        self.open(&self.settings.data, by)
    }

    /// Opens the memory of the settings, which must be there.
    ///
    /// # Errors
    /// There is none, or it cannot be opened.
    pub(crate) fn existing_memory(&self, by: Steps) -> Result<Memory> {
        let directory = &self.settings.data;
        if !directory.is_dir() {
            bail!(
                "there is no memory in `{}`; `fta ingest FILE` makes one, `--data DIR` names another",
                directory.display()
            );
        }
        self.memory(by)
    }

    /// The user of the settings, or the only one there is, with every step done by rules: for looking and changing,
    /// which should not wait for a model to be loaded.
    ///
    /// # Errors
    /// There is no such user, or there are several and none is named.
    pub(crate) fn user(&self) -> Result<UserMemory> {
        self.user_by(Steps::Rules)
    }

    /// As [`Context::user`], with the steps done as the profile says.
    ///
    /// # Errors
    /// As [`Context::user`]; or the model cannot be used.
    pub(crate) fn user_by(&self, by: Steps) -> Result<UserMemory> {
        let memory = self.existing_memory(by)?;
        let name = choose_user(&memory.namespaces()?, self.settings.user.as_ref(), &self.settings.data)?;
        memory.user(name.clone()).with_context(|| format!("memory of `{name}` cannot be read"))
    }
}

/// Who does the steps of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// The rules, whatever the profile says.
    Rules,
    /// The rules or the model, as the profile says.
    Profile,
}

/// Removes the replies that a build with a model left behind; without the model there is nobody else to do it.
fn forget(journal: PathBuf) -> impl Fn() -> std::io::Result<()> + Send + Sync + 'static {
    move || match std::fs::remove_dir_all(&journal) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn choose_user(users: &[Namespace], wanted: Option<&Namespace>, directory: &Path) -> Result<Namespace> {
    let place = directory.display();
    match (wanted, users) {
        (_, []) => bail!("memory in `{place}` is empty; fill it with `fta ingest FILE`"),
        (Some(wanted), users) if users.contains(wanted) => Ok(wanted.clone()),
        (Some(wanted), users) => {
            bail!("there is no user `{wanted}` in `{place}`; there are {}", names(users))
        }
        (None, [only]) => Ok(only.clone()),
        (None, users) => {
            bail!("memory in `{place}` is of several users; choose with `--user NAME`: {}", names(users))
        }
    }
}

fn names(users: &[Namespace]) -> String {
    const SHOWN: usize = 20;
    let mut text = users.iter().take(SHOWN).map(|u| format!("`{u}`")).collect::<Vec<_>>().join(", ");
    if users.len() > SHOWN {
        let _ = write!(text, " and {} more", users.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_named_or_the_only_one() {
        let name = |s: &str| Namespace::new(s).unwrap();
        let choose = |users: &[&str], wanted: Option<&str>| {
            let users: Vec<_> = users.iter().map(|s| name(s)).collect();
            choose_user(&users, wanted.map(name).as_ref(), Path::new("d"))
                .map(String::from)
                .map_err(|e| e.to_string())
        };
        assert_eq!(choose(&["a"], None), Ok("a".to_owned()));
        assert_eq!(choose(&["a", "b"], Some("b")), Ok("b".to_owned()));
        assert!(choose(&[], Some("a")).unwrap_err().contains("empty"));
        assert!(choose(&["a", "b"], None).unwrap_err().ends_with("`a`, `b`"));
        assert!(choose(&["a"], Some("c")).unwrap_err().contains("no user `c`"));
    }
}
