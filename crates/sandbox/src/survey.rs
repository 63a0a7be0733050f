//! A look at all of a workspace, for what must be hidden or guarded in it.
//!
//! It is made before each command and has no depth at which it ends: whatever it passed by, a
//! command could use. Where there is more than it can look at, the command does not run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_policy::floor::protected::governing_part;
use toolgate_policy::floor::sensitive::{When, sensitive};
use toolgate_policy::veil::Veil;

use crate::raw::Raw;
use crate::repository::BARE;

/// Names looked at, at most.
const NAMES: usize = 1_000_000;
/// Paths found, at most: each takes a mount.
const FOUND: usize = 8192;

/// Folders that hold what builds made or tools fetched. They are removed and made again as a
/// whole, so nothing is guarded in them; secrets in them are hidden.
const MADE: &[&str] = &[
    "__pycache__",
    ".tox",
    ".venv",
    "bower_components",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "target",
    "vendor",
    "venv",
];

/// Folders that hold packages from a registry. Keys and `credentials` in them are examples that
/// everybody can read, and code with such a name is needed to run.
const FETCHED: &[&str] = &["__pycache__", "bower_components", "node_modules", "site-packages"];

/// Places with nothing of a workspace in them.
const NOT_FILES: &[&str] = &["/proc", "/sys", "/dev"];

/// The secrets and repositories found in a folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Survey {
    /// The folder, a real path.
    pub(crate) root: Raw,
    /// Files and folders that hold secrets.
    pub(crate) secrets: Vec<Raw>,
    /// Files and folders that rules deny to read.
    pub(crate) denied: Vec<Raw>,
    /// Files and folders that govern other programs, but git's.
    pub(crate) governing: Vec<Raw>,
    /// Paths called `.git`, and folders that are repositories without one.
    pub(crate) repositories: Vec<Raw>,
}

/// A folder that is still to be looked into.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The path below the root, in lower case.
    below: String,
    is_made: bool,
    is_fetched: bool,
}

impl Survey {
    /// Looks at a folder.
    ///
    /// # Errors
    ///
    /// When there is too much to look at, or something cannot be looked at.
    pub(crate) fn of(root: &Path, veil: &Veil) -> Result<Self, String> {
        Self::of_at_most(root, veil, NAMES)
    }

    fn of_at_most(root: &Path, veil: &Veil, mut left: usize) -> Result<Self, String> {
        let mut survey = Self { root: root.to_owned().into(), ..Self::default() };
        let mut waiting = vec![Folder {
            path: root.to_owned(),
            below: String::new(),
            is_made: false,
            is_fetched: false,
        }];
        while let Some(folder) = waiting.pop() {
            let failed = |error: io::Error| format!("`{}`: {error}", folder.path.display());
            let entries = match fs::read_dir(&folder.path) {
                Ok(entries) => entries,
                // It is gone, or the command cannot look into it, either.
                Err(error) if is_closed(&error) => continue,
                Err(error) => return Err(failed(error)),
            };
            let mut bare = 0;
            for entry in entries {
                let entry = entry.map_err(failed)?;
                bare += usize::from(BARE.iter().any(|name| entry.file_name() == *name));
                left = left.checked_sub(1).ok_or_else(|| {
                    format!(
                        "`{}` holds more than {NAMES} files, too many to look for secrets in",
                        root.display()
                    )
                })?;
                let kind = entry.file_type().map_err(failed)?;
                waiting.extend(survey.note(&folder, &entry.file_name(), kind, veil));
            }
            if bare == BARE.len() && !folder.is_made && folder.path != root {
                survey.repositories.push(folder.path.clone().into());
            }
            if survey.count() > FOUND {
                return Err(format!(
                    "`{}` holds more than {FOUND} secrets and files that govern other programs",
                    root.display()
                ));
            }
        }
        survey.add_other_names()?;
        Ok(survey)
    }

    /// Adds the other names that files have which must not be read.
    fn add_other_names(&mut self) -> Result<(), String> {
        let linked = |list: &[Raw]| -> BTreeSet<(u64, u64)> {
            let found = list.iter().filter_map(|path| path.as_path().symlink_metadata().ok());
            let found = found.filter(|found| found.is_file() && found.nlink() > 1);
            found.map(|found| (found.dev(), found.ino())).collect()
        };
        let (secrets, denied) = (linked(&self.secrets), linked(&self.denied));
        if secrets.is_empty() && denied.is_empty() {
            return Ok(());
        }
        let mut waiting = vec![self.root.as_path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let failed = |error: io::Error| format!("`{}`: {error}", folder.display());
                let entry = entry.map_err(failed)?;
                // What is gone meanwhile has no other name.
                let Ok(found) = entry.metadata() else { continue };
                let file = (found.dev(), found.ino());
                if found.is_dir() {
                    waiting.push(entry.path());
                } else if denied.contains(&file) {
                    self.denied.push(entry.path().into());
                } else if secrets.contains(&file) {
                    self.secrets.push(entry.path().into());
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        let lists = [&self.secrets, &self.denied, &self.governing, &self.repositories];
        lists.iter().map(|list| list.len()).sum()
    }

    /// Notes what a name is; returns a folder to look into.
    fn note(
        &mut self,
        folder: &Folder,
        own: &OsStr,
        kind: fs::FileType,
        veil: &Veil,
    ) -> Option<Folder> {
        let name = own.to_string_lossy().to_lowercase();
        let path = || folder.path.join(own);
        if veil.has_denials() && veil.denies(&path()) {
            self.denied.push(path().into());
            // A link cannot be hidden; where it leads is.
            self.denied.extend(path().canonicalize().ok().map(Raw::from));
            return None;
        }
        if name == ".git" {
            if !folder.is_made {
                self.repositories.push(path().into());
            }
            return None;
        }
        let is_secret = || is_secret(&folder.below, &name, folder.is_fetched);
        let governs = || !folder.is_made && governing_part(&name, None).is_some();
        // A link is followed by its name alone: what it leads to has another.
        if kind.is_symlink() {
            if is_secret() {
                let real = path().canonicalize().ok().filter(|real| real.is_file());
                self.secrets.extend(real.map(Raw::from));
            } else if governs() {
                self.governing.push(path().into());
            }
            return None;
        }
        let governs = governs();
        if governs {
            self.governing.push(path().into());
        }
        // A plain folder such as `secrets` may as well hold sources, so it is looked into.
        if (!kind.is_dir() || name.starts_with('.')) && is_secret() {
            self.secrets.push(path().into());
            return None;
        }
        if governs {
            // What governs is guarded as a whole, and may hold secrets.
            let below = format!("{}/{name}", folder.below);
            return kind.is_dir().then(|| Folder {
                path: path(),
                below,
                is_made: true,
                is_fetched: folder.is_fetched,
            });
        }
        let is_walked = kind.is_dir() && !NOT_FILES.iter().any(|place| path() == Path::new(place));
        is_walked.then(|| Folder {
            path: path(),
            below: format!("{}/{name}", folder.below),
            is_made: folder.is_made || MADE.contains(&name.as_str()),
            is_fetched: folder.is_fetched || FETCHED.contains(&name.as_str()),
        })
    }
}

/// Returns `true` if a name, in lower case, is that of a secret.
fn is_secret(below: &str, name: &str, is_fetched: bool) -> bool {
    let is_user_s = name.starts_with(['.', '_']) || name.starts_with("id_");
    let is_package_s = matches!(name, ".npmrc" | ".envrc" | ".gem");
    if is_fetched && (!is_user_s || is_package_s) {
        return false;
    }
    let path = format!("{below}/{name}");
    sensitive(&path, None).is_some_and(|found| found.when == When::Touched)
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        (folder, root)
    }

    fn names(root: &Path, found: &[Raw]) -> Vec<String> {
        let below = |path: &Raw| path.as_path().strip_prefix(root).unwrap().to_owned();
        let mut names: Vec<String> =
            found.iter().map(|path| below(path).to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn finds_secrets_and_what_governs_at_any_depth() {
        let (_folder, root) = made(&[
            ".env",
            ".env.example",
            "a/b/key.pem",
            "a/b/c/d/e/f/g/h/.ENV.local",
            "secrets/mod.rs",
            "secrets/db.txt",
            "a/.vscode/tasks.json",
            "a/.vscode/.env",
            ".envrc",
            "1/2/3/4/5/6/CLAUDE.md",
            "CLAUDE.md",
            "a/.git/config",
            "1/2/3/4/5/.git/config",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "build/dep/.git/config",
            "node_modules/x/.env",
            "node_modules/x/test/key.pem",
            "node_modules/x/.npmrc",
            "node_modules/x/credentials.js.map",
            "dist/key.pem",
            "target/debug/id_rsa",
            "src/main.rs",
        ]);
        let survey = Survey::of(&root, &Veil::default()).unwrap();
        assert_eq!(
            names(&root, &survey.secrets),
            [
                ".env",
                ".envrc",
                "a/.vscode/.env",
                "a/b/c/d/e/f/g/h/.ENV.local",
                "a/b/key.pem",
                "dist/key.pem",
                "node_modules/x/.env",
                "secrets/db.txt",
                "target/debug/id_rsa",
            ]
        );
        let governing = names(&root, &survey.governing);
        assert_eq!(governing, [".envrc", "1/2/3/4/5/6/CLAUDE.md", "CLAUDE.md", "a/.vscode"]);
        assert_eq!(names(&root, &survey.repositories), ["1/2/3/4/5/.git", "a/.git", "bare"]);
    }

    #[test]
    fn other_names_of_a_secret_are_found() {
        let (_folder, root) = made(&["a/.env", "b/plain"]);
        fs::hard_link(root.join("a/.env"), root.join("b/notes.txt")).unwrap();
        let survey = Survey::of(&root, &Veil::default()).unwrap();
        let secrets: BTreeSet<String> = names(&root, &survey.secrets).into_iter().collect();
        assert_eq!(secrets, ["a/.env", "b/notes.txt"].map(str::to_owned).into());
    }

    #[test]
    fn what_is_not_seen_to_its_end_is_refused() {
        let (_folder, root) = made(&["a", "b/c", "b/.env"]);
        assert!(Survey::of_at_most(&root, &Veil::default(), 4).is_ok());
        let error = Survey::of_at_most(&root, &Veil::default(), 3).unwrap_err();
        assert!(error.contains("too many"), "{error}");
        let many: Vec<String> = (0..=FOUND).map(|number| format!("{number}.pem")).collect();
        let (_folder, root) = made(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(Survey::of(&root, &Veil::default()).is_err());
    }
}
