//! Files and folders that matter, told by their names.

/// Names of files that other programs run or obey, at any depth.
const START_UP_NAMES: &[&str] = &[
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
    ".zlogout",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".inputrc",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".xsession",
    ".gitconfig",
    ".vimrc",
    ".tmux.conf",
    ".gdbinit",
    ".envrc",
];

/// Folders and files that other programs run or obey, by part of their path.
const START_UP_PLACES: &[&str] = &[
    "/etc/profile",
    "/etc/bash.bashrc",
    "/etc/environment",
    "/etc/cron",
    "/var/spool/cron",
    "/etc/systemd/",
    "/etc/init.d/",
    "/etc/rc.local",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/etc/pam.d/",
    "/etc/sudoers",
    "/etc/passwd",
    "/etc/hosts",
    "/etc/zsh",
    "/.config/systemd/user",
    "/.config/autostart",
    "/.config/fish/",
    "/Library/LaunchAgents",
    "/Library/LaunchDaemons",
    "/.git/hooks",
    "/.git/config",
    "/.config/git/config",
];

/// Names of files that hold keys or passwords, at any depth.
const SECRET_NAMES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".bash_history",
    ".zsh_history",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "authorized_keys",
    "credentials.json",
    "service-account.json",
    ".htpasswd",
    ".vault-token",
    ".env",
];

/// Folders and files that hold keys or passwords, by part of their path.
const SECRET_PLACES: &[&str] = &[
    "/.ssh/",
    "/.aws/",
    "/.gnupg/",
    "/.azure/",
    "/.config/gcloud",
    "/.config/gh/hosts.yml",
    "/.docker/config.json",
    "/.kube/config",
    "/.cargo/credentials",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssl/private",
    "/proc/self/environ",
    "/.password-store",
];

/// Endings of files that hold keys.
const SECRET_ENDINGS: &[&str] = &[".pem", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk"];

/// System folders whose removal ruins the machine.
const SYSTEM_FOLDERS: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
];

/// Whether other programs run or obey the file.
pub(crate) fn starts_up(path: &str) -> bool {
    let path = rooted(path);
    named(&path, START_UP_NAMES) || START_UP_PLACES.iter().any(|place| path.contains(place))
}

/// Whether the file holds keys or passwords.
pub(crate) fn is_secret(path: &str) -> bool {
    let path = rooted(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    let settings = name
        .strip_prefix(".env.")
        .is_some_and(|kind| !["example", "sample", "template", "dist", "defaults"].contains(&kind));
    named(&path, SECRET_NAMES)
        || settings
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_PLACES.iter().any(|place| path.contains(place))
        || path.starts_with("/proc/") && name == "environ"
}

/// Whether a text that holds more than a path names a secret somewhere.
pub(crate) fn mentions_secret(text: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || "'\"`()<>|;&@=,:".contains(letter);
    text.split(ends).any(|part| !part.is_empty() && is_secret(part))
}

/// Whether records of what happened are kept there.
pub(crate) fn is_log(path: &str) -> bool {
    let path = rooted(path);
    let history = [".bash_history", ".zsh_history", ".history", ".python_history"];
    path.contains("/var/log/") || path.ends_with("/var/log") || named(&path, &history)
}

/// Whether it is the whole machine, a system folder, a home, or everything in one of them.
pub(crate) fn is_root_or_home(path: &str) -> bool {
    let path = whole_folder(path);
    let home = ["~", "$HOME", "${HOME}", "~root", "$HOME/..", "~/.."];
    let of_user = |prefix: &str| {
        path.strip_prefix(prefix).is_some_and(|user| !user.is_empty() && !user.contains('/'))
    };
    SYSTEM_FOLDERS.contains(&path.as_str())
        || home.contains(&path.as_str())
        || of_user("/home/")
        || of_user("/Users/")
}

/// Whether it is the folder worked in, one above, or everything in one of them.
pub(crate) fn is_workspace(path: &str) -> bool {
    let path = whole_folder(path);
    let here = [".", "..", "$PWD", "${PWD}", "~+", "*", ".*", "{,.}*", ".[!.]*", ".??*"];
    here.contains(&path.as_str()) || path.split('/').all(|part| part == "..")
}

/// Whether it is a disk or part of one.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(device) = rooted(path).strip_prefix("/dev/").map(str::to_owned) else {
        return false;
    };
    let disks = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop",
    ];
    disks.iter().any(|disk| device.starts_with(disk)) || device == "mem" || device == "kmem"
}

/// The folder that `x/`, `x/.`, `x/*` and `//x` are about.
fn whole_folder(path: &str) -> String {
    let mut path: String = path.chars().filter(|letter| !"'\"".contains(*letter)).collect();
    while path.contains("//") {
        path = path.replace("//", "/");
    }
    while let Some(shorter) = path
        .strip_suffix("/*")
        .or_else(|| path.strip_suffix("/."))
        .or_else(|| path.strip_suffix("/.*"))
        .or_else(|| path.strip_suffix('/'))
    {
        if shorter.is_empty() {
            return "/".into();
        }
        path = shorter.into();
    }
    path.strip_prefix("./").map_or(path.clone(), Into::into)
}

/// The path with quotes left out and a slash in front, so that parts of paths match.
fn rooted(path: &str) -> String {
    let plain: String = path.chars().filter(|letter| !"'\"\\".contains(*letter)).collect();
    if plain.starts_with('/') { plain } else { format!("/{plain}") }
}

fn named(path: &str, names: &[&str]) -> bool {
    path.rsplit('/').next().is_some_and(|name| names.contains(&name))
}
