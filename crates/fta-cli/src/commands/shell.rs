//! `fta completions` and `fta man`.

use anyhow::Result;
use clap::CommandFactory as _;

use crate::{
    args::{Cli, Completions},
    context::Context,
    exit::Exit,
};

/// Prints the completion script of a shell.
pub(crate) fn completions(context: &Context, args: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fta", &mut script);
    context.printer.text(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}

/// Prints the manual page: the command, then a section for each subcommand.
pub(crate) fn man(context: &Context) -> Result<Exit> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|c| c.get_name() != "help") {
        let name = subcommand.get_name();
        page.extend_from_slice(format!(".SH FTA {}\n", name.to_uppercase()).as_bytes());
        let man = clap_mangen::Man::new(subcommand.clone());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    context.printer.text(&String::from_utf8(page)?)?;
    Ok(Exit::Done)
}
