//! Reading what a server says, which may be anything.

use serde::Deserialize;
use serde_json::Value;

/// Characters of a server's message that are kept.
const MESSAGE: usize = 300;

/// Bytes that a reply may have, by the number of texts: more than the largest models need.
pub(super) fn limit(texts: usize) -> u64 {
    (1 << 20) + texts as u64 * (1 << 18)
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of a reply in the order of the texts, of norm 1; else what is wrong.
pub(super) fn read(body: &[u8], texts: usize, dim: Option<usize>) -> Result<Vec<Vec<f32>>, String> {
    let reply: Reply =
        serde_json::from_slice(body).map_err(|error| format!("it is not the JSON of vectors ({error})"))?;
    if reply.data.len() != texts {
        return Err(format!("`{}` vectors for `{texts}` texts", reply.data.len()));
    }
    let mut rows: Vec<Vec<f32>> = vec![Vec::new(); texts];
    let dim = dim.unwrap_or(reply.data.first().map_or(0, |item| item.embedding.len()));
    for (place, item) in reply.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        let values = item.embedding;
        if values.len() != dim || dim == 0 {
            return Err(format!("vector `{index}` has `{}` values, expected `{dim}`", values.len()));
        }
        let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !norm.is_normal() {
            return Err(format!("vector `{index}` is zero or not finite"));
        }
        let row = rows.get_mut(index).filter(|row| row.is_empty());
        let row = row.ok_or(format!("index `{index}` is out of range or given twice"))?;
        *row = values.iter().map(|x| (x / norm) as f32).collect();
    }
    Ok(rows)
}

/// The message of an error, short and on one line.
pub(super) fn error_message(body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let known = ["/error/message", "/message", "/detail", "/error"];
    let message = known.iter().find_map(|path| json.pointer(path)?.as_str());
    let text = String::from_utf8_lossy(body);
    let message = message.unwrap_or(&text);
    let words: Vec<&str> = message.split_whitespace().collect();
    let short: String = words.join(" ").chars().filter(|c| !c.is_control()).take(MESSAGE).collect();
    if short.is_empty() { "no message".to_owned() } else { short }
}
