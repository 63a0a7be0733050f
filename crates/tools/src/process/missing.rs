//! What a command lacked inside of its sandbox, as far as its complaints tell.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::dialect::Dialect;
use toolgate_core::policy::floor::sensitive::sensitive;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::policy::world::normal;

/// What would have let a command do what its sandbox refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// These hosts.
    Network(Vec<String>),
    /// Writing in these folders.
    Write(Vec<PathBuf>),
    /// This sandbox.
    Sandbox(Sandbox),
}

impl Missing {
    /// The parameters that ask for it, by their native names.
    pub(super) fn parameters(&self) -> Map<String, Value> {
        let (name, value) = match self {
            Self::Network(hosts) => ("network", json!(hosts)),
            Self::Write(folders) => ("write", json!(folders)),
            Self::Sandbox(sandbox) => ("sandbox", json!(sandbox)),
        };
        Map::from_iter([(name.to_owned(), value)])
    }

    /// The parameters that ask for it, as the caller would write them.
    pub(super) fn spelled(&self, context: &CallContext) -> Map<String, Value> {
        if *self == Self::Sandbox(Sandbox::Full) && context.dialect() == Dialect::Claude {
            return Map::from_iter([("dangerouslyDisableSandbox".to_owned(), json!(true))]);
        }
        self.parameters()
    }

    /// The sentence that tells how to ask for it.
    pub(super) fn next(&self, context: &CallContext) -> String {
        let tool = match context.dialect() {
            Dialect::Native => "shell",
            Dialect::Claude => "Bash",
            Dialect::Camel => "runCommand",
        };
        let parameters = self.spelled(context);
        let spelled: Vec<String> =
            parameters.iter().map(|(name, value)| format!("`{name}`: {value}")).collect();
        format!(
            "To run it again with that, call `{tool}` with {}; the user is asked.",
            spelled.join(", ")
        )
    }
}

/// Words for a folder that cannot be written. Node says that it is not there.
pub(super) const NOT_WRITTEN: [&str; 3] =
    ["Read-only file system", "EROFS", "ENOENT: no such file or directory, mkdir"];

/// The folders outside of the workspace that a command could not write in, as its complaints name
/// them. Returns nothing where one of them is not to be offered: a secret, or all of the home.
pub(super) fn unwritable(
    complaints: &str,
    roots: &[PathBuf],
    home: Option<&Path>,
) -> Option<Vec<PathBuf>> {
    folders(complaints, &NOT_WRITTEN, roots, home)
}

/// The folders of the home that are there and that a command did not find, since its sandbox hides
/// them. Returns nothing where one of them is not to be offered.
pub(super) fn unseen(
    complaints: &str,
    roots: &[PathBuf],
    home: Option<&Path>,
) -> Option<Vec<PathBuf>> {
    let found = folders(complaints, &["No such file or directory", "ENOENT"], roots, home)?;
    found.iter().all(|folder| home.is_some_and(|home| folder.starts_with(home))).then_some(found)
}

fn folders(
    complaints: &str,
    words: &[&str],
    roots: &[PathBuf],
    home: Option<&Path>,
) -> Option<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for path in telling_lines(complaints, words).flat_map(absolute_paths) {
        let path = normal(Path::new(path));
        if roots.iter().any(|root| path.starts_with(root)) {
            continue;
        }
        let folder = if path.is_dir() { path } else { path.parent()?.to_owned() };
        let is_too_much = folder.components().count() < 3
            || home.is_some_and(|home| home.starts_with(&folder))
            || !folder.is_dir();
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        if is_too_much || sensitive(&lower(&folder), home.map(lower).as_deref()).is_some() {
            return None;
        }
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    (!folders.is_empty()).then_some(folders)
}

/// The lines with the words for a refusal. Where one has only the reason, as in cargo's
/// `Caused by:`, the path is in the lines above.
fn telling_lines<'c>(complaints: &'c str, words: &[&str]) -> impl Iterator<Item = &'c str> {
    const ABOVE: usize = 3;
    let lines: Vec<&str> = complaints.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_reason = |line: &str| words.iter().any(|words| line.contains(words));
    let told: Vec<&str> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_reason(line))
        .flat_map(|(at, line)| {
            let is_alone = words.iter().any(|words| line.trim_start().starts_with(words));
            let first = if is_alone { at.saturating_sub(ABOVE) } else { at };
            lines.get(first..=at).unwrap_or_default()
        })
        .copied()
        .collect();
    told.into_iter()
}

/// The absolute paths in a line, where quotes, colons and blanks end them. The program that
/// complains is none of them.
pub(super) fn absolute_paths(line: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| letter.is_whitespace() || "'\"`:,()‘’".contains(letter);
    let is_program = |word: &str| word.contains("/bin/") || word.contains("/sbin/");
    line.split(ends)
        .filter(move |word| word.starts_with('/') && word.len() > 1 && !is_program(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_in_complaints() {
        let temporary = tempfile::tempdir().unwrap();
        let outside = temporary.path().join("out/side");
        std::fs::create_dir_all(&outside).unwrap();
        let roots = [PathBuf::from("/w")];
        let of = |complaint: &str| unwritable(complaint, &roots, Some(Path::new("/home/me")));
        let shown = outside.display();
        for complaint in [
            format!("touch: cannot touch '{shown}/x': Read-only file system"),
            format!("bash: {shown}/x: Read-only file system"),
            format!("Error: EROFS: read-only file system, open '{shown}/x'"),
            format!(
                "error: failed to open: {shown}/x\n\nCaused by:\n  Read-only file system (os error 30)"
            ),
            format!("npm error enoent ENOENT: no such file or directory, mkdir '{shown}/x'"),
        ] {
            assert_eq!(of(&complaint), Some(vec![outside.clone()]), "{complaint}");
        }
        for complaint in [
            "touch: cannot touch '/w/x': Read-only file system",
            "touch: cannot touch '/x': Read-only file system",
            "Error: ENOENT: no such file or directory, mkdir '/nowhere/below/x'",
            "touch: cannot touch '/home/me/x': Read-only file system",
            "touch: cannot touch '/etc/ssh/x': Permission denied",
            "cp: '/home/me/.ssh/x': Read-only file system",
            "/usr/bin/touch: cannot touch 'x': Read-only file system",
        ] {
            assert_eq!(of(complaint), None, "{complaint}");
        }
    }
}
