//! Fixed words, found in one pass.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Finds fixed words in whatever case. A program that makes one call builds this for it, so it
/// is of the kind that is built soonest and still searches fast.
pub(super) fn any_of<'a>(words: impl IntoIterator<Item = &'a str>) -> AhoCorasick {
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let built = AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(words);
    built.expect("the words are fixed")
}
