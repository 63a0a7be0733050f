//! Git commands that have to change files which a sandbox guards.

use std::path::{Path, PathBuf};

use super::call::Judge;
use super::files::Walk;
use super::finding::{Finding, Findings};
use super::forms::shown;
use crate::decision::Decision;
use crate::mode::Mode;
use crate::pattern::path::text;
use crate::shell::{Command, Look, Word, git_without_globals, look};

/// More folders above the one that a line is in are not looked at.
const MOST_ABOVE: usize = 64;

/// What a git command changes in a repository beside objects and references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// A name in `.git`.
    Inside(&'static str),
    /// A repository that is not there yet.
    New,
}

impl Judge<'_> {
    /// Judges the git commands of a line that cannot work while files are guarded. They ask, and
    /// a yes lets them change those files. A rule that allows them is enough only if the line runs
    /// no hooks and nothing but git: a program of the workspace could write settings that make git
    /// run something outside of the sandbox.
    pub(super) fn judge_guarded(&self, commands: &[Command], walk: &Walk, findings: &mut Findings) {
        for command in commands {
            let paths = self.guarded_by(command, walk);
            if paths.is_empty() {
                continue;
            }
            let names: Vec<String> = paths.iter().map(|path| self.within(path)).collect();
            findings.named.extend(paths);
            let is_inert = |other: &Command| {
                only_writes_settings(other) || !matches!(look(other), Look::No(_))
            };
            let is_inert = commands.iter().all(is_inert);
            let by_owner = !matches!(
                self.setting.mode,
                Mode::Sandbox | Mode::AutorunAll | Mode::AutorunNoPublic
            );
            if findings.decision() != Decision::Deny && !(by_owner && is_inert) {
                let reason = format!(
                    "`{}` has to change `{}`, which governs other programs",
                    shown(command),
                    names.join("`, `")
                );
                findings.push(Finding::plain(Decision::Ask, reason));
            }
        }
    }

    /// The guarded files that a command has to change.
    fn guarded_by(&self, command: &Command, walk: &Walk) -> Vec<PathBuf> {
        let Some(change) = change(command) else { return Vec::new() };
        let folder = &walk.folder;
        if change == Change::New {
            let path = folder.join(".git");
            let is_new = *folder == *self.world.workspace() && !self.world.is_there(&path);
            return if is_new { vec![path] } else { Vec::new() };
        }
        let is_root = |folder: &&Path| self.world.is_there(&folder.join(".git"));
        let above = folder.ancestors().take(MOST_ABOVE);
        let mut above = above.take_while(|above| above.starts_with(self.world.workspace()));
        let Some(root) = above.find(is_root) else { return Vec::new() };
        match change {
            Change::Inside(name) => vec![root.join(".git").join(name)],
            Change::New => Vec::new(),
        }
    }

    /// A path as seen from the workspace.
    fn within(&self, path: &Path) -> String {
        text(path.strip_prefix(self.world.workspace()).unwrap_or(path)).into_owned()
    }
}

/// What a command changes, if it is git and changes something guarded.
fn change(command: &Command) -> Option<Change> {
    if command.name() != Some("git") {
        return None;
    }
    let words = git_without_globals(&command.words);
    let words: Vec<&str> = words.iter().skip(1).map(|word: &Word| word.text.as_str()).collect();
    let (subcommand, rest) = words.split_first()?;
    let has = |options: &[&str]| {
        rest.iter().any(|word| options.contains(&word.split('=').next().unwrap_or(word)))
    };
    let first = rest.first().copied().unwrap_or_default();
    let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
    let config = Some(Change::Inside("config"));
    match *subcommand {
        "init" => Some(Change::New),
        "remote" => {
            let writes = ["add", "remove", "rm", "rename", "set-branches", "set-url"];
            config.filter(|_| writes.contains(&first))
        }
        "branch" => config.filter(|_| {
            has(&[
                "-m",
                "-M",
                "--move",
                "-c",
                "-C",
                "--copy",
                "-u",
                "--set-upstream-to",
                "--unset-upstream",
                "--edit-description",
                "-t",
                "--track",
            ])
        }),
        "push" => config.filter(|_| has(&["-u", "--set-upstream"])),
        "config" => {
            let is_elsewhere = has(&["--global", "--system", "--file", "-f"]);
            let sets = has(&["--add", "--unset", "--unset-all", "--replace-all", "--edit", "-e"])
                || operands > 1;
            config.filter(|_| sets && !is_elsewhere)
        }
        "submodule" if !matches!(first, "" | "status" | "summary" | "foreach") => {
            Some(Change::Inside("modules"))
        }
        "worktree" if !matches!(first, "" | "list") => Some(Change::Inside("worktrees")),
        "checkout" | "switch" if has(&["--no-track"]) => None,
        "checkout" | "switch" if has(&["-t", "--track"]) || begins_at_remote(rest) => config,
        _ => None,
    }
}

/// Returns `true` if a command is git, and runs no hook while it writes its settings.
fn only_writes_settings(command: &Command) -> bool {
    let words = git_without_globals(&command.words);
    let subcommand = words.get(1).map(|word| word.text.as_str());
    command.name() == Some("git")
        && matches!(subcommand, Some("branch" | "config" | "init" | "remote"))
}

/// Returns `true` if a new branch begins at that of a remote, which is written down.
fn begins_at_remote(rest: &[&str]) -> bool {
    let makes = rest.iter().any(|word| matches!(*word, "-b" | "-B" | "-c" | "-C"));
    makes
        && rest
            .last()
            .is_some_and(|last| last.starts_with("origin/") || last.starts_with("upstream/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Reading, read};

    fn changed(line: &str) -> Option<Change> {
        let Reading::Literal(line) = read(line) else { panic!("plain words") };
        change(&line.commands()[0])
    }

    #[test]
    fn what_git_has_to_change_is_known() {
        for line in [
            "git remote add up https://example.com/x.git",
            "git branch -m new",
            "git branch --set-upstream-to=origin/main",
            "git push -u origin HEAD",
            "git config user.name Anna",
            "git -C sub config --unset a.b",
            "git checkout -b x origin/x",
        ] {
            assert_eq!(changed(line), Some(Change::Inside("config")), "{line}");
        }
        for line in [
            "git status",
            "git commit -m x",
            "git remote -v",
            "git branch -a",
            "git push",
            "git config user.name",
            "git config --global user.name Anna",
            "git reset HEAD~1",
            "git stash list",
            "git worktree list",
            "git submodule status",
            "git checkout --no-track -b x origin/x",
        ] {
            assert_eq!(changed(line), None, "{line}");
        }
    }
}
