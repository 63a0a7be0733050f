//! What a pattern matches, or what is wrong with it and where.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use globset::{ErrorKind as GlobFault, GlobBuilder, GlobSet, GlobSetBuilder};

/// A glob that paths below a folder must match as a whole; its `*` stays within a folder.
#[derive(Debug)]
pub(crate) struct PathGlob {
    /// How long the folder's own path is.
    prefix: usize,
    matching: Matching,
}

/// How paths are matched: the commonest patterns need no machinery.
#[derive(Debug)]
enum Matching {
    Everything,
    /// Names that end so, in any folder.
    Ending(Vec<u8>),
    Glob(GlobSet),
}

impl PathGlob {
    /// Compiles a glob.
    ///
    /// # Errors
    ///
    /// Why it cannot be used, pointing at the place.
    pub(crate) fn below(folder: &Path, pattern: &str) -> Result<Self, String> {
        let glob = compile_glob(pattern)?;
        let matching = match any_folder_ending(pattern) {
            Some("") => Matching::Everything,
            Some(ending) => Matching::Ending(ending.as_bytes().to_vec()),
            None => {
                let set = GlobSetBuilder::new().add(glob).build();
                Matching::Glob(set.map_err(|error| error.to_string())?)
            }
        };
        Ok(Self { prefix: folder.as_os_str().len(), matching })
    }

    /// Whether a path matches, given as a whole.
    pub(crate) fn is_match(&self, path: &Path) -> bool {
        match &self.matching {
            Matching::Everything => true,
            Matching::Ending(ending) => path.as_os_str().as_bytes().ends_with(ending),
            Matching::Glob(set) => set.is_match(self.inner(path)),
        }
    }

    /// What of a path is below the folder.
    pub(crate) fn inner<'p>(&self, path: &'p Path) -> &'p Path {
        let bytes = path.as_os_str().as_bytes();
        let inner = bytes.get(self.prefix..).unwrap_or_default();
        Path::new(OsStr::from_bytes(inner.strip_prefix(b"/").unwrap_or(inner)))
    }
}

/// What names must end with if that is all a pattern asks for, such as `.rs` for `**/*.rs`.
fn any_folder_ending(pattern: &str) -> Option<&str> {
    let ending = pattern.strip_prefix("**/*")?;
    (!ending.contains(['*', '?', '[', ']', '{', '}', '\\', '/'])).then_some(ending)
}

/// Why a regular expression cannot be used, pointing at the place; nothing when it can.
pub(crate) fn regex_fault(pattern: &str) -> Option<String> {
    let error = regex_syntax::parse(pattern).err()?;
    let (reason, span) = match &error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
        other => return Some(other.to_string()),
    };
    let position = pattern.get(..span.start.offset).map_or(0, |before| before.chars().count());
    Some(pointing(pattern, position, &reason))
}

/// The longest glob that is compiled.
const LONGEST_GLOB: usize = 4 * 1024;
/// How deep groups may stand in each other: compiling them is recursive.
const DEEPEST_GROUP: usize = 20;

/// Compiles a glob whose `*` stays within a folder.
///
/// # Errors
///
/// Why it cannot be used, pointing at the place.
pub(crate) fn compile_glob(pattern: &str) -> Result<globset::Glob, String> {
    if is_unreasonable(pattern) {
        return Err(format!(
            "it is longer than {LONGEST_GLOB} bytes or has groups more than {DEEPEST_GROUP} deep"
        ));
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| glob_fault(pattern, &error))
}

/// Whether compiling a glob could exhaust the stack or the memory.
pub(crate) fn is_unreasonable(pattern: &str) -> bool {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for letter in pattern.bytes() {
        match letter {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    pattern.len() > LONGEST_GLOB || deepest > DEEPEST_GROUP
}

/// Why a glob cannot be used, pointing at the place.
fn glob_fault(pattern: &str, error: &globset::Error) -> String {
    let last = |letter: char| {
        let at = pattern.rfind(letter)?;
        Some(pattern.get(..at)?.chars().count())
    };
    let position = match error.kind() {
        GlobFault::UnclosedClass => last('['),
        GlobFault::InvalidRange(from, to) => pattern
            .find(&format!("{from}-{to}"))
            .and_then(|at| Some(pattern.get(..at)?.chars().count())),
        GlobFault::UnclosedAlternates => unmatched_brace(pattern),
        GlobFault::UnopenedAlternates => last('}'),
        GlobFault::DanglingEscape => last('\\'),
        _ => None,
    };
    pointing(pattern, position.unwrap_or(0), &error.kind().to_string())
}

/// The first `{` that is never closed.
fn unmatched_brace(pattern: &str) -> Option<usize> {
    let mut open = Vec::new();
    for (position, letter) in pattern.chars().enumerate() {
        match letter {
            '{' => open.push(position),
            '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.first().copied()
}

fn pointing(pattern: &str, position: usize, reason: &str) -> String {
    let caret = " ".repeat(position);
    format!("{reason} at position {}:\n  {pattern}\n  {caret}^", position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regex_faults_point_at_the_place() {
        let fault = regex_fault("ab(c").unwrap();
        assert!(fault.contains("unclosed group at position 3:\n  ab(c\n    ^"), "{fault}");
        assert_eq!(regex_fault("a+"), None);
    }

    #[test]
    fn short_cuts_match_what_globs_do() {
        let paths = ["a.c", "b/a.c", "b/.c", "b/c", "b/a.cc", "c.c/d", "d/*.c", "b/{a}.c", "é.c"];
        let patterns =
            ["**/*", "**/*.c", "**/*c", "**/*a.c", "**/*.{c,cc}", "**/*.[c]", "*.c", "**/?.c"];
        for pattern in patterns {
            let ours = PathGlob::below(Path::new("/w"), pattern).unwrap();
            let plain = compile_glob(pattern).unwrap().compile_matcher();
            for path in paths {
                let whole = Path::new("/w").join(path);
                assert_eq!(ours.inner(&whole), Path::new(path));
                assert_eq!(ours.is_match(&whole), plain.is_match(path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn paths_below_the_root_have_no_slash_to_spare() {
        let glob = PathGlob::below(Path::new("/"), "*.c").unwrap();
        assert!(glob.is_match(Path::new("/a.c")));
        assert!(!glob.is_match(Path::new("/b/a.c")));
    }

    #[test]
    fn glob_faults_point_at_the_place() {
        for (pattern, position) in [("src/[ab", 5), ("{a,b", 1), ("a}b", 2), ("x[z-a]", 3)] {
            let error = globset::Glob::new(pattern).unwrap_err();
            let fault = glob_fault(pattern, &error);
            assert!(fault.contains(&format!("at position {position}:")), "{fault}");
        }
    }
}
