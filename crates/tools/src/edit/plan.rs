//! From an edit to the one change it means.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{self, How, Matching, Overlap, Places};
use super::render::Renderer;

/// One edit, as a model sends it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Edit {
    /// Text to find. It must stand in the file exactly once unless lineHint or replaceAll is given. Empty to create a missing file.
    pub(crate) target: String,
    /// Text to put in its place.
    pub(crate) replacement: String,
    /// Line the target is on or near, to choose among several.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line_hint: Option<u64>,
    /// Replace every place the target stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replace_all: Option<bool>,
}

/// A stretch of text and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) range: Range<usize>,
    pub(crate) replacement: String,
    /// The line the change begins in.
    pub(crate) line: u64,
}

/// Why an edit means nothing, or too much.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The target stands nowhere.
    NotFound,
    /// The target stands in several places.
    Ambiguous { count: usize, lines: Vec<u64> },
    /// Two places are equally near the hint.
    HintBetween { hint: u64, lines: (u64, u64) },
    /// The target is empty, and the file is not.
    Empty,
    /// The target stands in more places than can be kept in memory.
    TooMany { most: usize },
    /// The target is no regular expression.
    Pattern(String),
}

/// How many lines an ambiguous target is shown with.
const LINES_SHOWN: usize = 20;

/// How many bytes all replacements of one edit may have.
const MOST_REPLACED: usize = 512 * 1024 * 1024;

/// What an edit changes in a text.
pub(crate) fn plan(text: &str, edit: &Edit, matching: Matching) -> Result<Vec<Change>, Fault> {
    let replace_all = edit.replace_all.unwrap_or(false);
    if edit.target.is_empty() {
        let replacement = edit.replacement.clone();
        let whole = Change { range: 0..0, replacement, line: 1 };
        return if text.is_empty() { Ok(vec![whole]) } else { Err(Fault::Empty) };
    }
    let overlap = if replace_all { Overlap::Skipped } else { Overlap::Counted };
    let Places { mut ranges, how } = places(text, &edit.target, matching, overlap)?;
    match (ranges.len(), replace_all, edit.line_hint) {
        (0, ..) => return Err(Fault::NotFound),
        (count, ..) if count > find::MOST_PLACES => {
            return Err(Fault::TooMany { most: find::MOST_PLACES });
        }
        (1, ..) | (_, true, _) => {}
        (_, false, Some(hint)) => ranges = vec![nearest_to(hint, text, &ranges)?],
        (count, false, None) => {
            return Err(Fault::Ambiguous { count, lines: lines_of(text, &ranges) });
        }
    }
    changes(text, edit, &ranges, &how)
}

fn places(text: &str, target: &str, matching: Matching, overlap: Overlap) -> Result<Places, Fault> {
    let exact = || find::exact(text, target, overlap);
    Ok(match matching {
        Matching::Exact => Places { ranges: exact(), how: How::Literal },
        Matching::Regex => {
            let (ranges, regex) = find::by_regex(text, target).map_err(Fault::Pattern)?;
            Places { ranges, how: How::Regex(regex) }
        }
        // What is there to the letter is meant, whatever else looks like it.
        Matching::Flexible => match exact() {
            ranges if ranges.is_empty() => {
                let too_many = Fault::TooMany { most: find::MOST_PLACES };
                let ranges = find::flexible(text, target).ok_or(too_many)?;
                Places { ranges, how: How::Flexible }
            }
            ranges => Places { ranges, how: How::Literal },
        },
    })
}

/// The text with changes made. They must not overlap and must be in order.
pub(crate) fn apply(text: &str, changes: &[Change]) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for change in changes {
        changed.push_str(text.get(at..change.range.start).unwrap_or_default());
        changed.push_str(&change.replacement);
        at = change.range.end;
    }
    changed.push_str(text.get(at..).unwrap_or_default());
    changed
}

fn changes(
    text: &str,
    edit: &Edit,
    ranges: &[Range<usize>],
    how: &How,
) -> Result<Vec<Change>, Fault> {
    let mut renderer = Renderer::new(text, &edit.target, &edit.replacement, how);
    let mut counter = LineCounter::new(text);
    let mut size = 0;
    let mut changes = Vec::with_capacity(ranges.len());
    for range in ranges {
        let replacement = renderer.render(range);
        size += replacement.len();
        if size > MOST_REPLACED {
            return Err(Fault::TooMany { most: changes.len() });
        }
        changes.push(Change {
            line: counter.line_of(range.start),
            range: range.clone(),
            replacement,
        });
    }
    Ok(changes)
}

fn lines_of(text: &str, ranges: &[Range<usize>]) -> Vec<u64> {
    let mut counter = LineCounter::new(text);
    ranges.iter().take(LINES_SHOWN).map(|range| counter.line_of(range.start)).collect()
}

fn nearest_to(hint: u64, text: &str, ranges: &[Range<usize>]) -> Result<Range<usize>, Fault> {
    let mut counter = LineCounter::new(text);
    let mut best: Option<(u64, u64, &Range<usize>)> = None;
    let mut tie = None;
    for range in ranges {
        let line = counter.line_of(range.start);
        let distance = line.abs_diff(hint);
        match best {
            Some((nearest, ..)) if distance > nearest => {}
            Some((nearest, other, _)) if distance == nearest => tie = Some((other, line)),
            _ => {
                best = Some((distance, line, range));
                tie = None;
            }
        }
    }
    match (best, tie) {
        (_, Some(lines)) => Err(Fault::HintBetween { hint, lines }),
        (Some((.., range)), None) => Ok(range.clone()),
        (None, None) => Err(Fault::NotFound),
    }
}

/// Counts lines forward, so that many places cost one pass.
struct LineCounter<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, line: 1 }
    }

    fn line_of(&mut self, offset: usize) -> u64 {
        let between = self.text.get(self.at..offset).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.at = offset;
        self.line
    }
}

#[cfg(test)]
mod tests;
