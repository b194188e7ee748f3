//! Fetches a model by name into the cache and says where it is.
//!
//! usage: fetch_model [NAME]; without a name, lists those that are known.

use fta_llm::weights::{MODELS, ModelSpec, WeightsResolver};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(name) = std::env::args().nth(1) else {
        for ModelSpec { name, summary, licence, bytes, .. } in MODELS {
            println!("{name}: {summary} ({} MB, {licence})", bytes / 1_000_000);
        }
        return Ok(());
    };
    let spec = ModelSpec::by_name(&name).ok_or(format!("no model is called `{name}`"))?;
    let file = WeightsResolver::default().resolve(&spec, &mut |progress| eprintln!("{progress:?}"))?;
    println!("{} {:?}", file.path.display(), file.source);
    Ok(())
}
