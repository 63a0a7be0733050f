//! Files that govern other programs: an agent, an editor, git, a login shell.
//!
//! Changing one of these makes another program act later, so a change needs a
//! person however broad the permission is.

use super::names::{GOVERNING, GOVERNING_PLAIN, HARMLESS};

/// Places below the home folder that programs act on, without a telling name of their own.
const GOVERNING_BELOW: &[&str] = &[
    "/.config/git",
    "/.config/fish",
    "/.config/autostart",
    "/.config/systemd",
    "/.config/environment.d",
    "/.config/nvim",
    "/.config/direnv",
    "/.config/pip",
    "/.config/goose",
    "/.config/opencode",
    "/.local/share/systemd",
    "/.local/share/applications",
    "/.local/bin",
    "/bin",
    "/library/launchagents",
];

/// Ends of names of files that tell an editor what to do.
const PLAIN_ENDS: &[&str] = &[".code-workspace", ".sublime-project", ".code-profile"];

/// Parts of paths that programs act on, without a telling name of their own.
const GOVERNING_INSIDE: &[&str] = &[
    "/.jj/repo/config.toml",
    "/.jj/repo/config-id",
    "/.config/mise",
    "/.config/lefthook",
    "/.config/jj",
    "/mise/config",
];

/// System files that are never written, in any mode.
const NEVER_WRITTEN: &[&str] = &["/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/group"];

/// The part of a path, given in lower case, that makes another program act when changed.
pub fn governing_part<'p>(path: &'p str, home: Option<&str>) -> Option<&'p str> {
    let named = dotted(path).find(|part| GOVERNING.binary_search(part).is_ok());
    let name = last_part(path);
    let is_plain = GOVERNING_PLAIN.binary_search(&name).is_ok()
        || PLAIN_ENDS.iter().any(|end| name.ends_with(end))
        || name.strip_prefix("mise.").is_some_and(|rest| rest.rsplit('.').next() == Some("toml"));
    let named = named.or(is_plain.then_some(name));
    let below_home = || {
        let inner = path.strip_prefix(home.filter(|home| !home.is_empty())?)?;
        let below = |place: &&&str| is_at_or_below(inner, place);
        GOVERNING_BELOW.iter().find(below)?;
        Some(name)
    };
    let inside = || GOVERNING_INSIDE.iter().any(|part| path.contains(part)).then_some(name);
    named.or_else(|| bare_repository_part(path)).or_else(inside).or_else(below_home)
}

/// The name with a dot at the top of a workspace that a path begins with, unless it is known to be
/// harmless. Both are given in lower case. Which program reads such a file is not known.
pub fn unknown_dotted<'p>(path: &'p str, workspace: &str) -> Option<&'p str> {
    let inner = path.strip_prefix(workspace)?.strip_prefix('/')?;
    let first = inner.split('/').next().filter(|first| first.starts_with('.'))?;
    HARMLESS.binary_search(&first).is_err().then_some(first)
}

/// Returns the folder that a change at a path makes a repository of git but for one part at most, or
/// whose settings it changes; `has` tells what is there already. A folder with the right names in it is one, whatever
/// it is called, and then a mere `git status` in it obeys its settings.
pub fn made_repository(path: &str, has: impl Fn(&str) -> bool) -> Option<&str> {
    const TELLING: &[&str] =
        &["commondir", "config", "config.worktree", "head", "hooks", "objects", "refs"];
    let mut end: usize = 0;
    for part in path.split('/') {
        let folder = path.get(..end.saturating_sub(1)).unwrap_or_default();
        end += part.len() + 1;
        let part = TELLING.iter().find(|name| name.eq_ignore_ascii_case(part));
        let Some(part) = part.filter(|_| !folder.is_empty()) else { continue };
        let will_have = |name: &str| *part == name || has(&format!("{folder}/{name}"));
        let has_head = will_have("head") || has(&format!("{folder}/HEAD"));
        let parts = ["config", "objects", "refs"].iter().filter(|name| will_have(name)).count();
        if has_head && (parts > 1 || will_have("commondir")) {
            return Some(folder);
        }
    }
    None
}

/// A file that turns a folder into a repository whose settings git would follow.
fn bare_repository_part(path: &str) -> Option<&str> {
    let name = last_part(path);
    let folder = path.strip_suffix(name)?;
    (folder.ends_with("/hooks/") && is_git_hook(name)).then_some(name)
}

fn is_git_hook(name: &str) -> bool {
    const HOOKS: &[&str] = &[
        "applypatch-msg",
        "commit-msg",
        "fsmonitor-watchman",
        "post-checkout",
        "post-commit",
        "post-merge",
        "post-rewrite",
        "post-update",
        "pre-applypatch",
        "pre-auto-gc",
        "pre-commit",
        "pre-merge-commit",
        "pre-push",
        "pre-rebase",
        "pre-receive",
        "prepare-commit-msg",
        "push-to-checkout",
        "reference-transaction",
        "sendemail-validate",
        "update",
    ];
    HOOKS.contains(&name)
}

/// Whether a path, given in lower case, is never written, whatever the mode.
pub fn is_never_written(path: &str) -> bool {
    // Processes are no files, and some of theirs lead back to those that are.
    let is_kernels = path.starts_with("/proc/") || path.starts_with("/sys/");
    let is_systems = path.starts_with("/etc/")
        && (path.starts_with("/etc/sudoers")
            || path.starts_with("/etc/toolgate/")
            || NEVER_WRITTEN.iter().any(|never| is_at_or_below(path, never)));
    is_kernels || is_systems
}

/// Whether a path, given in lower case, holds rules or records of our own.
pub fn is_our_own(path: &str) -> bool {
    dotted(path).any(|part| part == ".toolgate")
}

/// What follows the last slash of a path.
pub(super) fn last_part(path: &str) -> &str {
    let start = path.bytes().rposition(|byte| byte == b'/').map_or(0, |slash| slash + 1);
    path.get(start..).unwrap_or_default()
}

/// The parts of a path that begin with a dot.
pub(super) fn dotted(path: &str) -> impl Iterator<Item = &str> {
    // Nearly no path has one, which many bytes at a time can tell.
    let bytes = path.as_bytes();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let behind_slash = pairs
        .fold(0, |found, (byte, next)| found | (u8::from(*byte == b'/') & u8::from(*next == b'.')));
    let path = if behind_slash > 0 || path.starts_with('.') { path } else { "" };
    parts_with(path, |first| first == b'.')
}

/// The parts of a path whose first byte will do.
pub(super) fn parts_with(path: &str, wanted: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let parts = path.as_bytes().split(|byte| *byte == b'/');
    let parts = parts.filter(move |part| part.first().is_some_and(|first| wanted(*first)));
    // A slash is never half of another character.
    parts.filter_map(|part| str::from_utf8(part).ok())
}

/// Whether a path is a folder or lies in it.
pub fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn governs(path: &str) -> bool {
        governing_part(path, Some("/home/u")).is_some()
    }

    #[test]
    fn finds_governing_files_at_any_depth() {
        for path in ["/w/.git/hooks/pre-commit", "/w/a/.vscode/tasks.json", "/home/u/.bashrc"] {
            assert!(governs(path), "{path}");
        }
        for path in ["/home/u/.config/git/config", "/home/u/bin/ls", "/w/x/hooks/pre-commit"] {
            assert!(governs(path), "{path}");
        }
        for path in ["/w/src/git/mod.rs", "/w/.github/ci.yml", "/w/bashrc", "/w/bin/x"] {
            assert!(!governs(path), "{path}");
        }
    }

    #[test]
    fn names_with_a_dot_at_the_top_ask_unless_they_are_known() {
        for name in [
            ".foo",
            ".foorc",
            ".config/x.toml",
            ".new-agent/mcp.json",
            ".eslintrc.js",
            ".prettierrc.cjs",
            ".luacheckrc",
            ".yarn/plugins/x.cjs",
            ".ignore",
            ".watchmanconfig",
            ".formatter.exs",
            ".jj/repo/config.toml",
        ] {
            assert!(unknown_dotted(&format!("/w/{name}"), "/w").is_some(), "{name}");
        }
        for name in [
            ".gitignore",
            ".editorconfig",
            ".prettierrc",
            ".prettierrc.json",
            ".eslintrc.json",
            ".dockerignore",
            ".npmignore",
            ".nvmrc",
            ".python-version",
            ".clang-format",
            ".rustfmt.toml",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".env.example",
            "src/.foo",
            "a.txt",
        ] {
            assert_eq!(unknown_dotted(&format!("/w/{name}"), "/w"), None, "{name}");
        }
        assert_eq!(unknown_dotted("/elsewhere/.foo", "/w"), None);
    }

    #[test]
    fn a_folder_becomes_a_repository_by_its_last_part() {
        let with = |there: &'static [&'static str]| {
            move |path: &str| there.iter().any(|name| path.strip_prefix("/w/docs/") == Some(name))
        };
        for (there, last) in [
            (&["HEAD", "objects", "refs"][..], "config"),
            (&["HEAD", "objects", "refs"], "hooks/post-index-change"),
            (&["HEAD", "objects", "config"], "refs"),
            (&["HEAD", "objects"], "refs/x"),
            (&["HEAD", "objects"], "config"),
            (&["HEAD", "refs"], "objects/a/b"),
            (&["objects", "refs"], "HEAD"),
            (&["objects", "refs", "config"], "head"),
            (&["HEAD"], "commondir"),
            (&["commondir"], "HEAD"),
            (&["HEAD", "commondir"], "config"),
            (&["HEAD", "commondir"], "config.worktree"),
        ] {
            let path = format!("/w/docs/{last}");
            assert_eq!(made_repository(&path, with(there)), Some("/w/docs"), "{there:?} {last}");
        }
        for (there, last) in [
            (&["HEAD"][..], "config"),
            (&["objects", "refs"], "config"),
            (&["HEAD"], "objects/x"),
            (&["HEAD", "objects", "refs"], "readme.md"),
            (&[], "HEAD"),
        ] {
            let path = format!("/w/docs/{last}");
            assert_eq!(made_repository(&path, with(there)), None, "{there:?} {last}");
        }
    }

    #[test]
    fn never_written_covers_folders_but_not_similar_names() {
        assert!(is_never_written("/etc/sudoers.d/me") && is_never_written("/etc/passwd"));
        assert!(!is_never_written("/etc/passwd-notes") && !is_never_written("/w/etc/passwd"));
    }
}
