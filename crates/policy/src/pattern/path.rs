//! Patterns over paths, in the manner of `.gitignore`.
//!
//! `p` and `./p` begin in the workspace, `~/p` in the home folder, `//p` at the
//! root. Rules that restrict are generous: they reach any depth where git would,
//! ignore case, and cover what lies below a folder they name.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobMatcher};

use crate::decision::Decision;
use crate::world;

/// Where patterns begin.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The workspace, its main folder first.
    pub workspace: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// How a single leading slash is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    /// The root of the file system, as in a rule's `path`.
    Root,
    /// The workspace, as in a permission such as `Edit(/src/**)`.
    Workspace,
}

/// Which paths a rule is about.
#[derive(Debug, Clone)]
pub struct PathPattern {
    source: String,
    /// Folders that every match is in or below, without a slash at the end.
    bases: Vec<String>,
    /// The same folders as they are written.
    unfolded: Vec<PathBuf>,
    rest: Rest,
    is_folded: bool,
}

/// What is left of a pattern after its literal folders.
#[derive(Debug, Clone)]
enum Rest {
    /// The path itself, or anything below it.
    Below,
    /// Anything of this name at any depth, and what is below it.
    Named(String),
    /// A glob over what follows the base.
    Glob { text: String, reach: GlobReach, compiled: OnceLock<Option<GlobMatcher>> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobReach {
    Itself,
    /// A folder it matches counts with all that is in it.
    Below,
}

impl PathPattern {
    /// Reads a pattern.
    pub fn parse(
        source: &str,
        places: &Places,
        slash: Slash,
        decision: Decision,
    ) -> Result<Self, globset::Error> {
        let restricts = decision != Decision::Allow;
        let (starts, text) = begin(source, places, slash, restricts);
        let is_folder = text.ends_with('/');
        let text = text.trim_matches('/');
        // Git reads a name without a slash as a name at any depth.
        let anywhere = restricts
            && !text.contains('/')
            && !is_special(text)
            && !source.starts_with(['.', '/', '~']);
        let anywhere = anywhere || (restricts && is_dotted_name(source));
        let (literal, rest) = split_literal(text);
        let fold = |text: &str| if restricts { text.to_lowercase() } else { text.to_owned() };
        let rest = match rest {
            "" if anywhere => Rest::Named(fold(text)),
            "" | "**" => Rest::Below,
            rest => {
                let text = if restricts && !text.contains('/') && !source.starts_with("./") {
                    format!("**/{rest}")
                } else {
                    rest.to_owned()
                };
                glob_rest(text, restricts, is_folder)?
            }
        };
        let literal = if matches!(rest, Rest::Named(_)) { "" } else { literal };
        let unfolded: Vec<PathBuf> =
            starts.iter().map(|start| world::normal(&start.join(literal))).collect();
        let bases = unfolded.iter().map(|place| fold(&self::text(place))).collect();
        Ok(Self { source: source.to_owned(), bases, unfolded, rest, is_folded: restricts })
    }

    /// Whether the pattern covers a path. Give the path in lower case for a rule that restricts.
    pub fn matches(&self, path: &str) -> bool {
        self.bases.iter().any(|base| match path.strip_prefix(base.as_str()) {
            Some("") => self.rest.matches(""),
            Some(inner) => inner.strip_prefix('/').is_some_and(|inner| self.rest.matches(inner)),
            None => false,
        })
    }

    /// Returns `true` if the pattern may cover something in a folder, whether that is there or not.
    /// Give the folder in lower case for a rule that restricts.
    pub fn may_match_below(&self, folder: &str) -> bool {
        let is_below = |path: &str, folder: &str| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.bases.iter().any(|base| is_below(base, folder) || is_below(folder, base))
    }

    /// Returns the files or folders that the pattern covers with all that is in them, where it is
    /// about nothing else.
    pub fn whole(&self) -> Option<&[PathBuf]> {
        matches!(self.rest, Rest::Below).then_some(self.unfolded.as_slice())
    }

    /// Whether paths are compared in lower case.
    pub fn is_folded(&self) -> bool {
        self.is_folded
    }

    /// The folders to look the pattern up by, in lower case, and a name if it fixes one.
    pub fn keys(&self) -> impl Iterator<Item = (String, Option<String>)> {
        let name = match &self.rest {
            Rest::Named(name) => Some(name.to_lowercase()),
            _ => None,
        };
        self.bases.iter().map(move |base| (base.to_lowercase(), name.clone()))
    }

    /// Whether the pattern spells out this part of a path, rather than covering it by the way.
    pub fn names(&self, part: &str) -> bool {
        self.source.split('/').any(|own| {
            let says_something = own.chars().any(char::is_alphanumeric);
            let compiled = || GlobBuilder::new(own).case_insensitive(true).build();
            says_something && compiled().is_ok_and(|glob| glob.compile_matcher().is_match(part))
        })
    }

    /// Adds the places that the literal folders of the pattern really are at.
    pub fn also_at(&mut self, mut real: impl FnMut(&Path) -> PathBuf) {
        let mut further = Vec::new();
        for base in &self.bases {
            let resolved = real(Path::new(if base.is_empty() { "/" } else { base }));
            let resolved = self.fold(&text(&resolved));
            if !self.bases.contains(&resolved) {
                further.push(resolved);
            }
        }
        self.bases.append(&mut further);
    }

    fn fold(&self, text: &str) -> String {
        if self.is_folded { text.to_lowercase() } else { text.to_owned() }
    }
}

impl Rest {
    fn matches(&self, inner: &str) -> bool {
        match self {
            Self::Below => true,
            Self::Named(name) => inner.split('/').any(|part| part == name),
            Self::Glob { text, reach, compiled } => {
                let matcher = compiled.get_or_init(|| compile(text).ok());
                let Some(matcher) = matcher else { return false };
                matcher.is_match(inner)
                    || (*reach == GlobReach::Below
                        && inner.match_indices('/').any(|(at, _)| {
                            inner.get(..at).is_some_and(|folder| matcher.is_match(folder))
                        }))
            }
        }
    }
}

/// Where a pattern begins, and the rest of it.
fn begin<'s>(
    source: &'s str,
    places: &Places,
    slash: Slash,
    restricts: bool,
) -> (Vec<PathBuf>, &'s str) {
    let root = || PathBuf::from("/");
    let workspace = || {
        let most = if restricts { usize::MAX } else { 1 };
        places.workspace.iter().take(most).cloned().collect::<Vec<_>>()
    };
    if let Some(rest) = source.strip_prefix("//") {
        return (vec![root()], rest);
    }
    if source == "~" || source.starts_with("~/") {
        let rest = source.strip_prefix("~/").unwrap_or("");
        return (places.home.iter().cloned().collect(), rest);
    }
    if let Some(rest) = source.strip_prefix('/') {
        let mut starts = match slash {
            Slash::Root => vec![root()],
            Slash::Workspace => workspace(),
        };
        if restricts && slash == Slash::Workspace {
            starts.push(root());
        }
        return (starts, rest);
    }
    (workspace(), source.strip_prefix("./").unwrap_or(source))
}

/// `.env` is a name, although it begins as `./env` does.
fn is_dotted_name(source: &str) -> bool {
    source.starts_with('.')
        && !source.starts_with("./")
        && !source.starts_with("..")
        && !source.contains('/')
        && !is_special(source)
}

fn is_special(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\'])
}

/// The leading folders without special letters, and the rest.
fn split_literal(text: &str) -> (&str, &str) {
    let mut end = 0;
    for part in text.split('/') {
        if is_special(part) {
            return (
                text.get(..end).unwrap_or_default().trim_end_matches('/'),
                rest_from(text, end),
            );
        }
        end += part.len() + 1;
    }
    (text, "")
}

fn rest_from(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

fn glob_rest(text: String, restricts: bool, is_folder: bool) -> Result<Rest, globset::Error> {
    if let Some(name) = text.strip_prefix("**/")
        && restricts
        && !is_special(name)
        && !name.contains('/')
    {
        return Ok(Rest::Named(name.to_lowercase()));
    }
    let text = if restricts { text.to_lowercase() } else { text };
    // Stars alone are always well formed; the rest is checked now rather than when first used.
    if text.contains(['?', '[', '{', '\\']) {
        compile(&text)?;
    }
    let reach = if restricts || is_folder { GlobReach::Below } else { GlobReach::Itself };
    Ok(Rest::Glob { text, reach, compiled: OnceLock::new() })
}

fn compile(text: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(text).literal_separator(true).build()?.compile_matcher())
}

/// A path as patterns see it: nothing doubled in it, no slash at its end, the root as nothing.
pub fn text(path: &Path) -> Cow<'_, str> {
    if world::is_plain(path)
        && let Some(text) = path.to_str()
    {
        return Cow::Borrowed(text);
    }
    let plain: PathBuf = path.components().collect();
    Cow::Owned(plain.to_string_lossy().trim_end_matches('/').to_owned())
}

/// A text in lower case.
pub fn folded<'t>(text: &Cow<'t, str>) -> Cow<'t, str> {
    // Without a way out, so that many bytes are looked at at a time.
    let is_other = |byte: u8| !byte.is_ascii() || byte.is_ascii_uppercase();
    let is_folded = text.bytes().fold(0, |found, byte| found | u8::from(is_other(byte))) == 0;
    if is_folded { text.clone() } else { Cow::Owned(text.to_lowercase()) }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.source, &self.bases) == (&other.source, &other.bases)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str, decision: Decision) -> bool {
        let places =
            Places { workspace: vec!["/w/proj".into()], home: Some(PathBuf::from("/home/u")) };
        let pattern = PathPattern::parse(pattern, &places, Slash::Workspace, decision).unwrap();
        pattern.matches(&pattern.fold(path))
    }

    #[test]
    fn patterns_begin_where_they_say() {
        let allowed = |pattern: &str, path: &str| covers(pattern, path, Decision::Allow);
        assert!(allowed("src/**", "/w/proj/src/a/b.rs") && allowed("./src/**", "/w/proj/src/a"));
        assert!(!allowed("src/**", "/w/proj/src_evil/a") && !allowed("src/**", "/w/proj/x/src/a"));
        assert!(allowed("~/notes/*.md", "/home/u/notes/a.md"));
        assert!(!allowed("~/notes/*.md", "/home/u/notes/deep/a.md"));
        assert!(allowed("//tmp/x", "/tmp/x") && !allowed("//tmp/x", "/tmp/xy"));
        assert!(allowed("//**", "/etc/hosts") && allowed("**", "/w/proj/a"));
        assert!(!allowed("**", "/w/other"));
        assert!(allowed("../lib/**", "/w/lib/x") && allowed("*.md", "/w/proj/a.md"));
        assert!(!allowed("*.md", "/w/proj/docs/a.md") && allowed("docs", "/w/proj/docs/a"));
    }

    #[test]
    fn restricting_patterns_are_generous() {
        let denied = |pattern: &str, path: &str| covers(pattern, path, Decision::Deny);
        assert!(denied("**/.env", "/w/proj/a/.env") && denied("**/.env", "/w/proj/.env"));
        assert!(denied(".env", "/w/proj/a/.ENV") && denied("*.pem", "/w/proj/a/k.pem"));
        assert!(denied("./.env", "/w/proj/.env") && !denied("./.env", "/w/proj/a/.env"));
        assert!(!denied("./.env", "/w/proj/.env.example"));
        assert!(
            denied("secrets", "/w/proj/x/secrets/k") && denied("secrets/*", "/w/proj/secrets/a/b")
        );
        assert!(denied("/etc/shadow", "/etc/shadow") && denied("/key", "/w/proj/key"));
    }

    #[test]
    fn a_pattern_names_what_it_spells_out() {
        let places = Places { workspace: vec!["/w".into()], home: None };
        let names = |pattern: &str, part: &str| {
            PathPattern::parse(pattern, &places, Slash::Workspace, Decision::Allow)
                .unwrap()
                .names(part)
        };
        assert!(names("**/*.pem", "k.pem") && names("./.env", ".env"));
        assert!(!names("config/**", "k.pem") && !names("**/*", ".env"));
    }
}
