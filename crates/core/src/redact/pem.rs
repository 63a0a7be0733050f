//! Private keys in armour: `-----BEGIN … PRIVATE KEY-----`.

use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use super::span::Span;

const KIND: &str = "private key";

static BEGIN: LazyLock<Regex> = LazyLock::new(|| marker("BEGIN"));
static END: LazyLock<Regex> = LazyLock::new(|| marker("END"));

fn marker(word: &str) -> Regex {
    let pattern = format!("-----{word} [A-Z0-9 ]{{0,32}}PRIVATE KEY(?: BLOCK)?-----");
    Regex::new(&pattern).expect("the pattern is fixed")
}

/// Adds every private key, whole; one that was cut off up to where it is.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if memmem::find(text.as_bytes(), b"PRIVATE KEY").is_none() {
        return;
    }
    let mut ends = END.find_iter(text).peekable();
    let mut done = 0;
    for begin in BEGIN.find_iter(text) {
        if begin.start() < done {
            continue;
        }
        while ends.next_if(|end| end.start() < begin.end()).is_some() {}
        done = match ends.peek() {
            Some(end) => end.end(),
            None => begin.end() + body(text.get(begin.end()..).unwrap_or_default()),
        };
        spans.push(Span::shape(begin.start()..done, KIND));
    }
}

/// How long what follows looks like the inside of a key, escapes of line ends included.
fn body(rest: &str) -> usize {
    let inside = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ' | b'\t')
    };
    rest.bytes().position(|byte| !inside(byte)).unwrap_or(rest.len())
}
