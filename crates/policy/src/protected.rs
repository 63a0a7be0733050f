//! Files that govern other programs: an agent, an editor, git, a login shell.
//!
//! Changing one of these makes another program act later, so a change needs a
//! person however broad the permission is.

use std::path::Path;

/// Folders and files whose content makes another program act, lower case.
const GOVERNING: &[&str] = &[
    ".git",
    ".toolgate",
    ".claude",
    ".codex",
    ".gemini",
    ".goose",
    ".cursor",
    ".vscode",
    ".idea",
    ".husky",
    ".mcp.json",
    ".claude.json",
    ".gitconfig",
    ".gitmodules",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".cargo",
    ".hg",
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".devcontainer",
    ".zed",
    ".vimrc",
    ".exrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".gdbinit",
    ".lldbinit",
    ".tmux.conf",
    ".xprofile",
    ".pam_environment",
    ".zlogout",
    ".mise.toml",
    ".netrc",
    ".aws",
    ".kube",
    ".docker",
    ".gnupg",
    ".ssh",
];

/// System files that are never written, in any mode.
const NEVER_WRITTEN: &[&str] =
    &["/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d"];

/// Whether a change to the path makes another program act, compared case-folded.
pub fn governs_a_program(path: &Path) -> bool {
    path.components().any(|component| {
        let name = component.as_os_str().to_string_lossy().to_lowercase();
        GOVERNING.contains(&name.as_str())
    })
}

/// Whether the path is never written, whatever the mode.
pub fn is_never_written(path: &Path) -> bool {
    NEVER_WRITTEN.iter().any(|never| path.starts_with(never))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_governing_files_at_any_depth_and_in_any_case() {
        for path in ["/w/.git/hooks/pre-commit", "/w/a/.VSCode/tasks.json", "/home/u/.bashrc"] {
            assert!(governs_a_program(Path::new(path)), "{path}");
        }
        for path in ["/w/src/git/mod.rs", "/w/.github/ci.yml", "/w/bashrc"] {
            assert!(!governs_a_program(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn never_written_covers_folders_but_not_similar_names() {
        assert!(is_never_written(Path::new("/etc/sudoers.d/me")));
        assert!(!is_never_written(Path::new("/etc/passwd-notes")));
    }
}
