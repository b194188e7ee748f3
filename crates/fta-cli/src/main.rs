//! `fta`: the command line of FTA-Mem.
//!
//! Thin on purpose: [`commands`] calls the facade `fta-mem`, [`render`] turns what comes back into text and JSON.
//! Data goes to standard output, everything else to standard error; see [`exit`] for the exit codes.

mod args;
mod commands;
mod config;
mod context;
mod embedder;
mod errors;
mod exit;
mod input;
mod paint;
mod printer;
mod render;
mod settings;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{args::Cli, exit::Exit, settings::Settings};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    let settings = Settings::of(&cli.global, &cli.model);
    let result = settings.and_then(|settings| commands::run(cli.command, settings));
    match result {
        Ok(exit) => exit.into(),
        Err(error) if errors::is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            errors::report(&error, &cli.global);
            Exit::Error.into()
        }
    }
}
