//! Attacks of a kind in many variations, tried as this user and as an ordinary one, at every level.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use toolgate_testing::skip;

use crate::support::{become_nobody, helper, open_folder};

/// An attack in a workspace.
pub(crate) struct Trial<'a> {
    /// The levels it is tried at.
    pub(crate) levels: &'a [&'a str],
    /// The profiles it is tried in.
    pub(crate) profiles: &'a [&'a str],
    /// A line that makes what there is.
    pub(crate) before: &'a str,
    /// Lines that are tried; each must fail or print nothing.
    pub(crate) attempts: &'a [&'a str],
    /// A line that looks at what is left.
    pub(crate) after: &'a str,
}

pub(crate) const BOTH: &[&str] = &["namespaces", "landlock"];

impl Trial<'_> {
    /// Tries everything everywhere. Returns what was printed, with the place it was tried at.
    pub(crate) fn run(&self) -> Vec<(String, String)> {
        assert!(self.attempts.len() >= 10, "a kind of attack has many variations");
        let users = [Some(&[][..]), become_nobody()];
        let mut printed = Vec::new();
        for user in users.into_iter().flatten() {
            for level in self.levels {
                for profile in self.profiles {
                    let place = format!("{level} {profile} {user:?}");
                    match self.run_once(user, level, profile) {
                        Some(text) => printed.push((place, text)),
                        None => skip(format!("{place}: this machine cannot confine so")),
                    }
                }
            }
        }
        printed
    }

    fn run_once(&self, user: &[&str], level: &str, profile: &str) -> Option<String> {
        let cage = tempfile::tempdir_in(open_folder()).unwrap();
        fs::set_permissions(cage.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let canary = cage.path().join("canary");
        fs::copy(helper(), &canary).unwrap();
        let attempts = self.attempts.iter().enumerate().map(|(number, attempt)| {
            format!("(\n{attempt}\n) 2> /dev/null | sed 's/^/attempt {number}: /'\n")
        });
        let attempts = format!("echo begun\n{}echo done\n", attempts.collect::<String>());
        let mut words: Vec<String> = user.iter().map(|word| (*word).to_owned()).collect();
        words.push(canary.to_str().unwrap().to_owned());
        words.push("shell".to_owned());
        words.push(cage.path().canonicalize().unwrap().join("cage").to_str().unwrap().to_owned());
        words.extend([level, profile, self.before, &attempts, self.after].map(str::to_owned));
        let (program, args) = words.split_first().unwrap();
        let output = Command::new(program).args(args).current_dir("/").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        if text == "unavailable\n" {
            return None;
        }
        assert!(text.contains("begun\n") && text.contains("done\n"), "{level} {profile}: {text}");
        Some(text)
    }
}

/// Asserts that none of the attempts printed anything.
pub(crate) fn assert_held(printed: &[(String, String)]) {
    for (place, text) in printed {
        assert!(!text.contains("attempt "), "{place}: {text}");
    }
}
