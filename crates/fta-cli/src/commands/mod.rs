//! The commands, each in a file of its own or beside its nearest relatives.

mod ask;
mod change;
mod demo;
mod ingest;
mod look;
mod models;
mod setup;
mod shell;
mod transfer;

use anyhow::{Context as _, Result};

use crate::{args::Command, context::Context, exit::Exit, settings::Settings};

/// Runs a command.
///
/// # Errors
/// Whatever made it fail, for people to read.
pub(crate) fn run(command: Command, settings: Settings) -> Result<Exit> {
    let context = Context::new(settings);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.context("threads cannot be started")?;
    runtime.block_on(dispatch(command, &context))
}

async fn dispatch(command: Command, context: &Context) -> Result<Exit> {
    match command {
        Command::Ingest(args) => ingest::run(context, &args).await,
        Command::Ask(args) => ask::ask(context, &args).await,
        Command::Chat(args) => ask::chat(context, &args).await,
        Command::Search(args) => ask::search(context, &args).await,
        Command::Show(args) => look::show(context, &args),
        Command::List(args) => look::list(context, &args),
        Command::Links(args) => look::links(context, &args),
        Command::Stats => look::stats(context),
        Command::Users => look::users(context),
        Command::Profile => look::profile(context),
        Command::Correct(args) => change::correct(context, &args).await,
        Command::Delete(args) => change::delete(context, &args).await,
        Command::Export(args) => transfer::export(context, &args),
        Command::Import(args) => transfer::import(context, &args).await,
        Command::Retry => models::retry(context).await,
        Command::Reindex => change::reindex(context).await,
        Command::Setup(args) => setup::run(context, &args),
        Command::Doctor => models::doctor(context).await,
        Command::Config => models::config(context),
        Command::Demo(args) => demo::run(context, &args).await,
        Command::Completions(args) => shell::completions(context, &args),
        Command::Man => shell::man(context),
    }
}
