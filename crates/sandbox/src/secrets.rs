//! Where secrets are, outside of workspaces.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use toolgate_policy::floor::sensitive::{When, sensitive, system_places};

/// The home folder of root.
const ROOT_HOME: &str = "/root";

/// What programs keep below a home folder, without a telling name of its own.
const BELOW_HOME: &[&str] = &[
    ".cache/huggingface/token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".composer/auth.json",
    ".config/chromium",
    ".config/configstore",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/ngrok",
    ".config/op",
    ".config/pip/pip.conf",
    ".config/rclone",
    ".config/sops",
    ".config/stripe",
    ".config/toolgate",
    ".fly",
    ".gradle/gradle.properties",
    ".huggingface/token",
    ".local/share/keyrings",
    ".local/share/toolgate",
    ".local/state/toolgate",
    ".m2/settings.xml",
    ".mozilla",
    ".ngrok2",
    ".pip/pip.conf",
    ".railway",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".thunderbird",
    ".wgetrc",
];

/// The real paths of all secrets that are there, but not of those in workspaces.
pub(crate) fn find(home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_home = |place: &Path| home.as_ref().is_some_and(|home| home.starts_with(place));
    // Root's own home holds no other user's files, also while `HOME` names another folder: the
    // programs that `PATH` names may be there.
    let is_own = |place: &Path| place == Path::new(ROOT_HOME) && geteuid().is_root();
    let mut found: Vec<PathBuf> = system_places()
        .filter_map(|place| Path::new(place).canonicalize().ok())
        .filter(|place| !is_home(place) && !is_own(place))
        .collect();
    found.extend(host_keys());
    if is_own(Path::new(ROOT_HOME)) {
        found.extend(in_home(Path::new(ROOT_HOME)));
    }
    if let Some(home) = &home {
        found.extend(in_home(home));
    }
    found
}

fn host_keys() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/etc/ssh").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with("_key"))
}

fn in_home(home: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let path = format!("/{}", entry.file_name().to_string_lossy().to_lowercase());
        sensitive(&path, None).is_some_and(|found| found.when == When::Touched)
    });
    // By their real paths: a link to a secret is no place to put something over.
    let named = named.filter_map(|entry| entry.path().canonicalize().ok());
    // Most are missing, which is told sooner than where they really are.
    let below = BELOW_HOME.iter().map(|place| home.join(place));
    let below = below.filter(|place| place.symlink_metadata().is_ok());
    named.chain(below.filter_map(|place| place.canonicalize().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_keeps_its_programs_and_hides_its_secrets() {
        let found = find(Some(Path::new("/nonexistent")));
        let is_whole = found.iter().any(|path| path == Path::new(ROOT_HOME));
        assert_eq!(is_whole, !geteuid().is_root() && Path::new(ROOT_HOME).exists());
        let keys = Path::new("/root/.ssh");
        if geteuid().is_root() && keys.is_dir() {
            assert!(found.contains(&keys.canonicalize().unwrap()));
        }
    }
}
