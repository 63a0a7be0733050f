//! Files that govern other programs: an agent, an editor, git, a login shell.
//!
//! Changing one of these makes another program act later, so a change needs a
//! person however broad the permission is.

/// Folders and files whose content makes another program act, in lower case and in order.
/// All of them begin with a dot, which [`governing_part`] relies on.
const GOVERNING: &[&str] = &[
    ".aider.conf.yml",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo",
    ".claude",
    ".claude.json",
    ".clinerules",
    ".codex",
    ".continue",
    ".cshrc",
    ".cursor",
    ".cursorrules",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals.el",
    ".direnv",
    ".emacs",
    ".emacs.d",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gemini",
    ".git",
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".gnupg",
    ".goose",
    ".hg",
    ".husky",
    ".idea",
    ".inputrc",
    ".kshrc",
    ".lesskey",
    ".lldbinit",
    ".login",
    ".mcp.json",
    ".mise.toml",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".pam_environment",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".pythonrc",
    ".pythonstartup",
    ".roo",
    ".screenrc",
    ".ssh",
    ".tcshrc",
    ".tmux.conf",
    ".tool-versions",
    ".toolgate",
    ".vim",
    ".vimrc",
    ".vscode",
    ".windsurf",
    ".windsurfrules",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".yarnrc",
    ".yarnrc.yml",
    ".zed",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Files that tell an agent or an editor what to do, without a dot in front.
const GOVERNING_PLAIN: &[&str] = &[
    "agents.md",
    "claude.local.md",
    "claude.md",
    "conventions.md",
    "copilot-instructions.md",
    "gemini.md",
    "lefthook.yml",
    "mise.toml",
    "opencode.json",
];

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

/// System files that are never written, in any mode.
const NEVER_WRITTEN: &[&str] = &["/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/group"];

/// The part of a path, given in lower case, that makes another program act when changed.
pub fn governing_part<'p>(path: &'p str, home: Option<&str>) -> Option<&'p str> {
    let named = dotted(path).find(|part| GOVERNING.binary_search(part).is_ok());
    let name = last_part(path);
    let is_plain = GOVERNING_PLAIN.contains(&name) || name.ends_with(".code-workspace");
    let named = named.or(is_plain.then_some(name));
    let below_home = || {
        let inner = path.strip_prefix(home.filter(|home| !home.is_empty())?)?;
        let below = |place: &&&str| is_at_or_below(inner, place);
        GOVERNING_BELOW.iter().find(below)?;
        Some(name)
    };
    named.or_else(|| bare_repository_part(path)).or_else(below_home)
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
    fn the_list_is_in_order_and_dotted() {
        assert!(GOVERNING.is_sorted());
        assert!(GOVERNING.iter().all(|name| name.starts_with('.')));
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
    fn never_written_covers_folders_but_not_similar_names() {
        assert!(is_never_written("/etc/sudoers.d/me") && is_never_written("/etc/passwd"));
        assert!(!is_never_written("/etc/passwd-notes") && !is_never_written("/w/etc/passwd"));
    }
}
