//! Embeds the lines of standard input with all-MiniLM-L6-v2; prints how near each is to the first.
//!
//! `printf 'a cat\na kitten\nan invoice\n' | cargo run --example embed --features candle [FOLDER]`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::error::Error;
use std::io::stdin;
use std::time::Instant;

use fta_index::Embedder;
use fta_index::candle::BertEmbedder;
use fta_index::weights::{ALL_MINILM_L6_V2, WeightsResolver};

fn main() -> Result<(), Box<dyn Error>> {
    let resolver = WeightsResolver {
        directory: std::env::args_os().nth(1).map(Into::into),
        ..WeightsResolver::default()
    };
    let mut last = String::new();
    let files = resolver.resolve(&ALL_MINILM_L6_V2, &mut |progress| {
        let line = format!("{progress:.60?}");
        if line.get(..24) != last.get(..24) {
            eprintln!("{line}");
            last = line;
        }
    })?;
    eprintln!("{} from {:?} in {}", files.model_id, files.source, files.directory.display());
    let start = Instant::now();
    let embedder = BertEmbedder::from_files(&files)?;
    eprintln!("loaded in {:.2?}, {:?}", start.elapsed(), embedder.precision());

    let lines = stdin().lines().collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = Instant::now();
    let embeddings = embedder.embed(&texts)?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{} texts in {seconds:.3} s: {:.0} texts/s", texts.len(), texts.len() as f64 / seconds);
    let Some(first) = embeddings.row(0) else { return Ok(()) };
    for (line, row) in lines.iter().zip(embeddings.rows()) {
        let cosine: f32 = row.iter().zip(first).map(|(x, y)| x * y).sum();
        println!("{cosine:.4}\t{line}");
    }
    Ok(())
}
