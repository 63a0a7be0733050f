//! Where a target stands in a text.

use std::ops::Range;

use memchr::memmem;
use regex::{Captures, Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern;

/// How a target is compared with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Matching {
    /// To the letter.
    #[default]
    Exact,
    /// Indentation and the amount of whitespace do not matter; content does.
    Flexible,
    /// The target is a regular expression, and the replacement may use $1.
    Regex,
}

/// One place where a target stands, and what will stand there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) replacement: String,
}

/// Whether hits may overlap, which matters for telling one from several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    Counted,
    Skipped,
}

/// More hits than this are too many to keep in memory; one more is looked for, to know.
pub(super) const MOST_HITS: usize = 5_000_000;

/// All places to the letter. Line ends of the text are taken for those of the target.
pub(super) fn exact(text: &str, target: &str, replacement: &str, overlap: Overlap) -> Vec<Hit> {
    let as_given = literal(text, target, replacement, overlap);
    if !as_given.is_empty() || !target.contains('\n') {
        return as_given;
    }
    let other = if target.contains("\r\n") {
        target.replace("\r\n", "\n")
    } else {
        target.replace('\n', "\r\n")
    };
    literal(text, &other, replacement, overlap)
}

fn literal(text: &str, target: &str, replacement: &str, overlap: Overlap) -> Vec<Hit> {
    let finder = memmem::Finder::new(target);
    let mut hits = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.as_bytes().get(from..)
        && let Some(at) = finder.find(rest)
        && hits.len() <= MOST_HITS
    {
        let range = from + at..from + at + target.len();
        from = match overlap {
            Overlap::Counted => range.start + 1,
            Overlap::Skipped => range.end,
        };
        let replacement = with_line_ends_at(text, range.clone(), replacement);
        hits.push(Hit { range, replacement });
    }
    hits
}

/// The replacement with the line ends used around the place it goes to.
fn with_line_ends_at(text: &str, range: Range<usize>, replacement: &str) -> String {
    if !replacement.contains('\n') || replacement.contains("\r\n") {
        return replacement.to_owned();
    }
    let bytes = text.as_bytes();
    let inside_or_after = bytes.get(range.start..).and_then(|rest| memchr::memchr(b'\n', rest));
    let line_end = inside_or_after
        .map(|at| range.start + at)
        .or_else(|| bytes.get(..range.start).and_then(|before| memchr::memrchr(b'\n', before)));
    let is_crlf = line_end.is_some_and(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'));
    if is_crlf { replacement.replace('\n', "\r\n") } else { replacement.to_owned() }
}

/// All places where the same words stand with other whitespace between them.
pub(super) fn flexible(text: &str, target: &str, replacement: &str) -> Vec<Hit> {
    let words = words(target);
    let Some(first) = words.first() else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    let mut free_from = 0;
    for start in memmem::find_iter(text.as_bytes(), first.text) {
        if start < free_from {
            continue;
        }
        if hits.len() > MOST_HITS {
            break;
        }
        let Some(end) = end_of_words(text, start, &words) else {
            continue;
        };
        free_from = end;
        let replacement = reindented(text, start, target, replacement);
        let replacement = with_line_ends_at(text, start..end, &replacement);
        hits.push(Hit { range: start..end, replacement });
    }
    hits
}

/// A word of a target and whether a line end stands before it.
struct Word<'a> {
    text: &'a str,
    on_new_line: bool,
}

fn words(target: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut on_new_line = false;
    for line in target.split('\n') {
        for text in line.split_whitespace() {
            words.push(Word { text, on_new_line });
            on_new_line = false;
        }
        on_new_line = true;
    }
    words
}

/// Where the words end when they begin at `start`; nothing when other content is in between.
fn end_of_words(text: &str, start: usize, words: &[Word<'_>]) -> Option<usize> {
    let mut at = start;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let rest = text.get(at..)?;
            let gap = rest.len() - rest.trim_start().len();
            let has_line_end = rest.get(..gap)?.contains('\n');
            if gap == 0 || has_line_end != word.on_new_line {
                return None;
            }
            at += gap;
        }
        at = text.get(at..)?.strip_prefix(word.text).map(|_| at + word.text.len())?;
    }
    Some(at)
}

/// The replacement with the target's indentation exchanged for the text's.
fn reindented(text: &str, start: usize, target: &str, replacement: &str) -> String {
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let before = text.get(line_start..start).unwrap_or_default();
    let own = if before.trim().is_empty() { before } else { "" };
    let assumed =
        indentation(target.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    // Whitespace around the target is not part of the hit, so it is not put in again either.
    let mut core = replacement;
    if target.starts_with(['\n', '\r']) {
        core = core.trim_start_matches(['\n', '\r']);
    }
    if target.ends_with('\n') {
        core = core.trim_end();
    }
    let lines = core.split('\n').enumerate().map(|(index, line)| {
        match (index, line.strip_prefix(assumed)) {
            (0, Some(rest)) => rest.to_owned(),
            (0, None) => line.trim_start().to_owned(),
            (_, Some(rest)) if !line.trim().is_empty() => format!("{own}{rest}"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn indentation(line: &str) -> &str {
    let length = line.len() - line.trim_start().len();
    line.get(..length).unwrap_or_default()
}

/// All places a regular expression matches.
pub(super) fn by_regex(text: &str, target: &str, replacement: &str) -> Result<Vec<Hit>, String> {
    let regex = compile(target)?;
    let hits = regex.captures_iter(text).take(MOST_HITS + 1).map(|captures: Captures<'_>| {
        let mut expanded = String::new();
        captures.expand(replacement, &mut expanded);
        let range = captures.get(0).map_or(0..0, |whole| whole.range());
        Hit { range, replacement: expanded }
    });
    let hits: Vec<Hit> = hits.collect();
    if hits.iter().any(|hit| hit.range.is_empty()) {
        return Err(
            "it matches the empty string, which is everywhere; make it match some text".to_owned()
        );
    }
    Ok(hits)
}

fn compile(target: &str) -> Result<Regex, String> {
    if let Some(fault) = pattern::regex_fault(target) {
        return Err(fault);
    }
    RegexBuilder::new(target)
        .multi_line(true)
        .crlf(true)
        .size_limit(16 * 1024 * 1024)
        .build()
        .map_err(|error| error.to_string())
}
