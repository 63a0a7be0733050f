//! Results to stdout, everything else to stderr.

use std::io::{self, Write as _};

use serde::Serialize;
use toolgate_core::call::Outcome;
use toolgate_core::result::{Block, Content, ResourceContent};
use toolgate_core::visible;

use crate::exit;
use crate::global::GlobalArgs;

/// How results are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Output {
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        Self { json: global.json, quiet: global.quiet }
    }

    /// Prints what became of a call.
    pub(crate) fn outcome(self, outcome: &Outcome) -> anyhow::Result<()> {
        if self.json {
            return print_json(outcome);
        }
        print_result(outcome)?;
        for attachment in &outcome.result.attachments {
            print_text(&format!("\n{}", attachment.as_text()))?;
        }
        Ok(())
    }
}

/// Prints what a call gave back.
fn print_result(outcome: &Outcome) -> anyhow::Result<()> {
    match &outcome.result.error {
        None => print_text(&shown(&outcome.result.llm_content)),
        Some(error) => {
            // The model's text repeats the error unless the tool had more to say.
            let text = shown(&outcome.result.llm_content);
            if !text.contains(&error.message) {
                print_text(&text)?;
            }
            exit::report(&format!("{}: {}", error.kind, error.message));
            Ok(())
        }
    }
}

/// Prints one JSON document on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = plain(serde_json::to_string(value)?);
    line.push('\n');
    tolerate_closed_pipe(io::stdout().lock().write_all(line.as_bytes()))
}

/// Prints JSON for people to read.
pub(crate) fn print_pretty_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_text(&plain(serde_json::to_string_pretty(value)?))
}

/// JSON leaves some control characters as they are; in strings they can be escaped as well.
fn plain(json: String) -> String {
    let raw = |letter: char| matches!(letter, '\u{7f}'..='\u{9f}');
    if !json.contains(raw) {
        return json;
    }
    json.chars().fold(String::with_capacity(json.len()), |mut plain, letter| {
        if raw(letter) {
            plain.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            plain.push(letter);
        }
        plain
    })
}

/// Prints text that ends in a line end.
pub(crate) fn print_text(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    tolerate_closed_pipe(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.write_all(end.as_bytes()))
            .and_then(|()| stdout.flush()),
    )
}

/// Prints text with styles, which only a terminal gets to see.
pub(crate) fn print_styled(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout();
    tolerate_closed_pipe(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Text of a model on one line, where nothing is hidden or reordered.
pub(crate) fn one_line(text: &str) -> String {
    visible::question(&visible::line(text))
}

fn shown(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let each = blocks.iter().map(|block| match block {
                Block::Text { text } => text.clone(),
                Block::Image { mime, data } | Block::Audio { mime, data } => {
                    format!("[{mime}, {} bytes in base64]", data.len())
                }
                Block::Resource { uri, content: ResourceContent::Text(text), .. } => {
                    format!("[{uri}]\n{text}")
                }
                Block::Resource { uri, content: ResourceContent::Blob(data), .. } => {
                    format!("[{uri}, {} bytes in base64]", data.len())
                }
                Block::Link { uri, name, .. } => format!("[{name}: {uri}]"),
            });
            each.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Whoever reads may stop reading, as `head` does.
fn tolerate_closed_pipe(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
