//! A short look at a workspace, for what must be hidden or guarded in it.
//!
//! It is made before each command, so it is bounded: it goes a few folders deep, sees a few
//! thousand names, and passes by folders that hold what others wrote.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use toolgate_policy::floor::protected::governing_part;
use toolgate_policy::floor::sensitive::{When, sensitive};

/// Names looked at, at most.
const NAMES: usize = 4000;
/// Folders below each other, at most.
const DEPTH: usize = 4;
/// Paths of one kind, at most.
const FOUND: usize = 256;

/// Folders that hold what tools made or fetched.
const PASSED_BY: &[&str] =
    &["node_modules", "target", "vendor", "__pycache__", "dist", "build", ".venv", "venv"];

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Files and folders that hold secrets.
    pub(crate) secrets: Vec<PathBuf>,
    /// Files and folders that govern other programs, but git's.
    pub(crate) governing: Vec<PathBuf>,
    /// What is called `.git`.
    pub(crate) repositories: Vec<PathBuf>,
}

impl Survey {
    /// Looks at a folder, the nearest names first.
    pub(crate) fn of(root: &Path) -> Self {
        let mut survey = Self::default();
        let mut waiting = VecDeque::from([(root.to_owned(), String::new(), 0)]);
        let mut left = NAMES;
        while let Some((folder, below, depth)) = waiting.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if left == 0 {
                    return survey;
                }
                left -= 1;
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                let name = name.to_string_lossy().to_lowercase();
                let is_walked = survey.note(entry.path(), &below, &name, kind);
                if is_walked && depth + 1 < DEPTH {
                    waiting.push_back((entry.path(), format!("{below}/{name}"), depth + 1));
                }
            }
        }
        survey
    }

    /// Notes what a name is; tells whether to look into it.
    fn note(&mut self, path: PathBuf, below: &str, name: &str, kind: fs::FileType) -> bool {
        if name == ".git" {
            add(&mut self.repositories, path);
            return false;
        }
        let is_secret = || {
            let path = format!("{below}/{name}");
            sensitive(&path, None).is_some_and(|found| found.when == When::Touched)
        };
        // A link is followed by its name alone: what it leads to has another.
        if kind.is_symlink() {
            if is_secret() {
                self.secrets.extend(path.canonicalize().ok().filter(|real| real.is_file()));
            } else if governing_part(name, None).is_some() {
                add(&mut self.governing, path);
            }
            return false;
        }
        // A plain folder such as `secrets` may as well hold sources, so it is looked into.
        if (!kind.is_dir() || name.starts_with('.')) && is_secret() {
            add(&mut self.secrets, path);
            return false;
        }
        if governing_part(name, None).is_some() {
            add(&mut self.governing, path);
            return false;
        }
        kind.is_dir() && !PASSED_BY.contains(&name)
    }
}

fn add(found: &mut Vec<PathBuf>, path: PathBuf) {
    if found.len() < FOUND {
        found.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_secrets_and_what_governs_but_not_in_what_was_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = [
            ".env",
            ".env.example",
            "a/b/key.pem",
            "secrets/mod.rs",
            "secrets/db.txt",
            "a/.vscode/tasks.json",
            "CLAUDE.md",
            "a/.git/config",
            "node_modules/x/.env",
            "src/main.rs",
        ];
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let Survey { mut secrets, mut governing, repositories } = Survey::of(root);
        secrets.sort();
        governing.sort();
        assert_eq!(secrets, [".env", "a/b/key.pem", "secrets/db.txt"].map(|path| root.join(path)));
        assert_eq!(governing, ["CLAUDE.md", "a/.vscode"].map(|path| root.join(path)));
        assert_eq!(repositories, [root.join("a/.git")]);
    }
}
