//! The rules of one ignore file, quick to say no.
//!
//! Nearly every name matches no rule, and finding that out by running all
//! patterns costs more than anything else in a walk. So each pattern leaves
//! behind what a name must have for it to match at all; only a name that has
//! it is put to the lines themselves.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use foldhash::fast::RandomState;
use ignore::gitignore::Gitignore;

use super::line::{Line, Rule, said};

/// The rules of one file, for paths below a folder.
#[derive(Debug)]
pub(super) struct Rules {
    matcher: Matcher,
    hints: Hints,
    /// How long the folder's own path is, its last slash included.
    prefix: usize,
}

#[derive(Debug)]
enum Matcher {
    /// The last line that says something counts.
    Lines(Vec<Line>),
    Compiled(Gitignore),
}

impl Rules {
    /// Reads rules; nothing when there are none.
    pub(super) fn parse(folder: &Path, text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let mut hints = Hints::default();
        text.lines().for_each(|line| hints.add(line));
        let lines = || Matcher::Lines(text.lines().filter_map(Line::parse).collect());
        hints.any().then(|| Self::new(folder, lines(), hints))
    }

    /// Rules whose text is not known, such as the user's own.
    pub(super) fn opaque(folder: &Path, matcher: Gitignore) -> Self {
        let hints = Hints { always: !matcher.is_empty(), ..Hints::default() };
        Self::new(folder, Matcher::Compiled(matcher), hints)
    }

    fn new(folder: &Path, matcher: Matcher, hints: Hints) -> Self {
        let path = folder.as_os_str().as_bytes();
        let slash = usize::from(!path.ends_with(b"/"));
        Self { matcher, hints, prefix: path.len() + slash }
    }

    /// What the rules say about a path below the folder.
    pub(super) fn rule(&self, path: &Path, name: &OsStr, is_folder: bool) -> Rule {
        if !self.hints.may_match(name.as_bytes()) {
            return Rule::None;
        }
        let inner = path.as_os_str().as_bytes().get(self.prefix..).unwrap_or_default();
        self.matcher.rule(inner, name.as_bytes(), is_folder)
    }
}

impl Matcher {
    fn rule(&self, inner: &[u8], name: &[u8], is_folder: bool) -> Rule {
        match self {
            Self::Lines(lines) => {
                let mut said = lines.iter().rev().map(|line| line.rule(inner, name, is_folder));
                said.find(|rule| *rule != Rule::None).unwrap_or(Rule::None)
            }
            Self::Compiled(matcher) => said(matcher, inner, is_folder),
        }
    }
}

/// What a name must have for any of the patterns to match it.
#[derive(Debug, Default)]
struct Hints {
    /// Some pattern may match any name.
    always: bool,
    names: Names,
    prefixes: Pieces,
    suffixes: Pieces,
    /// What stands anywhere.
    parts: Pieces,
}

impl Hints {
    /// Whether there is a pattern at all.
    fn any(&self) -> bool {
        let pieces = [&self.prefixes, &self.suffixes, &self.parts];
        self.always || !self.names.set.is_empty() || pieces.iter().any(|some| !some.is_empty())
    }

    fn add(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let pattern = line.strip_prefix('!').unwrap_or(line).trim_end_matches('/');
        let last = pattern.rsplit('/').next().unwrap_or_default();
        let special = ['*', '?', '[', ']', '{', '}'];
        let Some(first) = last.find(special) else {
            if last.is_empty() || last.contains('\\') {
                self.always = true;
            } else {
                self.names.add(last.as_bytes());
            }
            return;
        };
        let end = last.rfind(special).and_then(|at| last.get(at + 1..)).unwrap_or_default();
        let grouped = pattern.contains(['[', '{']);
        if grouped && pattern.contains('/') || end.contains('\\') {
            // A slash may stand inside of a group, and then this is not the last name.
            self.always = true;
        } else if !end.is_empty() {
            self.suffixes.add(end.as_bytes(), end.bytes().last());
        } else if last.contains('\\') {
            self.always = true;
        } else if first > 0 {
            let prefix = last.get(..first).unwrap_or_default().as_bytes();
            self.prefixes.add(prefix, prefix.first().copied());
        } else {
            // A group may swallow what stands in it, so only what is before it counts.
            let outside = last.split(['[', '{']).next().unwrap_or_default();
            self.add_part(outside.split(['*', '?']).max_by_key(|part| part.len()));
        }
    }

    fn add_part(&mut self, part: Option<&str>) {
        match part.map(str::as_bytes).filter(|part| !part.is_empty()) {
            Some(part) => self.parts.add(part, part.first().copied()),
            None => self.always = true,
        }
    }

    fn may_match(&self, name: &[u8]) -> bool {
        self.always
            || self.names.has(name)
            || self.suffixes.at(name.last()).iter().any(|suffix| name.ends_with(suffix))
            || self.prefixes.at(name.first()).iter().any(|prefix| name.starts_with(prefix))
            || self.parts.any_in(name)
    }
}

/// Whole names.
#[derive(Debug, Default)]
struct Names {
    set: HashSet<Vec<u8>, RandomState>,
    marks: ByteSet,
}

impl Names {
    fn add(&mut self, name: &[u8]) {
        self.marks.add(mark(name));
        self.set.insert(name.to_vec());
    }

    fn has(&self, name: &[u8]) -> bool {
        self.marks.has(mark(name)) && self.set.contains(name)
    }
}

/// A number that is the same for the same name, found quicker than its hash.
fn mark(name: &[u8]) -> u8 {
    let first = name.first().map_or(0, |letter| letter.wrapping_mul(31));
    let last = name.last().map_or(0, |letter| letter.wrapping_mul(7));
    let [length, ..] = name.len().to_le_bytes();
    first.wrapping_add(last).wrapping_add(length)
}

/// Pieces of names, by the letter they begin or end with.
#[derive(Debug, Default)]
struct Pieces {
    by_letter: Vec<(u8, Vec<Vec<u8>>)>,
    letters: ByteSet,
}

impl Pieces {
    fn is_empty(&self) -> bool {
        self.by_letter.is_empty()
    }

    fn add(&mut self, piece: &[u8], letter: Option<u8>) {
        let letter = letter.unwrap_or(0);
        self.letters.add(letter);
        match self.by_letter.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, pieces)) => pieces.push(piece.to_vec()),
            None => self.by_letter.push((letter, vec![piece.to_vec()])),
        }
    }

    /// The pieces of a letter.
    fn at(&self, letter: Option<&u8>) -> &[Vec<u8>] {
        letter
            .filter(|letter| self.letters.has(**letter))
            .and_then(|letter| self.by_letter.iter().find(|(known, _)| known == letter))
            .map_or(&[], |(_, pieces)| pieces)
    }

    /// Whether some piece stands anywhere in a name, given that pieces are by their first letter.
    fn any_in(&self, name: &[u8]) -> bool {
        self.by_letter.iter().any(|(letter, pieces)| {
            memchr::memchr_iter(*letter, name).any(|at| {
                let rest = name.get(at..).unwrap_or_default();
                pieces.iter().any(|piece| rest.starts_with(piece))
            })
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
    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = String> {
        prop_oneof![
            "[!/]{0,1}[ab.*?]{1,5}/{0,1}",
            "[ab]{0,2}\\*\\.[ab.]{1,3}",
            "[ab]{0,2}\\[[ab]{1,2}\\][ab.*]{0,3}",
            "[ab]{0,1}\\{[ab]{1,2},[ab.]{1,2}\\}[ab.*]{0,2}",
            "[ab/]{1,5}",
            "!{0,1}/{0,1}[ab.]{0,2}\\*[ab.]{0,2}/{0,1}",
            "[!/#]{1,2}[ab]{0,2}[ /]{0,2}",
            "[ab]{1,2}/\\*\\*",
            "\\\\[ab!#]{1,2}\\*{0,1}[ab.]{0,2}",
            "#[ab]{0,2}",
            "[ab]{1,2} {0,2}",
            "\\*[ab]{0,1}\\\\[ab.]{1,2}",
        ]
    }

    /// All lines compiled together, as others do it.
    fn compiled(text: &str) -> Gitignore {
        let mut builder = GitignoreBuilder::new(".");
        for line in text.lines() {
            builder.add_line(None, line).ok();
        }
        builder.build().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// Neither hints nor comparing simple lines ever changes an answer.
        #[test]
        fn short_cuts_change_no_answer(lines in proptest::collection::vec(pattern(), 1..5), name in "[ab! ][ab.! ]{0,4}|\\.[ab.]{0,3}[ab!]") {
            let text = lines.join("\n");
            let whole = compiled(&text);
            let rules = Rules::parse(Path::new("/w"), &text);
            for folder in ["", "a/", "b/a/"] {
                let inner = format!("{folder}{name}");
                for is_folder in [false, true] {
                    let expected = said(&whole, inner.as_bytes(), is_folder);
                    let path = format!("/w/{inner}");
                    let found = rules.as_ref().map_or(Rule::None, |rules| {
                        rules.rule(Path::new(&path), OsStr::new(&name), is_folder)
                    });
                    prop_assert_eq!(found, expected, "{:?} {}", &text, &inner);
                }
            }
        }
    }
}
