//! What a code cell put out, as text and pictures.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::cell::joined;

/// How much of one output is shown, in characters.
const MOST_CHARS: usize = 8_000;
/// Kinds of data in the order they are preferred.
const TEXTS: [&str; 5] =
    ["text/plain", "text/markdown", "text/latex", "text/html", "application/json"];
/// Pictures that can be shown.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// One output.
#[derive(Debug)]
pub(super) struct Output {
    /// What it is.
    pub(super) heading: String,
    /// What it says, shortened.
    pub(super) text: String,
    /// What it shows: the media type, and the bytes unless they make no sense.
    pub(super) picture: Option<(&'static str, Option<Vec<u8>>)>,
}

/// What an output is.
pub(super) fn output(output: &Map<String, Value>) -> Output {
    let field = |name: &str| output.get(name).map(joined).unwrap_or_default();
    match output.get("output_type").and_then(Value::as_str).unwrap_or_default() {
        "stream" => plain(field("name"), &field("text")),
        "error" => {
            let traceback = output.get("traceback").and_then(Value::as_array);
            let lines = traceback.into_iter().flatten().filter_map(Value::as_str);
            let text = lines.collect::<Vec<_>>().join("\n");
            let heading = format!("error {}: {}", field("ename"), first_line(&field("evalue")));
            plain(without_escapes(&heading), &text)
        }
        "execute_result" => rich("result", output),
        _ => rich("display", output),
    }
}

fn plain(heading: String, text: &str) -> Output {
    Output { heading, text: shortened(&without_escapes(text)), picture: None }
}

fn rich(heading: &str, output: &Map<String, Value>) -> Output {
    let empty = Map::new();
    let data = output.get("data").and_then(Value::as_object).unwrap_or(&empty);
    let text = TEXTS.iter().find_map(|kind| Some((*kind, data.get(*kind)?)));
    let text = match text {
        Some(("application/json", value)) => value.to_string(),
        Some((_, value)) => joined(value),
        None => String::new(),
    };
    let picture = PICTURES.iter().find_map(|kind| {
        let encoded: String = joined(data.get(*kind)?).split_ascii_whitespace().collect();
        Some((*kind, BASE64_STANDARD.decode(encoded).ok()))
    });
    let known =
        |kind: &&String| !TEXTS.contains(&kind.as_str()) && !PICTURES.contains(&kind.as_str());
    let others: Vec<&str> = data.keys().filter(known).map(String::as_str).collect();
    let mut text = shortened(&without_escapes(&text));
    if !others.is_empty() && text.is_empty() && picture.is_none() {
        text = format!("[{}, not shown]", others.join(", "));
    }
    Output { heading: heading.to_owned(), text, picture }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let kept: String = letters.by_ref().take(MOST_CHARS).collect();
    match letters.count() {
        0 => kept,
        more => format!("{kept}\n[{more} more characters of this output]"),
    }
}

/// The text without what colours a terminal.
fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\x1b', Some('[')) => {
                letters.next();
                letters.by_ref().find(|letter| ('\x40'..='\x7e').contains(letter));
            }
            ('\x1b', Some(']')) => {
                letters.by_ref().find(|letter| matches!(letter, '\x07' | '\\'));
            }
            ('\x1b', _) => {
                letters.next();
            }
            _ => clean.push(letter),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out_of_tracebacks() {
        let text =
            "\u{1b}[0;31mZero\u{1b}[0m at \u{1b}]8;;http://x\u{7}line\u{1b}]8;;\u{1b}\\ 3\u{1b}";
        assert_eq!(without_escapes(text), "Zero at line 3");
    }
}
