//! `fta doctor`, `fta config`, `fta retry`: what is about language models.

use std::{fmt::Write as _, path::Path, time::Instant};

use anyhow::Result;
use fta_mem::{
    IngestReport,
    index::Embedder as _,
    llm::{ChatRequest, LanguageModel as _, Message, ModelError},
    profile::{ModelKind, OpenModel, Profile},
};
use serde::Serialize;

use super::ingest::count;
use crate::{
    context::{Context, Steps},
    exit::Exit,
};

/// One check of `fta doctor`.
#[derive(Serialize)]
struct Check {
    what: &'static str,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, ok: true, found: found.into(), remedy: None }
    }

    fn bad(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what, ok: false, found: found.into(), remedy: Some(remedy.into()) }
    }
}

#[derive(Serialize)]
struct Checks {
    checks: Vec<Check>,
}

/// Checks settings, weights and model, each by using it once.
pub(crate) async fn doctor(context: &Context) -> Result<Exit> {
    let settings = &context.settings;
    let file = settings.file.as_ref().map_or("no settings file".to_owned(), |f| f.display().to_string());
    let mut checks = vec![Check::good("settings", file)];
    checks.push(data(&settings.data));
    checks.push(embedder(context));
    checks.extend(model(context, &settings.profile).await);
    let all_good = checks.iter().all(|c| c.ok);
    let paint = context.printer.paint();
    let mut text = String::new();
    for check in &checks {
        let mark = if check.ok { paint.good("ok ") } else { paint.bad("bad") };
        let _ = writeln!(text, "{mark}  {:<10} {}", check.what, check.found);
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(text, "     try: {remedy}");
        }
    }
    context.printer.data("doctor", Checks { checks }, || text)?;
    Ok(Exit::found(all_good))
}

fn data(directory: &Path) -> Check {
    let shown = directory.display();
    if directory.is_dir() {
        Check::good("memory", format!("{shown}"))
    } else {
        Check::good("memory", format!("{shown}, which `fta ingest` will make"))
    }
}

fn embedder(context: &Context) -> Check {
    let started = Instant::now();
    let embedded = context.embedder.load().and_then(|()| Ok(context.embedder.embed(&["A test."])?));
    match embedded {
        Ok(vectors) => Check::good(
            "embedder",
            format!(
                "{}, {} values a vector, loaded and used in {:.1} s",
                context.embedder.model_id(),
                vectors.dim(),
                started.elapsed().as_secs_f64()
            ),
        ),
        Err(error) => {
            Check::bad("embedder", format!("{error:#}"), "`fta setup` with a network, or `--model-dir DIR`")
        }
    }
}

/// The model's checks: it is there, it replies, it keeps to a schema.
async fn model(context: &Context, profile: &Profile) -> Vec<Check> {
    if profile.profile == ModelKind::Offline {
        return vec![Check::good("model", "none: every step is done by rules (profile `offline`)")];
    }
    let open = match context.open_model(None) {
        Ok(Some(open)) => open,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Check::bad("model", format!("{error:#}"), "correct the setting")],
    };
    let plain = ask(&open, "Reply with the word yes.", false).await;
    let Ok((found, _)) = &plain else {
        let error = plain.expect_err("the other case was handled");
        let remedy = remedy(&error, profile);
        return vec![Check::bad("model", describe(&error), remedy)];
    };
    let mut checks = vec![Check::good("model", format!("{}: {found}", open.query.model_id()))];
    checks.push(match ask(&open, "Is water wet? Reply in JSON.", true).await {
        Ok((found, reply)) => {
            let value: Option<serde_json::Value> = serde_json::from_str(reply.trim()).ok();
            if value.is_some_and(|v| v["wet"].is_boolean()) {
                Check::good("schema", format!("replies keep to a JSON schema: {found}"))
            } else {
                Check::bad(
                    "schema",
                    "the reply did not keep to the JSON schema",
                    "`schema = \"json_object\"` or `\"none\"` under `[llm]`; replies are read tolerantly and repaired once",
                )
            }
        }
        Err(error) => Check::bad("schema", describe(&error), remedy(&error, profile)),
    });
    checks
}

/// Asks one tiny thing; gives what it took, and the reply.
async fn ask(open: &OpenModel, text: &str, schema: bool) -> Result<(String, String), ModelError> {
    let mut request = ChatRequest::new("doctor", vec![Message::user(text)]);
    request.max_tokens = Some(64);
    if schema {
        request.schema = Some(serde_json::json!({
            "type": "object",
            "properties": {"wet": {"type": "boolean"}},
            "required": ["wet"],
            "additionalProperties": false
        }));
    }
    let started = Instant::now();
    let reply = open.query.complete(request).await?;
    let took = format!(
        "{} and {} tokens in {:.1} s",
        reply.usage.prompt_tokens,
        reply.usage.completion_tokens,
        started.elapsed().as_secs_f64()
    );
    Ok((took, reply.text))
}

fn describe(error: &ModelError) -> String {
    error.to_string()
}

fn remedy(error: &ModelError, profile: &Profile) -> String {
    match error {
        ModelError::Transient { .. } => {
            format!("see that a server listens at `{}` (`--llm-url`), then again", profile.llm.base_url)
        }
        ModelError::RateLimited { .. } => "again later, or a smaller `concurrency` under `[llm]`".to_owned(),
        ModelError::ContextTooLong { .. } => "a model with a longer context".to_owned(),
        ModelError::InvalidOutput { .. } => {
            "another `schema` under `[llm]`, or see that the address is that of an OpenAI-compatible server"
                .to_owned()
        }
        _ => {
            "the key (FTA_LLM_KEY or `key_env`), the model's name (`--llm-model`) and the address".to_owned()
        }
    }
}

#[derive(Serialize)]
struct Effective<'a> {
    file: Option<String>,
    settings: &'a crate::config::FileConfig,
}

/// Prints the settings of this run as a settings file.
pub(crate) fn config(context: &Context) -> Result<Exit> {
    let settings = &context.settings;
    let file = settings.file.as_ref().map(|f| f.display().to_string());
    let head = match &file {
        Some(file) => format!("# from {file}, flags and environment\n"),
        None => "# from flags and environment; there is no fta.toml\n".to_owned(),
    };
    let text = settings.file_config.text()?;
    let data = Effective { file, settings: &settings.file_config };
    context.printer.data("config", data, || head + &text)?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Retried {
    sessions: Vec<IngestReport>,
}

/// Does again what was done offline because a model failed.
pub(crate) async fn retry(context: &Context) -> Result<Exit> {
    context.embedder.load()?;
    let user = context.user_by(Steps::Profile)?;
    let sessions = user.retry().await?;
    let left = sessions.iter().filter(|s| !s.fallbacks.is_empty()).count();
    for report in &sessions {
        for mark in &report.fallbacks {
            context.printer.warning(&format!("session `{}`: {mark}", report.session));
        }
    }
    context.report_usage();
    let text = match sessions.len() {
        0 => "nothing to retry: no step had failed".to_owned(),
        n => format!("{} done again, {} still marked", count(n, "session"), left),
    };
    context.printer.data("retry", Retried { sessions }, || text)?;
    Ok(Exit::found(left == 0))
}
