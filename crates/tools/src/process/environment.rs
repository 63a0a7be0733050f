//! What of Toolgate's own environment a command gets to see.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// Variables that are handed on.
const HANDED_ON: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "HOSTNAME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "MISE_DATA_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CC",
    "CXX",
    "SOURCE_DATE_EPOCH",
];

/// Nobody sits at a terminal: no colours, no pagers, no questions.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", ""),
    ("AWS_PAGER", ""),
    ("BAT_PAGER", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TOOLGATE", "1"),
];

/// Where programs are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The whole environment of a command.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    handed_on(env::vars_os())
}

fn handed_on(own: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut handed: Vec<(OsString, OsString)> = own
        .filter_map(|(name, value)| {
            let known = name.to_str()?;
            match known {
                "PATH" => Some((name, safe_path(&value))),
                _ if HANDED_ON.contains(&known) || known.starts_with("LC_") => Some((name, value)),
                _ => None,
            }
        })
        .collect();
    if !handed.iter().any(|(name, _)| name == "PATH") {
        handed.push(("PATH".into(), USUAL_PATH.into()));
    }
    handed.extend(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    handed
}

/// The search path without places that depend on where one is.
fn safe_path(path: &OsStr) -> OsString {
    let absolute = env::split_paths(path).filter(|folder| folder.is_absolute());
    match env::join_paths(absolute) {
        Ok(path) if !path.as_bytes().is_empty() => path,
        _ => USUAL_PATH.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(own: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let text = |text: OsString| text.into_string().unwrap();
        handed_on(own).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn secrets_and_what_loads_code_stay_behind() {
        let own = [
            ("HOME", "/home/u"),
            ("LC_ALL", "C.UTF-8"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("BASH_ENV", "/tmp/x"),
            ("PYTHONSTARTUP", "/tmp/x"),
            ("BASH_FUNC_ls%%", "() { evil; }"),
            ("TERM", "xterm"),
        ];
        let handed = of(&own);
        let names: Vec<&str> = handed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.iter().take(3).collect::<Vec<_>>(), [&"HOME", &"LC_ALL", &"PATH"]);
        assert_eq!(handed.len(), 3 + SET.len());
        assert!(handed.contains(&("TERM".to_owned(), "dumb".to_owned())));
    }

    #[test]
    fn the_search_path_does_not_depend_on_the_folder() {
        let path = |path: &str| {
            let handed = of(&[("PATH", path)]);
            handed.into_iter().find(|(name, _)| name == "PATH").unwrap().1
        };
        assert_eq!(path(".:/usr/bin::bin:/bin"), "/usr/bin:/bin");
        assert_eq!(path(""), USUAL_PATH);
    }
}
