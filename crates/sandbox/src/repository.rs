//! The part of a git repository that a command may write: the files that git writes daily.
//!
//! Git makes lock files beside what it changes, so a repository's folder has to be writable. What
//! is in it and does not belong to git's daily work is read-only, known to us or not. Names that make
//! git run something, or look for its settings elsewhere, are made impossible where they are
//! missing. Any other name that appears is moved away afterwards.

use std::path::{Path, PathBuf};

use crate::claim::Stand;
use crate::keepsake::Keepsake;

/// The files that git writes daily, beside lock files and references such as `ORIG_HEAD`.
const WRITTEN: &[&str] = &[
    "addp-hunk-edit.diff",
    "gc.log",
    "gc.pid",
    "index",
    "info",
    "lfs",
    "logs",
    "lost-found",
    "objects",
    "packed-refs",
    "packed-refs.new",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "shallow",
    "subtree-cache",
];

/// Beginnings of other names that git writes.
const WRITTEN_BEGINNINGS: &[&str] = &["fsmonitor--daemon", "index.", "sharedindex.", "tmp_"];

/// Names that make git run something or look for settings elsewhere, with their stand-ins.
const NEVER_MADE: &[(&str, Stand)] = &[
    ("branches", Stand::Folder),
    ("commondir", Stand::Here),
    ("config", Stand::File),
    ("config.worktree", Stand::File),
    ("hooks", Stand::Folder),
    ("info/attributes", Stand::File),
    ("modules", Stand::Folder),
    ("remotes", Stand::Folder),
    ("worktrees", Stand::Folder),
];

/// The same in what a linked work tree has of its own.
const NEVER_MADE_IN_WORKTREE: &[(&str, Stand)] =
    &[("config.worktree", Stand::File), ("modules", Stand::Folder)];

/// Folders in a repository that hold other repositories.
pub(crate) const NESTED: &[&str] = &["modules", "worktrees"];

/// Lists of steps that git goes on with when it is told to; a step may be a program.
const STEPS: &[&str] = &["rebase-merge/git-rebase-todo", "sequencer/todo"];

/// Names that turn a folder into a repository without a `.git`.
pub(crate) const BARE: &[&str] = &["HEAD", "objects", "refs"];

/// Returns `true` if git writes a name in a repository while it works.
pub(crate) fn is_written(name: &str) -> bool {
    let is_reference = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
    WRITTEN.contains(&name)
        || name.strip_suffix(".lock").is_some_and(|name| !name.is_empty())
        || WRITTEN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || (name.bytes().all(is_reference) && !name.is_empty())
}

/// The names that must not be made in a repository, and what stands in for them.
pub(crate) fn never_made(repository: &Path) -> Vec<(PathBuf, Stand)> {
    // A linked work tree names the repository that it belongs to.
    let is_worktree = repository.join("gitdir").exists();
    let names = if is_worktree { NEVER_MADE_IN_WORKTREE } else { NEVER_MADE };
    names.iter().map(|(name, stand)| (repository.join(name), *stand)).collect()
}

/// Lists of steps in a repository, with the programs among them.
#[derive(Debug)]
pub(crate) struct Steps {
    file: PathBuf,
    programs: Vec<String>,
}

impl Steps {
    /// Looks at the lists of a repository.
    pub(crate) fn of(repository: &Path) -> Vec<Self> {
        let files = STEPS.iter().map(|name| repository.join(name));
        files.map(|file| Self { programs: programs(&file), file }).collect()
    }

    /// Returns the list if there are programs in it that were not there before.
    pub(crate) fn changed(&self) -> Option<&Path> {
        let now = programs(&self.file);
        now.iter().any(|program| !self.programs.contains(program)).then_some(&*self.file)
    }
}

/// The steps of a list that run a program. A list that cannot be read is one.
fn programs(file: &Path) -> Vec<String> {
    if file.symlink_metadata().is_err() {
        return Vec::new();
    }
    let kept = Keepsake::of(file);
    let Some(text) = kept.as_ref().ok().and_then(Keepsake::text) else {
        return vec!["unreadable".to_owned()];
    };
    let runs = |line: &&str| {
        matches!(line.split([' ', '\t']).find(|word| !word.is_empty()), Some("exec" | "x"))
    };
    text.lines().filter(runs).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_writes_daily_is_written() {
        for name in [
            "HEAD",
            "ORIG_HEAD",
            "index",
            "index.lock",
            "HEAD.lock",
            "config.lock",
            "MERGE_MSG",
            "COMMIT_EDITMSG",
            "packed-refs.lock",
            "refs",
            "objects",
            "BISECT_LOG",
            "sharedindex.0a",
        ] {
            assert!(is_written(name), "{name}");
        }
        for name in [
            "hooks",
            "config",
            "config.worktree",
            "commondir",
            "gitdir",
            "modules",
            "worktrees",
            "description",
            "remotes",
            "branches",
            "anything",
            "",
            ".lock",
            "Config",
            "hooks.d",
        ] {
            assert!(!is_written(name), "{name}");
        }
    }

    #[test]
    fn programs_in_a_list_of_steps_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let file = root.join("rebase-merge/git-rebase-todo");
        std::fs::create_dir(root.join("rebase-merge")).unwrap();
        std::fs::write(&file, "pick 1 x\nexec make\n").unwrap();
        let steps = Steps::of(&root);
        assert!(steps.iter().all(|steps| steps.changed().is_none()));
        for (text, is_changed) in [
            ("exec make\n", false),
            ("pick 2 exec y\n", false),
            ("pick 2 y\n  x\tevil\n", true),
            ("exec make\nexec evil", true),
        ] {
            std::fs::write(&file, text).unwrap();
            let changed = steps.iter().find_map(Steps::changed);
            assert_eq!(changed.is_some(), is_changed, "{text}");
        }
    }
}
