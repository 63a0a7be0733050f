//! Git without the configuration of the user who runs the tests.

use std::env;
use std::path::Path;
use std::process::Command;

/// Returns a `git` command in `folder` that depends on no configuration outside of it.
///
/// Neither the user's settings (signing, hooks, the name of the first branch) nor the variables
/// that git sets for its hooks reach it.
pub fn git(folder: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "tests prepare repositories")]
    let mut command = Command::new("git");
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_"))
    {
        command.env_remove(name);
    }
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Anna");
        command.env(format!("GIT_{who}_EMAIL"), "anna@example.com");
    }
    command
}
