//! From an edit to the one change it means.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{self, Hit, Matching, Overlap};

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

/// What an edit changes in a text.
pub(crate) fn plan(text: &str, edit: &Edit, matching: Matching) -> Result<Vec<Change>, Fault> {
    let replace_all = edit.replace_all.unwrap_or(false);
    if edit.target.is_empty() {
        let whole = Hit { range: 0..0, replacement: edit.replacement.clone() };
        return if text.is_empty() { Ok(changes(text, vec![whole])) } else { Err(Fault::Empty) };
    }
    let overlap = if replace_all { Overlap::Skipped } else { Overlap::Counted };
    let exact = || find::exact(text, &edit.target, &edit.replacement, overlap);
    let hits = match matching {
        Matching::Exact => exact(),
        Matching::Regex => {
            find::by_regex(text, &edit.target, &edit.replacement).map_err(Fault::Pattern)?
        }
        // What is there to the letter is meant, whatever else looks like it.
        Matching::Flexible => match exact() {
            hits if hits.is_empty() => find::flexible(text, &edit.target, &edit.replacement),
            hits => hits,
        },
    };
    match (hits.len(), replace_all, edit.line_hint) {
        (0, ..) => Err(Fault::NotFound),
        (count, ..) if count > find::MOST_HITS => Err(Fault::TooMany { most: find::MOST_HITS }),
        (1, ..) | (_, true, _) => Ok(changes(text, hits)),
        (_, false, Some(hint)) => nearest_to(hint, changes(text, hits)).map(|change| vec![change]),
        (count, false, None) => Err(Fault::Ambiguous { count, lines: lines_of(text, &hits) }),
    }
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

fn changes(text: &str, hits: Vec<Hit>) -> Vec<Change> {
    let mut counter = LineCounter::new(text);
    hits.into_iter()
        .map(|Hit { range, replacement }| Change {
            line: counter.line_of(range.start),
            range,
            replacement,
        })
        .collect()
}

fn lines_of(text: &str, hits: &[Hit]) -> Vec<u64> {
    let mut counter = LineCounter::new(text);
    hits.iter().take(LINES_SHOWN).map(|hit| counter.line_of(hit.range.start)).collect()
}

fn nearest_to(hint: u64, changes: Vec<Change>) -> Result<Change, Fault> {
    let distance = |change: &Change| change.line.abs_diff(hint);
    let Some(best) = changes.iter().map(distance).min() else {
        return Err(Fault::NotFound);
    };
    let mut nearest = changes.into_iter().filter(|change| distance(change) == best);
    match (nearest.next(), nearest.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => Err(Fault::HintBetween { hint, lines: (one.line, other.line) }),
        (None, _) => Err(Fault::NotFound),
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
