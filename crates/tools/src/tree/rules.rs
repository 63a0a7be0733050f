//! The rules of one ignore file, quick to say no.
//!
//! Nearly every name matches no rule, and finding that out by running all
//! patterns costs more than anything else in a walk. So each pattern leaves
//! behind what a name must have for it to match at all; only a name that has
//! it is put to the patterns themselves, and only then are they compiled.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::pattern;

/// What the rules say about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Ignored,
    /// Named as not ignored, which also unhides it.
    Wanted,
    None,
}

/// The rules of one file, for paths below a folder.
#[derive(Debug)]
pub(super) struct Rules {
    /// Built as if the folder were `.`, which spares comparing path prefixes for every file.
    matcher: LazyLock<Gitignore, Compile>,
    hints: Hints,
    /// How long the folder's own path is, its last slash included.
    prefix: usize,
}

/// Compiles patterns that were read before.
type Compile = Box<dyn FnOnce() -> Gitignore + Send>;

impl Rules {
    /// Reads rules; lines that make no sense are skipped, as git does. Nothing when none are left.
    pub(super) fn parse(folder: &Path, text: &str) -> Option<Self> {
        let mut builder = GitignoreBuilder::new(".");
        let mut hints = Hints::default();
        for line in text.trim_start_matches('\u{feff}').lines() {
            if !pattern::is_unreasonable(line) && builder.add_line(None, line).is_ok() {
                hints.add(line);
            }
        }
        if !hints.any() {
            return None;
        }
        let compile = move || builder.build().unwrap_or_else(|_| Gitignore::empty());
        Some(Self::new(folder, Box::new(compile), hints))
    }

    /// Rules whose text is not known, such as the user's own.
    pub(super) fn opaque(folder: &Path, matcher: Gitignore) -> Self {
        let hints = Hints { always: !matcher.is_empty(), ..Hints::default() };
        Self::new(folder, Box::new(|| matcher), hints)
    }

    fn new(folder: &Path, compile: Compile, hints: Hints) -> Self {
        let path = folder.as_os_str().as_bytes();
        let slash = usize::from(!path.ends_with(b"/"));
        Self { matcher: LazyLock::new(compile), hints, prefix: path.len() + slash }
    }

    /// What the rules say about a path below the folder.
    pub(super) fn rule(&self, path: &Path, name: &OsStr, is_folder: bool) -> Rule {
        if !self.hints.may_match(name.as_bytes()) {
            return Rule::None;
        }
        let inner = path.as_os_str().as_bytes().get(self.prefix..).unwrap_or_default();
        match self.matcher.matched(Path::new(OsStr::from_bytes(inner)), is_folder) {
            Match::None => Rule::None,
            Match::Ignore(_) => Rule::Ignored,
            Match::Whitelist(_) => Rule::Wanted,
        }
    }
}

/// What a name must have for any of the patterns to match it.
#[derive(Debug, Default)]
struct Hints {
    /// Some pattern may match any name.
    always: bool,
    names: HashSet<Vec<u8>, RandomState>,
    /// Endings with a dot, by what follows their last dot.
    endings: HashMap<Vec<u8>, Vec<Vec<u8>>, RandomState>,
    prefixes: Vec<Vec<u8>>,
    suffixes: Vec<Vec<u8>>,
    parts: Parts,
}

impl Hints {
    /// Whether there is a pattern at all.
    fn any(&self) -> bool {
        self.always
            || !self.names.is_empty()
            || !self.endings.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
            || !self.parts.list.is_empty()
    }

    fn add(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let pattern = line.trim_start_matches('!').trim_end_matches('/');
        let last = pattern.rsplit('/').next().unwrap_or_default();
        let special = ['*', '?', '[', ']', '{', '}'];
        let bytes = |text: &str| text.as_bytes().to_vec();
        let Some(first) = last.find(special) else {
            if last.is_empty() || last.contains('\\') {
                self.always = true;
            } else {
                self.names.insert(bytes(last));
            }
            return;
        };
        let end = last.rfind(special).and_then(|at| last.get(at + 1..)).unwrap_or_default();
        let grouped = pattern.contains(['[', '{']);
        if grouped && pattern.contains('/') {
            // A slash may stand inside of a group, and then this is not the last name.
            self.always = true;
        } else if let Some((_, extension)) = end.rsplit_once('.') {
            self.endings.entry(bytes(extension)).or_default().push(bytes(end));
        } else if !end.is_empty() {
            self.suffixes.push(bytes(end));
        } else if last.contains('\\') {
            self.always = true;
        } else if first > 0 {
            self.prefixes.push(bytes(last.get(..first).unwrap_or_default()));
        } else {
            // A group may swallow what stands in it, so only what is before it counts.
            let outside = last.split(['[', '{']).next().unwrap_or_default();
            self.add_part(outside.split(['*', '?']).max_by_key(|part| part.len()));
        }
    }

    fn add_part(&mut self, part: Option<&str>) {
        match part.filter(|part| !part.is_empty()) {
            Some(part) => self.parts.add(part.as_bytes()),
            None => self.always = true,
        }
    }

    fn may_match(&self, name: &[u8]) -> bool {
        if self.always || self.names.contains(name) {
            return true;
        }
        let ends_with =
            |endings: &Vec<Vec<u8>>| endings.iter().any(|ending| name.ends_with(ending));
        let extension = memchr::memrchr(b'.', name).and_then(|dot| name.get(dot + 1..));
        extension.and_then(|extension| self.endings.get(extension)).is_some_and(ends_with)
            || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
            || self.suffixes.iter().any(|suffix| name.ends_with(suffix))
            || self.parts.are_in(name)
    }
}

/// Pieces that may stand anywhere in a name.
#[derive(Debug, Default)]
struct Parts {
    list: Vec<Vec<u8>>,
    /// Which letters some piece begins with.
    beginnings: ByteSet,
}

impl Parts {
    fn add(&mut self, part: &[u8]) {
        if let Some(first) = part.first() {
            self.beginnings.add(*first);
        }
        self.list.push(part.to_vec());
    }

    /// Whether some piece is in the name. Names are too short for cleverer searches to pay.
    fn are_in(&self, name: &[u8]) -> bool {
        let begins = |at: &usize| name.get(*at).is_some_and(|letter| self.beginnings.has(*letter));
        !self.list.is_empty()
            && (0..name.len()).filter(begins).any(|at| {
                let rest = name.get(at..).unwrap_or_default();
                self.list.iter().any(|part| rest.starts_with(part))
            })
    }
}

/// A set of bytes, one bit for each.
#[derive(Debug, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn add(&mut self, byte: u8) {
        if let Some(bits) = self.0.get_mut(usize::from(byte >> 6)) {
            *bits |= 1 << (byte & 63);
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|bits| bits >> (byte & 63) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = String> {
        prop_oneof![
            "[!/]{0,1}[ab.*?]{1,5}/{0,1}",
            "[ab]{0,2}\\*\\.[ab.]{1,3}",
            "[ab]{0,2}\\[[ab]{1,2}\\][ab.*]{0,3}",
            "[ab]{0,1}\\{[ab]{1,2},[ab.]{1,2}\\}[ab.*]{0,2}",
            "[ab/]{1,5}",
            "[ab]{1,2}/\\*\\*",
            "\\\\[ab!#]{1,2}\\*{0,1}[ab.]{0,2}",
            "#[ab]{0,2}",
            "[ab]{1,2} {0,2}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// A name without a hint matches no pattern: the short cut never changes an answer.
        #[test]
        fn hints_never_hide_a_match(lines in proptest::collection::vec(pattern(), 1..4), name in "[ab.!]{1,5}") {
            prop_assume!(name != "." && name != "..");
            let text = lines.join("\n");
            if let Some(rules) = Rules::parse(Path::new("/w"), &text) {
                for folder in ["/w/", "/w/a/"] {
                    let path = format!("{folder}{name}");
                    for is_folder in [false, true] {
                        let inner = path.strip_prefix("/w/").unwrap();
                        let matched = !rules.matcher.matched(inner, is_folder).is_none();
                        prop_assert!(!matched || rules.hints.may_match(name.as_bytes()), "{text:?} {path}");
                    }
                }
            }
        }
    }
}
