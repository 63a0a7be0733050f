//! What can be enforced here, piece by piece, for a person to read.

use std::fs;

use serde::Serialize;
use toolgate_policy::Level;

use super::attempt;
use crate::link::Link;
use crate::settings::Settings;
use crate::sys;

/// What was found out about one piece of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub piece: &'static str,
    /// Whether it works.
    pub works: bool,
    /// What was seen.
    pub seen: String,
    /// What follows from that.
    pub means: &'static str,
    /// What would help, where something can be done.
    pub fix: Option<String>,
}

/// Settings of the kernel that keep ordinary users from making namespaces, with the value that
/// does so and the command that changes it.
const SWITCHES: &[(&str, &str, &str)] = &[
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "an AppArmor profile for this program that allows `userns`, or sysctl -w \
         kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// Tries everything.
pub(crate) fn all(settings: &Settings, link: &Link) -> Vec<Finding> {
    vec![namespaces(settings, link), landlock_version(), restricted(settings, link)]
}

fn namespaces(settings: &Settings, link: &Link) -> Finding {
    let attempt = attempt(settings, link, Level::Namespaces);
    let works = attempt.is_ok();
    let blocking = || SWITCHES.iter().find(|(file, value, _)| is_set_to(file, value));
    let fix = match &attempt {
        Ok(()) => None,
        Err(why) if why.contains("/proc:") => {
            Some("run it where nothing hides parts of /proc, as containers do".to_owned())
        }
        Err(_) => Some(blocking().map_or_else(
            || "allow user namespaces; containers need a seccomp profile that does".to_owned(),
            |(_, _, fix)| (*fix).to_owned(),
        )),
    };
    Finding {
        piece: "namespaces (user, mount, process, network)",
        works,
        seen: attempt.map_or_else(|why| why, |()| "a canary did not get out".to_owned()),
        means: if works {
            "confined commands live in a world of their own"
        } else {
            "confined commands see other programs; nothing hides files and the network but \
             Landlock and a filter on system calls"
        },
        fix,
    }
}

fn is_set_to(file: &str, value: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.trim() == value)
}

fn landlock_version() -> Finding {
    let version = sys::landlock_version();
    let works = version.as_ref().is_ok_and(|version| *version >= 3);
    let protects_signals = version.as_ref().is_ok_and(|version| *version >= 6);
    let seen = match version {
        Ok(version) => format!("version {version}"),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            "the kernel has it, but it is off".to_owned()
        }
        Err(_) => "the kernel does not have it".to_owned(),
    };
    Finding {
        piece: "Landlock",
        works,
        seen,
        means: match (works, protects_signals) {
            (true, true) => "files are guarded twice",
            (true, false) => {
                "files are guarded twice; without namespaces commands may end other programs of \
                 this user"
            }
            (false, _) => "files are guarded by namespaces alone",
        },
        fix: (!works)
            .then(|| "Linux 6.2 or later, with `landlock` in the boot parameter `lsm=`".to_owned()),
    }
}

fn restricted(settings: &Settings, link: &Link) -> Finding {
    let attempt = attempt(settings, link, Level::Landlock);
    let works = attempt.is_ok();
    Finding {
        piece: "Landlock and a filter on system calls, without namespaces",
        works,
        seen: attempt.map_or_else(|why| why, |()| "a canary did not get out".to_owned()),
        means: if works {
            "commands can be confined even where there are no namespaces"
        } else {
            "where there are no namespaces, nothing is confined"
        },
        fix: None,
    }
}
