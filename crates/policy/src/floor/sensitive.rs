//! Files that hold keys, credentials and tokens.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::protected::{dotted, is_at_or_below, last_part, parts_with};
use super::system::is_common;

/// Why a path is sensitive, and which part of it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sensitive<'p> {
    /// The part of the path that says so.
    pub part: &'p str,
    /// What it holds.
    pub what: &'static str,
    /// What must not happen unasked.
    pub when: When,
}

/// What must not happen to a sensitive file unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Neither reading nor writing.
    Touched,
    /// Writing; what it says is no secret.
    Written,
}

/// Files by their whole name.
const NAMES: &[(&str, &str)] = &[
    (".boto", "cloud credentials"),
    (".dockercfg", "registry tokens"),
    (".env", "secrets of the environment"),
    (".envrc", "secrets of the environment"),
    (".git-credentials", "passwords"),
    (".htpasswd", "password hashes"),
    (".my.cnf", "database passwords"),
    (".netrc", "passwords"),
    (".npmrc", "package registry tokens"),
    (".pgpass", "database passwords"),
    (".pypirc", "package registry tokens"),
    (".s3cfg", "cloud credentials"),
    (".vault-token", "a token"),
    ("_netrc", "passwords"),
    ("application_default_credentials.json", "cloud credentials"),
    ("client_secret.json", "cloud credentials"),
    ("credentials", "credentials"),
    ("database.json", "database passwords"),
    ("database.yml", "database passwords"),
    ("kubeconfig", "cluster credentials"),
    ("service-account.json", "cloud credentials"),
    ("service_account.json", "cloud credentials"),
    ("serviceaccountkey.json", "cloud credentials"),
    ("terraform.tfstate", "secrets of the infrastructure"),
    ("terraform.tfvars", "secrets of the infrastructure"),
];

/// Folders whose whole content is sensitive.
const FOLDERS: &[(&str, &str)] = &[
    (".aws", "cloud credentials"),
    (".azure", "cloud credentials"),
    (".docker", "registry tokens"),
    (".gcloud", "cloud credentials"),
    (".gem", "package registry tokens"),
    (".gnupg", "private keys"),
    (".kube", "cluster credentials"),
    (".password-store", "passwords"),
    (".ssh", "private keys"),
    ("credentials", "credentials"),
    ("keyrings", "passwords"),
    ("secrets", "secrets"),
];

/// Endings of files that hold keys.
const ENDINGS: &[(&str, &str)] = &[
    (".pem", "a key"),
    (".key", "a key"),
    (".p12", "a key"),
    (".pfx", "a key"),
    (".jks", "keys"),
    (".keystore", "keys"),
    (".kdbx", "passwords"),
    (".ppk", "a private key"),
    (".gpg", "something encrypted"),
];

/// Examples to copy, which hold no secrets.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// System places that hold secrets.
const SYSTEM: &[(&str, &str)] = &[
    ("/etc/shadow", "password hashes"),
    ("/etc/gshadow", "password hashes"),
    ("/etc/sudoers", "who may become root"),
    ("/etc/ssl/private", "private keys"),
    ("/etc/krb5.keytab", "a key"),
    ("/root", "another user's files"),
    ("/run/secrets", "secrets"),
    ("/var/run/secrets", "secrets"),
    ("/run/user", "sockets of other programs"),
    ("/var/run/docker.sock", "control over the machine"),
    ("/run/docker.sock", "control over the machine"),
    ("/dev/mem", "memory"),
    ("/dev/kmem", "memory"),
    ("/boot", "the system's start"),
];

/// System places that hold secrets.
pub fn system_places() -> impl Iterator<Item = &'static str> {
    SYSTEM.iter().map(|(place, _)| *place)
}

/// What makes a path, given in lower case, sensitive.
pub fn sensitive<'p>(path: &'p str, home: Option<&str>) -> Option<Sensitive<'p>> {
    let touched = |part, what| Some(Sensitive { part, what, when: When::Touched });
    let name = last_part(path);
    if path.starts_with("/proc/") && !is_common(path, home) {
        return touched(name, "memory or settings of a process");
    }
    let is_home = |place: &str| home.is_some_and(|home| is_at_or_below(home, place));
    let mut system = SYSTEM.iter().filter(|_| may_be_system(path));
    let system = system.find(|(place, _)| is_at_or_below(path, place) && !is_home(place));
    if let Some((_, what)) = system {
        return touched(name, what);
    }
    if is_host_key(path, name) {
        return touched(name, "a private key");
    }
    let ending = ending(name).unwrap_or_default();
    let is_source = is_source(ending);
    if let Some((part, what)) = folder(path, is_source) {
        return touched(part, what);
    }
    if let Some(what) = by_name(name, is_source) {
        return touched(name, what);
    }
    ci(path, name).map(|what| Sensitive { part: name, what, when: When::Written })
}

/// What follows the last dot of a name.
fn ending(name: &str) -> Option<&str> {
    let dot = name.bytes().rposition(|byte| byte == b'.')?;
    name.get(dot + 1..)
}

/// Endings of source and prose: `secrets.rs` is a program, not a secret.
fn is_source(ending: &str) -> bool {
    matches!(
        ending,
        "rs" | "py"
            | "go"
            | "js"
            | "ts"
            | "tsx"
            | "jsx"
            | "mjs"
            | "java"
            | "kt"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "hpp"
            | "cs"
            | "rb"
            | "php"
            | "swift"
            | "scala"
            | "md"
            | "rst"
            | "html"
            | "css"
            | "scss"
            | "lock"
            | "snap"
            | "proto"
    )
}

/// Whether a path begins like one of the system places.
fn may_be_system(path: &str) -> bool {
    matches!(path.as_bytes(), [b'/', b'b' | b'd' | b'e' | b'r' | b'v', ..])
}

fn folder(path: &str, is_source: bool) -> Option<(&str, &'static str)> {
    // Source in a folder called `secrets` is about secrets and holds none; dotted folders do.
    let known =
        |part| FOLDERS.iter().find(|(name, _)| *name == part).map(|(_, what)| (part, *what));
    if is_source {
        return dotted(path).find_map(known);
    }
    parts_with(path, is_first_of_folder).find_map(known)
}

fn is_first_of_folder(byte: u8) -> bool {
    matches!(byte, b'.' | b'c' | b's' | b'k')
}

fn is_first_of_name(byte: u8) -> bool {
    matches!(byte, b'.' | b'_' | b'a' | b'c' | b'd' | b'k' | b's' | b't')
}

fn by_name(name: &str, is_source: bool) -> Option<&'static str> {
    if name != ".envrc"
        && let Some(kind) = name.strip_prefix(".env")
    {
        let kind = kind.trim_start_matches(['.', '-', '_']);
        let is_example = kind.split('.').any(|word| EXAMPLES.contains(&word));
        let is_env = name == ".env" || name.starts_with(".env.") || name.starts_with(".env-");
        return (is_env && !is_example).then_some("secrets of the environment");
    }
    let names = if name.bytes().next().is_some_and(is_first_of_name) { NAMES } else { &[] };
    if let Some((_, what)) = names.iter().find(|(own, _)| *own == name) {
        return Some(what);
    }
    if name.starts_with('.') && name.ends_with("_history") {
        return Some("what was typed before");
    }
    if name.starts_with("id_") && is_private_key(name) {
        return Some("a private key");
    }
    let is_config =
        !is_source && (name.starts_with("credentials.") || name.starts_with("secrets."));
    if is_config && !EXAMPLES.iter().any(|word| name.contains(word)) {
        return Some("credentials");
    }
    let ending = ending(name)?;
    ENDINGS.iter().find(|(own, _)| own.strip_prefix('.') == Some(ending)).map(|(_, what)| *what)
}

fn is_private_key(name: &str) -> bool {
    let kinds = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"];
    let is_public = name.strip_suffix(".pub").is_some();
    kinds.iter().any(|kind| name.starts_with(kind)) && !is_public
}

fn is_host_key(path: &str, name: &str) -> bool {
    path.starts_with("/etc/ssh/") && name.ends_with("_key")
}

static SEEDS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("/db/seeds/"));

/// Files that run with the rights of the project's build machines.
fn ci(path: &str, name: &str) -> Option<&'static str> {
    let runs = "what the project's build machines run";
    if matches!(name, ".gitlab-ci.yml" | "jenkinsfile" | ".travis.yml" | "azure-pipelines.yml") {
        return Some(runs);
    }
    let is_hosted = dotted(path).any(|part| matches!(part, ".github" | ".circleci"));
    if is_hosted
        && ["/.github/workflows/", "/.github/actions/", "/.circleci/"]
            .iter()
            .any(|place| path.contains(place))
    {
        return Some(runs);
    }
    SEEDS.find(path.as_bytes()).map(|_| "what a database is filled with")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up_passes_the_first_look() {
        assert!(NAMES.iter().all(|(name, _)| name.bytes().next().is_some_and(is_first_of_name)));
        assert!(SYSTEM.iter().all(|(place, _)| may_be_system(place)));
        assert!(
            FOLDERS.iter().all(|(name, _)| name.bytes().next().is_some_and(is_first_of_folder))
        );
    }

    #[test]
    fn secrets_are_found_and_ordinary_files_are_not() {
        let secret = |path: &str| sensitive(path, Some("/home/u")).map(|found| found.when);
        for path in [
            "/w/.env",
            "/w/.env.production",
            "/w/a/k.pem",
            "/home/u/.ssh/config",
            "/home/u/.aws/credentials",
            "/w/config/credentials.json",
            "/w/secrets/db.txt",
            "/home/u/.ssh/id_rsa",
            "/etc/shadow",
            "/proc/self/environ",
            "/proc/1/meminfo",
            "/etc/ssh/ssh_host_rsa_key",
        ] {
            assert_eq!(secret(path), Some(When::Touched), "{path}");
        }
        for path in [
            "/w/.env.example",
            "/w/src/secrets.rs",
            "/w/src/secrets/mod.rs",
            "/w/environment.ts",
            "/w/keys.rs",
            "/home/u/.config/app.toml",
            "/w/id_rsa.pub",
            "/w/monkey",
            "/proc/cpuinfo",
            "/proc/meminfo",
        ] {
            assert_eq!(secret(path), None, "{path}");
        }
        assert_eq!(secret("/w/.github/workflows/ci.yml"), Some(When::Written));
    }
}
