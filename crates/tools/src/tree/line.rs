//! One line of an ignore file.
//!
//! Most lines are a name, or a name with one star. Those are compared as they are; compiling them
//! would take longer than most walks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::LazyLock;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::pattern;

/// What rules say about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Ignored,
    /// Named as not ignored, which also unhides it.
    Wanted,
    None,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Line {
    Simple(Simple),
    /// Anything else, compiled when it is needed.
    Other(LazyLock<Gitignore, Compile>),
}

type Compile = Box<dyn FnOnce() -> Gitignore + Send>;

/// A line that is compared as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Simple {
    says: Rule,
    only_folders: bool,
    form: Form,
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// A name anywhere, or only in the folder of the file.
    Name { name: Vec<u8>, only_here: bool },
    /// A name with one star in it.
    Star { start: Vec<u8>, end: Vec<u8>, only_here: bool },
    /// A path from the folder of the file.
    Path(Vec<u8>),
}

impl Line {
    /// Reads a line; nothing when it says nothing.
    pub(super) fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') || line.trim_end().is_empty() || pattern::is_unreasonable(line) {
            return None;
        }
        let other = || {
            let line = line.to_owned();
            Self::Other(LazyLock::new(Box::new(move || compile(&line))))
        };
        Some(Simple::parse(line).map_or_else(other, Self::Simple))
    }

    /// What it says about a name, whose path from the folder of the file is `inner`.
    pub(super) fn rule(&self, inner: &[u8], name: &[u8], is_folder: bool) -> Rule {
        match self {
            Self::Simple(simple) => simple.rule(inner, name, is_folder),
            Self::Other(matcher) => said(matcher, inner, is_folder),
        }
    }
}

impl Simple {
    /// Reads a line as git does, unless it takes more than a comparison.
    fn parse(line: &str) -> Option<Self> {
        if line.contains(['\\', '?', '[', ']', '{', '}']) {
            return None;
        }
        let line = line.trim_end();
        let (says, line) = match line.strip_prefix('!') {
            Some(line) => (Rule::Wanted, line),
            None => (Rule::Ignored, line),
        };
        let (is_absolute, line) = match line.strip_prefix('/') {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (only_folders, line) = match line.strip_suffix('/') {
            Some(line) => (true, line),
            None => (false, line),
        };
        let form = match (line.split_once('*'), line.contains('/')) {
            (Some((_, end)), _) if end.contains('*') => return None,
            (Some(_), true) => return None,
            (Some((start, end)), false) => Form::Star {
                start: start.as_bytes().to_vec(),
                end: end.as_bytes().to_vec(),
                only_here: is_absolute,
            },
            (None, true) => Form::Path(line.as_bytes().to_vec()),
            (None, false) if line.is_empty() => return None,
            (None, false) => Form::Name { name: line.as_bytes().to_vec(), only_here: is_absolute },
        };
        Some(Self { says, only_folders, form })
    }

    fn rule(&self, inner: &[u8], name: &[u8], is_folder: bool) -> Rule {
        let is_here = inner.len() == name.len();
        let matches = match &self.form {
            Form::Name { name: wanted, only_here } => name == wanted && (is_here || !only_here),
            Form::Star { start, end, only_here } => {
                name.strip_prefix(start.as_slice()).is_some_and(|rest| rest.ends_with(end))
                    && (is_here || !only_here)
            }
            Form::Path(path) => inner == path,
        };
        if matches && (is_folder || !self.only_folders) { self.says } else { Rule::None }
    }
}

/// What compiled lines say about a path from their folder.
pub(super) fn said(matcher: &Gitignore, inner: &[u8], is_folder: bool) -> Rule {
    match matcher.matched(Path::new(OsStr::from_bytes(inner)), is_folder) {
        Match::None => Rule::None,
        Match::Ignore(_) => Rule::Ignored,
        Match::Whitelist(_) => Rule::Wanted,
    }
}

/// Compiles a line as if its folder were `.`, which spares comparing the start of every path.
fn compile(line: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(".");
    // A line that makes no sense says nothing, as with git.
    builder.add_line(None, line).ok();
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
