//! `fta export` and `fta import`.

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter, Write as _, stdin, stdout},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use fta_mem::UserMemory;
use serde::Serialize;

use super::ingest::count;
use crate::{
    args::{Export, Import},
    context::{Context, Steps},
    exit::Exit,
};

#[derive(Serialize)]
struct Exported {
    file: String,
    lines: usize,
}

/// Writes everything of a user as JSON lines.
pub(crate) fn export(context: &Context, args: &Export) -> Result<Exit> {
    let user = context.user()?;
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::new(stdout().lock());
        user.export(&mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let lines =
        export_file(&user, path).with_context(|| format!("`{}` cannot be written", path.display()))?;
    let exported = Exported { file: path.display().to_string(), lines };
    context.printer.data("export", exported, || format!("{} to {}", count(lines, "line"), path.display()))?;
    Ok(Exit::Done)
}

/// Writes beside the file and renames, so that an older export is lost only to a whole new one.
fn export_file(user: &UserMemory, path: &Path) -> Result<usize> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(directory)?;
    let mut out = BufWriter::new(temporary);
    let lines = user.export(&mut out)?;
    let temporary = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(lines)
}

#[derive(Serialize)]
struct Imported {
    user: String,
    #[serde(flatten)]
    report: fta_mem::ImportReport,
}

const NAMELESS: &str = "say whose memory this becomes with `--user NAME`";

/// Reads what `export` wrote.
pub(crate) async fn import(context: &Context, args: &Import) -> Result<Exit> {
    let name = args.file.display();
    let user = if let Some(user) = &context.settings.user {
        context.memory(Steps::Rules)?.user(user.clone())?
    } else if context.settings.data.is_dir() {
        let memory = context.memory(Steps::Rules)?;
        let users = memory.namespaces()?;
        let [only] = users.as_slice() else { bail!(NAMELESS) };
        memory.user(only.clone())?
    } else {
        bail!(NAMELESS)
    };
    let report = if args.file == Path::new("-") {
        user.import(&mut BufReader::new(stdin())).await
    } else {
        if fs::metadata(&args.file).is_ok_and(|m| m.is_dir()) {
            bail!("`{name}` is a directory; a file that `fta export` wrote is expected");
        }
        let file = File::open(&args.file).with_context(|| format!("`{name}` cannot be read"))?;
        user.import(&mut BufReader::new(file)).await
    };
    let report = report.with_context(|| format!("`{name}` cannot be imported"))?;
    let text = format!(
        "{}: {}, {}, {} added; {} unchanged",
        user.namespace(),
        count(report.sessions, "session"),
        count(report.units, "unit"),
        count(report.links, "link"),
        count(report.unchanged, "session")
    );
    context.printer.data("import", Imported { user: user.namespace().to_string(), report }, || text)?;
    Ok(Exit::Done)
}
