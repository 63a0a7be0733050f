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
    ".local/share/uv/credentials",
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

/// System places that hold secrets which only root can read.
const OF_ROOT: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/docker",
    "/etc/ipsec.secrets",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/openvpn",
    "/etc/ppp/chap-secrets",
    "/etc/rancher",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/rancher",
    "/var/spool/cron",
];

/// The home folders of users, whoever they are.
pub(crate) const HOMES: &[&str] = &["/home", ROOT_HOME];

/// The home folders of this user.
pub(crate) fn own_homes(home: Option<&Path>) -> Vec<PathBuf> {
    let root = Path::new(ROOT_HOME);
    // The programs that `PATH` names may be in root's own home while `HOME` names another folder.
    let of_root = geteuid().is_root().then_some(root);
    let mut homes: Vec<PathBuf> =
        home.into_iter().chain(of_root).filter_map(|home| home.canonicalize().ok()).collect();
    // A home that is everything, or another kind of place, is none.
    homes.retain(|home| home.components().count() > 1);
    homes.dedup();
    homes
}

/// The real paths of all secrets of the system that are there.
pub(crate) fn of_system() -> Vec<PathBuf> {
    let of_root: &[&str] = if geteuid().is_root() { OF_ROOT } else { &[] };
    let places = system_places().chain(of_root.iter().copied());
    let places = places.filter(|place| !HOMES.contains(place)).map(Path::new);
    // Most are missing, which is told sooner than where they really are.
    let places = places.filter(|place| place.symlink_metadata().is_ok());
    places.filter_map(|place| place.canonicalize().ok()).chain(host_keys()).collect()
}

fn host_keys() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/etc/ssh").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with("_key"))
}

/// The real paths of the secrets in a home folder, as far as their names tell.
pub(crate) fn in_home(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let path = format!("/{}", entry.file_name().to_string_lossy().to_lowercase());
        sensitive(&path, None).is_some_and(|found| found.when == When::Touched)
    });
    // By their real paths: a link to a secret is no place to put something over.
    let named = named.filter_map(|entry| entry.path().canonicalize().ok());
    named.chain(below_home(home, |_| true)).collect()
}

/// The real paths of the secrets in what is shown of a home folder.
pub(crate) fn in_shown(home: &Path, shown: &[PathBuf]) -> Vec<PathBuf> {
    below_home(home, |place| shown.iter().any(|shown| place.starts_with(shown))).collect()
}

fn below_home(home: &Path, wanted: impl Fn(&Path) -> bool) -> impl Iterator<Item = PathBuf> {
    let below = BELOW_HOME.iter().map(|place| home.join(place)).filter(move |place| wanted(place));
    let below = below.filter(|place| place.symlink_metadata().is_ok());
    below.filter_map(|place| place.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_its_own_home_whatever_a_variable_says() {
        let homes = own_homes(Some(Path::new("/nonexistent")));
        let is_there = geteuid().is_root() && Path::new(ROOT_HOME).is_dir();
        assert_eq!(homes.iter().any(|home| home == Path::new(ROOT_HOME)), is_there);
        assert!(!own_homes(Some(Path::new("/"))).contains(&PathBuf::from("/")));
        assert!(!of_system().iter().any(|place| HOMES.iter().any(|home| place == Path::new(home))));
    }

    #[test]
    fn secrets_in_a_home_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in [".ssh", ".config/gh", ".cargo/bin", "notes", ".mix/x"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join(".netrc"), "").unwrap();
        let mut found = in_home(&home);
        found.sort();
        assert_eq!(found, [".config/gh", ".netrc", ".ssh"].map(|name| home.join(name)));
        assert_eq!(in_shown(&home, &[home.join(".config")]), [home.join(".config/gh")]);
    }
}
