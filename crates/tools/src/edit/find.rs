//! Where a target stands in a text.

use std::ops::Range;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
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

/// Where a target stands, and how that was found out.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) ranges: Vec<Range<usize>>,
    pub(super) how: How,
}

/// How places were found, which decides what stands there afterwards.
#[derive(Debug)]
pub(super) enum How {
    Literal,
    Flexible,
    Regex(Regex),
}

/// Whether places may overlap, which matters for telling one from several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    Counted,
    Skipped,
}

/// More places than this are too many to keep; one more is looked for, to know.
pub(super) const MOST_PLACES: usize = 5_000_000;
/// How much may be compared before a search that goes in circles is given up.
const MOST_WORK: usize = 500_000_000;

/// All places to the letter. Line ends of the text are taken for those of the target.
pub(super) fn exact(text: &str, target: &str, overlap: Overlap) -> Vec<Range<usize>> {
    let as_given = literal(text, target, overlap);
    if !as_given.is_empty() || !target.contains('\n') {
        return as_given;
    }
    let other = if target.contains("\r\n") {
        target.replace("\r\n", "\n")
    } else {
        target.replace('\n', "\r\n")
    };
    literal(text, &other, overlap)
}

fn literal(text: &str, target: &str, overlap: Overlap) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(target);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.as_bytes().get(from..)
        && let Some(at) = finder.find(rest)
        && places.len() <= MOST_PLACES
        && (overlap == Overlap::Skipped || places.len() * target.len() < MOST_WORK)
    {
        let range = from + at..from + at + target.len();
        from = match overlap {
            Overlap::Counted => range.start + 1,
            Overlap::Skipped => range.end,
        };
        places.push(range);
    }
    places
}

/// All places where the same words stand with other whitespace between them; nothing
/// when finding them would take too long.
pub(super) fn flexible(text: &str, target: &str) -> Option<Vec<Range<usize>>> {
    let words = words(target);
    let Some(first) = words.first() else {
        return Some(Vec::new());
    };
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut work = 0;
    for start in memmem::find_iter(text.as_bytes(), first.text) {
        if places.last().is_some_and(|last| start < last.end) {
            continue;
        }
        if places.len() > MOST_PLACES || work > MOST_WORK / 10 {
            return None;
        }
        places.extend(end_of_words(text, start, &words, &mut work).map(|end| start..end));
    }
    Some(places)
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
fn end_of_words(text: &str, start: usize, words: &[Word<'_>], work: &mut usize) -> Option<usize> {
    let mut at = start;
    for (index, word) in words.iter().enumerate() {
        *work += 1;
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

/// All places a regular expression matches.
pub(super) fn by_regex(text: &str, target: &str) -> Result<(Vec<Range<usize>>, Regex), String> {
    let regex = compile(target)?;
    let places: Vec<Range<usize>> =
        regex.find_iter(text).take(MOST_PLACES + 1).map(|found| found.range()).collect();
    if places.iter().any(Range::is_empty) {
        return Err(
            "it matches the empty string, which is everywhere; make it match some text".to_owned()
        );
    }
    Ok((places, regex))
}

/// The memory that a compiled expression may take.
const MOST_BYTES: usize = 1 << 20;

fn compile(target: &str) -> Result<Regex, String> {
    if let Some(fault) = pattern::regex_fault(target) {
        return Err(fault);
    }
    RegexBuilder::new(target)
        .multi_line(true)
        .crlf(true)
        .size_limit(MOST_BYTES)
        .dfa_size_limit(MOST_BYTES)
        .build()
        .map_err(|error| error.to_string())
}
