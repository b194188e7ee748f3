//! Cuts a dialogue from standard input, one turn per line as `speaker: text`, and prints its fragments.
//!
//! `cargo run -p fta-segment --example fragments < dialogue.txt`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{error::Error, io::BufRead, sync::Arc};

use fta_segment::{
    Bws, BwsConfig, CohesionConfig, CohesionDetector, Role, Segmenter, Session, SessionId, Turn,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let id = SessionId("input".to_owned());
    let mut turns: Vec<Turn> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((speaker, text)) = line.split_once(':') else {
            continue;
        };
        let index = u32::try_from(turns.len())?;
        turns.push(Turn {
            index,
            source_id: format!("{id}:{}", index + 1),
            speaker: speaker.trim().to_owned(),
            role: Role::Peer,
            at: None,
            text: text.trim().to_owned(),
            caption: None,
        });
    }
    let session = Session { id, started_at: None, turns };
    let detector = CohesionDetector::new(CohesionConfig::default())?;
    let segmenter = Bws::new(BwsConfig::default(), Arc::new(detector))?;
    for fragment in segmenter.segment(&session).await? {
        println!("--- turns {} ({:?})", fragment.span, fragment.cue);
        for turn in session.span(fragment.span) {
            println!("{:>4} {}: {}", turn.index, turn.speaker, turn.text);
        }
    }
    Ok(())
}
