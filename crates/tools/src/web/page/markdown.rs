//! Markdown and text of a part of a page.

use dom_query::{Document, NodeRef};

use super::clean;
use super::format::Format;

/// The text of an element with all that is in it.
pub(super) fn of_node(node: &NodeRef<'_>, format: Format) -> String {
    // The element itself counts, too: a heading is a heading.
    of_document(&node.to_fragment(), format)
}

/// The text of a page or a part of one.
pub(super) fn of_document(document: &Document, format: Format) -> String {
    clean::rename_blocks(document);
    match format {
        Format::Text => tidy(&document.formatted_text()),
        Format::Markdown | Format::Html => tidy(&plain_words(&document.md(None))),
    }
}

/// Takes away spaces at ends of lines and empty lines beyond one. Code stays as it is.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for (line, is_code) in lines(text) {
        let line = if is_code { line } else { line.trim_end() };
        if line.trim().is_empty() && !is_code {
            empty += 1;
            continue;
        }
        if empty > 0 && !tidy.is_empty() {
            tidy.push('\n');
        }
        empty = 0;
        tidy.push_str(line);
        tidy.push('\n');
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// Lines, and whether each belongs to a block of code.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut fence: Option<usize> = None;
    text.lines().map(move |line| {
        let inner = line.trim_start_matches(['>', ' ']);
        let ticks = inner.len() - inner.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 && !inner.trim_start_matches('`').contains('`') => {
                fence = Some(ticks);
                (line, true)
            }
            Some(open) if ticks >= open && inner.trim_start_matches('`').trim().is_empty() => {
                fence = None;
                (line, true)
            }
            inside => (line, inside.is_some()),
        }
    })
}

/// Names such as `read_file` need no backslash: an underscore between letters marks nothing.
fn plain_words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (line, is_code) in lines(text) {
        if is_code || !line.contains("\\_") {
            plain.push_str(line);
        } else {
            // Every other piece between ticks is code.
            for (index, piece) in line.split('`').enumerate() {
                if index > 0 {
                    plain.push('`');
                }
                if index % 2 == 1 {
                    plain.push_str(piece);
                } else {
                    push_unescaped(&mut plain, piece);
                }
            }
        }
        plain.push('\n');
    }
    plain
}

fn push_unescaped(out: &mut String, piece: &str) {
    let mut pieces = piece.split("\\_").peekable();
    while let Some(before) = pieces.next() {
        out.push_str(before);
        let Some(after) = pieces.peek() else { return };
        let is_word =
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        out.push_str(if is_word { "_" } else { "\\_" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_inside_of_words_stay_plain() {
        let check =
            |text: &str, expected: &str| assert_eq!(plain_words(text), format!("{expected}\n"));
        check("read\\_file and \\_private\\_", "read_file and \\_private\\_");
        check("`a\\_b` c\\_d", "`a\\_b` c_d");
        check("```\na\\_b\n```", "```\na\\_b\n```");
    }

    #[test]
    fn code_keeps_its_empty_lines() {
        assert_eq!(tidy("a  \n\n\n\n```\nx  \n\n\ny\n```\n\n\n"), "a\n\n```\nx  \n\n\ny\n```");
    }
}
