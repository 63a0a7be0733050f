//! System places that everybody may read.

use super::protected::is_at_or_below;

/// Documentation, headers and libraries: nothing in them is anybody's own.
const COMMON: &[&str] = &[
    "/usr/share",
    "/usr/include",
    "/usr/lib",
    "/usr/src",
    "/usr/local/share",
    "/usr/local/include",
    "/usr/local/lib",
    "/nix/store",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/version",
];

/// Sources of packages, below the home folder.
const COMMON_BELOW_HOME: &[&str] = &[
    "/.cargo/registry/src",
    "/.cargo/git/checkouts",
    "/.rustup/toolchains",
    "/go/pkg/mod",
    "/.pyenv/versions",
    "/.nvm/versions",
];

/// Whether reading a path, given in lower case, tells nobody anything.
pub fn is_common(path: &str, home: Option<&str>) -> bool {
    let below_home = || {
        let inner = home.filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home));
        inner
            .is_some_and(|inner| COMMON_BELOW_HOME.iter().any(|place| is_at_or_below(inner, place)))
    };
    COMMON.iter().any(|place| is_at_or_below(path, place)) || below_home()
}
