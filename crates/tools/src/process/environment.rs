//! What of Toolgate's own environment a command gets to see.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use toolgate_core::policy::needs::Table;

/// Variables that are handed on: how programs behave, where they are and what they use. None of
/// them holds a secret, and none makes a program load code from a place that the user did not name.
/// Those that move caches and registries are in the table of needs, and handed on as well.
const HANDED_ON: &[&str] = &[
    // The user and the language.
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "HOSTNAME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    // Continuous integration, and how programs talk.
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "CONTINUOUS_INTEGRATION",
    "COLUMNS",
    "LINES",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "DEBUG",
    "VERBOSE",
    "TERMINFO",
    // Rust.
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_TARGET",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_NET_RETRY",
    "CARGO_TERM_COLOR",
    "CARGO_PROFILE_DEV_DEBUG",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "RUST_MIN_STACK",
    "RUSTC_WRAPPER",
    // JavaScript.
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "NEXT_TELEMETRY_DISABLED",
    "VITE_CJS_IGNORE_WARNING",
    // Python.
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "PYTHONWARNINGS",
    "PYTEST_ADDOPTS",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "PIP_REQUIRE_VIRTUALENV",
    "UV_PYTHON",
    "UV_OFFLINE",
    "POETRY_VIRTUALENVS_IN_PROJECT",
    "MYPY_CACHE_DIR",
    "REQUESTS_CA_BUNDLE",
    "DJANGO_SETTINGS_MODULE",
    "FLASK_APP",
    "FLASK_ENV",
    // Go, Java, Ruby, .NET and others.
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "GOPRIVATE",
    "GOTOOLCHAIN",
    "GOOS",
    "GOARCH",
    "CGO_ENABLED",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_OPTS",
    "MAVEN_HOME",
    "M2_HOME",
    "GRADLE_OPTS",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "RBENV_ROOT",
    "GEM_PATH",
    "RAILS_ENV",
    "RACK_ENV",
    "DOTNET_ROOT",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "MIX_ENV",
    "APP_ENV",
    "MISE_DATA_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    // C, and builds.
    "CC",
    "CXX",
    "CPP",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LIBRARY_PATH",
    "CPATH",
    "PKG_CONFIG_PATH",
    "MAKEFLAGS",
    "CMAKE_GENERATOR",
    "CMAKE_PREFIX_PATH",
    "CMAKE_BUILD_TYPE",
    "CMAKE_BUILD_PARALLEL_LEVEL",
    "CTEST_OUTPUT_ON_FAILURE",
    "SOURCE_DATE_EPOCH",
    // Certificates.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    // Who commits.
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
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

/// Settings of git that hold while a command runs unasked because it only looks: the repository's
/// own cannot have git start a program, and a folder that merely looks like a repository is none.
/// The policy asks about such settings, so these are the second lock.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("log.showSignature", "false"),
    ("safe.bareRepository", "explicit"),
];

/// Where programs are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// More variables that the user's settings hand on, as a service of the gate.
#[derive(Debug, Clone, Default)]
pub struct MoreVariables(pub Vec<String>);

/// Returns the whole environment of a command.
pub(crate) fn environment(more: &MoreVariables) -> Vec<(OsString, OsString)> {
    handed_on(env::vars_os(), more)
}

/// Returns the variables that a command gets besides, which runs unasked because it only looks.
pub(crate) fn looking() -> Vec<(OsString, OsString)> {
    let mut set = vec![
        ("GIT_OPTIONAL_LOCKS".into(), "0".into()),
        ("GIT_CONFIG_COUNT".into(), GIT_SETTINGS.len().to_string().into()),
    ];
    for (number, (name, value)) in GIT_SETTINGS.iter().enumerate() {
        set.push((format!("GIT_CONFIG_KEY_{number}").into(), name.into()));
        set.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    set
}

fn handed_on(
    own: impl Iterator<Item = (OsString, OsString)>,
    more: &MoreVariables,
) -> Vec<(OsString, OsString)> {
    let mut handed: Vec<(OsString, OsString)> = own
        .filter_map(|(name, value)| {
            let known = name.to_str()?;
            match known {
                "PATH" => Some((name, safe_path(&value))),
                _ if is_usual(known) => (!holds_password(&value)).then_some((name, value)),
                _ if more.0.iter().any(|own| own == known) => Some((name, value)),
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

/// Returns `true` if every command gets to see a variable.
fn is_usual(name: &str) -> bool {
    HANDED_ON.contains(&name)
        || name.starts_with("LC_")
        || Table::built_in().variables().any(|known| known == name)
}

/// Returns `true` if a value is an address with a user or a password in it.
fn holds_password(value: &OsStr) -> bool {
    let text = value.to_string_lossy();
    text.split("://").skip(1).any(|rest| {
        rest.split(['/', ',', ' ', '|']).next().is_some_and(|authority| authority.contains('@'))
    })
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
        handed_on(own, &MoreVariables::default())
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
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
            ("GOPROXY", "https://me:secret@proxy.example"),
        ];
        let handed = of(&own);
        let names: Vec<&str> = handed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.iter().take(3).collect::<Vec<_>>(), [&"HOME", &"LC_ALL", &"PATH"]);
        assert_eq!(handed.len(), 3 + SET.len());
        assert!(handed.contains(&("TERM".to_owned(), "dumb".to_owned())));
    }

    #[test]
    fn what_moves_caches_and_registries_is_handed_on_without_passwords() {
        let handed = of(&[
            ("CARGO_HOME", "/opt/cargo"),
            ("PIP_INDEX_URL", "https://pypi.corp.example/simple"),
            ("PIP_CONFIG_FILE", "/opt/pip.conf"),
            ("NPM_CONFIG_USERCONFIG", "/opt/npmrc"),
            ("UV_DEFAULT_INDEX", "https://pypi.corp.example/simple"),
            ("UV_INDEX", "corp=https://me:secret@pypi.corp.example/simple"),
        ]);
        let names: Vec<&str> = handed.iter().map(|(name, _)| name.as_str()).take(5).collect();
        let wanted = ["CARGO_HOME", "PIP_INDEX_URL", "PIP_CONFIG_FILE"];
        assert_eq!(names, [&wanted[..], &["NPM_CONFIG_USERCONFIG", "UV_DEFAULT_INDEX"]].concat());
        assert!(!handed.iter().any(|(name, _)| name == "UV_INDEX"));
    }

    #[test]
    fn the_user_may_hand_on_more() {
        let own = [("RUSTFLAGS", "-g"), ("MY_SETTING", "1"), ("OTHER", "2")];
        let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let handed = handed_on(own, &MoreVariables(vec!["MY_SETTING".to_owned()]));
        let has = |name: &str| handed.iter().any(|(own, _)| own == name);
        assert!(has("RUSTFLAGS") && has("MY_SETTING") && !has("OTHER"));
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
