//! The suite of [`Embedder`].

use crate::embed::{Embedder, Embeddings};

const NORM_TOLERANCE: f32 = 1e-4;
const VALUE_TOLERANCE: f32 = 1e-5;

fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Embeddings {
    let embeddings = embedder.embed(texts).unwrap_or_else(|error| panic!("{} texts: {error}", texts.len()));
    assert_eq!(embeddings.len(), texts.len(), "as many rows as texts");
    assert_eq!(embeddings.dim(), embedder.dim(), "rows of the stated dimension");
    for (row, text) in embeddings.rows().zip(texts) {
        let start: String = text.chars().take(40).collect();
        assert!(row.iter().all(|x| x.is_finite()), "the vector of `{start}` is finite");
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() <= NORM_TOLERANCE, "the vector of `{start}` has norm {norm}");
    }
    embeddings
}

fn same(a: &[f32], b: &[f32], what: &str) {
    let apart = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert!(apart <= VALUE_TOLERANCE, "{what}: values are {apart} apart");
}

pub(super) fn shape(embedder: &dyn Embedder) {
    assert!(embedder.dim() > 0);
    assert!(!embedder.model_id().trim().is_empty(), "the model has a name");
    assert!(embed(embedder, &[]).is_empty());
    embed(embedder, &["one text"]);
}

const UNUSUAL: [&str; 16] = [
    "",
    " ",
    "\n\t\r\n",
    "a",
    "\0",
    "\u{7}\u{1b}[31m",
    "\u{feff}\u{200b}\u{202e}",
    "e\u{301}\u{301}\u{301}\u{301}",
    "\u{1f469}\u{200d}\u{1f52c}\u{1f44b}\u{1f3fd}",
    "明天我们去公园散步好吗",
    "ذهبت إلى السوق صباح أمس",
    "Вчера мы долго говорили о работе",
    "...!?;--",
    "[CLS] [SEP] [MASK] [PAD] [UNK] </s> <|endoftext|>",
    "x_1 = 3.14e-10; http://localhost/?q=%20",
    "\u{10ffff}\u{e000}",
];

pub(super) fn unusual_texts(embedder: &dyn Embedder) {
    let together = embed(embedder, &UNUSUAL);
    for (text, row) in UNUSUAL.iter().zip(together.rows()) {
        same(row, embed(embedder, &[text]).as_slice(), &format!("`{}` alone", text.escape_debug()));
    }
}

pub(super) fn order_and_independence(embedder: &dyn Embedder) {
    // Lengths change abruptly, so that a back end that sorts or pads by length shows it.
    let texts: Vec<String> = (0..40_usize)
        .map(|i| {
            let topic = ["the cat slept", "taxes are due", "we hiked all day", "a sad song"][i % 4];
            format!("{} {topic}", format!("note {i}, ").repeat(1 + i * 7 % 11))
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let forwards = embed(embedder, &texts);
    same(forwards.as_slice(), embed(embedder, &texts).as_slice(), "the same batch again");
    let reversed: Vec<&str> = texts.iter().rev().copied().collect();
    let backwards = embed(embedder, &reversed);
    for (i, (text, row)) in texts.iter().zip(forwards.rows()).enumerate() {
        let reverse = backwards.row(texts.len() - 1 - i).expect("as many rows");
        same(row, reverse, &format!("text {i} in the reversed batch"));
        same(row, embed(embedder, &[text]).as_slice(), &format!("text {i} alone"));
    }
    let twice = embed(embedder, &[texts[3], texts[8], texts[3]]);
    same(twice.row(0).expect("row 0"), twice.row(2).expect("row 2"), "the same text twice in a batch");
}

pub(super) fn long_texts_are_cut(embedder: &dyn Embedder) {
    let long = [
        "We talked about the garden, the neighbours and the weather. ".repeat(3_000),
        "a".repeat(200_000),
        "字".repeat(60_000),
        " ".repeat(200_000),
        "\u{1f600}".repeat(50_000),
    ];
    let texts: Vec<&str> = long.iter().map(String::as_str).chain(["short"]).collect();
    embed(embedder, &texts);
}
