//! Telling that the sandbox may be why a command failed.

use std::path::{Path, PathBuf};

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::reach::Reach;

use super::missing::{Missing, NOT_WRITTEN, absolute_paths, unseen, unwritable};

/// Words that programs find for a write that was not let through.
const WRITES: &[&str] = &[
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "erofs",
    "eacces",
    "eperm",
];
/// Words that programs find for a network that is not there.
const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve",
    "name resolution",
    "name or service not known",
    "no address associated",
    "enetunreach",
    "eai_again",
    "enotfound",
    "getaddrinfo",
    "failed to lookup address",
    "connection refused",
    "403 from proxy",
    "response 403",
    "unable to connect to proxy",
];

/// Words that programs find for what is not there.
const MISSING: &[&str] = &["no such file or directory", "enoent", "not found"];
/// Places that look different inside of a sandbox.
const PRIVATE: &[&str] = &["/tmp/", "/var/tmp/"];

/// Words for what no program may do.
const NOT_PERMITTED: &[&str] = &["operation not permitted", "eperm"];
/// Words of programs that open a Unix socket.
const UNIX_SOCKETS: &[&str] = &["listen eperm", "connect eperm", "socket: operation not permitted"];

/// Words for what guards keep from being moved, removed or made.
const GUARDED: &[&str] = &["device or resource busy", "ebusy"];
/// Names that cannot be made, and words for that.
const NEVER_MADE: &[&str] = &[".claude", ".codex", ".cursor", ".gemini", ".toolgate", ".vscode"];
const IN_THE_WAY: &[&str] = &["not a directory", "file exists", "enotdir", "eexist"];
/// This machine, as programs call it.
const THIS_MACHINE: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// A failure that the sandbox may have caused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hint {
    /// What it was, in a sentence or two.
    pub(super) why: String,
    /// What would help.
    pub(super) missing: Option<Missing>,
    /// Whether it was surely the sandbox, so that it is told however the command ended, and the
    /// user is asked to run it again.
    pub(super) is_sure: bool,
}

/// Where a command ran, and how far it reached.
#[derive(Debug)]
pub(super) struct Confined<'a> {
    pub(super) reach: &'a Reach,
    pub(super) roots: Vec<PathBuf>,
    pub(super) home: Option<&'a Path>,
    /// Hosts that its proxy refused.
    pub(super) refused: &'a [String],
}

/// Returns why a command failed inside of its sandbox, if that may be the reason.
pub(super) fn hint(ran: &Confined<'_>, complaints: &str) -> Option<Hint> {
    let sandbox = ran.reach.sandbox;
    if sandbox == Sandbox::Full {
        return None;
    }
    if !ran.refused.is_empty() {
        return Some(refused_hosts(ran.refused));
    }
    let said = complaints.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let is_read_only = complaints.contains("Read-only file system") || complaints.contains("EROFS");
    let full = Some(Missing::Sandbox(Sandbox::Full));
    if NOT_WRITTEN.iter().any(|words| complaints.contains(words))
        && let Some(folders) = unwritable(complaints, &ran.roots, ran.home)
    {
        let shown: Vec<String> =
            folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
        let why = format!("The sandbox did not let it write in {}.", shown.join(", "));
        return Some(Hint { why, missing: Some(Missing::Write(folders)), is_sure: true });
    }
    let connects = has(&["connection refused", "econnrefused", "failed to connect"]);
    if connects && has(THIS_MACHINE) {
        let why = "Inside the sandbox, `localhost` is a network of this session: commands reach servers that were started in this session, and no others of this machine.".to_owned();
        return Some(Hint { why, missing: full, is_sure: false });
    }
    if has(NETWORK) && ran.reach.network.is_empty() {
        let why = "It ran in a sandbox that reaches only the hosts its programs are known to need, which may be why. If it needs another one, name it in `network`; the user is asked.".to_owned();
        return Some(Hint { why, missing: None, is_sure: false });
    }
    if has(MISSING) && names_home(complaints, ran) {
        let why = "It ran in a sandbox that sees of the home folder only the workspace, tool chains and what the programs in the line need, which may be why.".to_owned();
        let missing = unseen(complaints, &ran.roots, ran.home).map(Missing::Write).or(full);
        return Some(Hint { why, missing, is_sure: false });
    }
    if has(MISSING) && has(PRIVATE) {
        let why = "It ran in a sandbox with a /tmp of its own, where nothing is but what commands of this session put there.".to_owned();
        return Some(Hint { why, missing: full, is_sure: false });
    }
    if has(&["ptrace"]) && has(NOT_PERMITTED) {
        let why = "Inside the sandbox no program can trace another, so debuggers and `strace` do not work.".to_owned();
        return Some(Hint { why, missing: full, is_sure: true });
    }
    if has(UNIX_SOCKETS) {
        let why = "Inside the sandbox programs cannot open Unix sockets. Servers that listen on a TCP port of localhost work.".to_owned();
        return Some(Hint { why, missing: full, is_sure: true });
    }
    if has(GUARDED) || (has(NEVER_MADE) && has(IN_THE_WAY)) {
        let why = "Inside the sandbox, files that govern other programs (.git/config, .git/hooks, .vscode, .claude and the like) can be neither changed, moved nor made.".to_owned();
        return Some(Hint { why, missing: full, is_sure: has(NEVER_MADE) });
    }
    if !has(WRITES) {
        return None;
    }
    Some(match sandbox {
        Sandbox::ReadOnly => Hint {
            why: "It ran in a sandbox that can write nowhere but in /tmp and sees no secrets, which may be why.".to_owned(),
            missing: Some(Missing::Sandbox(Sandbox::WorkspaceWrite)),
            is_sure: is_read_only,
        },
        _ => Hint {
            why: "It ran in a sandbox that can write in the workspace (but not to what governs other programs, such as .git/hooks) and in /tmp, nowhere else, and sees no secrets, which may be why.".to_owned(),
            missing: full,
            is_sure: is_read_only,
        },
    })
}

/// Returns `true` if a complaint is about something in the home folder and not in the workspace.
fn names_home(complaints: &str, ran: &Confined<'_>) -> bool {
    let in_home = |path: &Path| ran.home.is_some_and(|home| path.starts_with(home));
    let in_workspace = |path: &Path| ran.roots.iter().any(|root| path.starts_with(root));
    let mut paths = complaints.lines().flat_map(absolute_paths).map(Path::new);
    paths.any(|path| in_home(path) && !in_workspace(path))
}

fn refused_hosts(refused: &[String]) -> Hint {
    let named: Vec<String> =
        refused.iter().filter(|host| !host.contains(':') && !is_number(host)).cloned().collect();
    let missing = if named.is_empty() {
        // Hosts are granted by name, on their usual ports.
        Missing::Sandbox(Sandbox::Full)
    } else {
        Missing::Network(named)
    };
    let why = format!("The sandbox did not let it reach {}.", refused.join(", "));
    Hint { why, missing: Some(missing), is_sure: true }
}

/// Whether a host is an address rather than a name.
fn is_number(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sandbox: Sandbox, complaints: &str) -> Option<Hint> {
        let reach = Reach { sandbox, ..Reach::default() };
        let ran = Confined { reach: &reach, roots: vec!["/w".into()], home: None, refused: &[] };
        hint(&ran, complaints)
    }

    #[test]
    fn only_what_may_be_the_sandbox_is_said_to_be() {
        let write = Sandbox::WorkspaceWrite;
        let missing = |sandbox, complaints: &str| of(sandbox, complaints).unwrap().missing;
        let full = Some(Missing::Sandbox(Sandbox::Full));
        assert_eq!(
            missing(Sandbox::ReadOnly, "touch: cannot touch 'x': Read-only file system"),
            Some(Missing::Sandbox(write))
        );
        for complaint in [
            "bash: /etc/x: Permission denied",
            "rm: cannot remove '.git': Device or resource busy",
            "mkdir: cannot create directory '.vscode': File exists",
            "bash: .claude/settings.json: Not a directory",
            "curl: (7) Failed to connect to localhost port 3000: Connection refused",
        ] {
            assert_eq!(missing(write, complaint), full, "{complaint}");
        }
        for (complaint, told) in [
            ("strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted", "trace another"),
            ("warning: ptrace: Operation not permitted", "trace another"),
            ("Error: listen EPERM: operation not permitted /tmp/tsx-0/26.pipe", "Unix sockets"),
        ] {
            let hint = of(write, complaint).unwrap();
            assert!(hint.why.contains(told) && hint.is_sure, "{complaint}: {}", hint.why);
        }
        let named = "curl: (6) Could not resolve host: x";
        assert!(of(write, named).unwrap().why.contains("`network`"));
        assert_eq!(of(Sandbox::ReadOnly, "error: no such test"), None);
        assert_eq!(of(Sandbox::Full, "Permission denied"), None);
    }

    #[test]
    fn what_is_missing_in_the_home_folder_may_be_hidden() {
        let reach = Reach { sandbox: Sandbox::WorkspaceWrite, ..Reach::default() };
        let home = Some(Path::new("/home/me"));
        let ran = Confined { reach: &reach, roots: vec!["/home/me/w".into()], home, refused: &[] };
        let of = |path: &str| hint(&ran, &format!("cat: {path}: No such file or directory"));
        assert!(of("/home/me/notes.txt").unwrap().why.contains("home folder"));
        assert_eq!((of("/home/me/w/notes.txt"), of("/etc/nothing")), (None, None));
    }

    #[test]
    fn only_what_is_surely_the_sandbox_is_told_behind_a_zero() {
        assert!(of(Sandbox::ReadOnly, "touch: x: Read-only file system").unwrap().is_sure);
        assert!(!of(Sandbox::WorkspaceWrite, "x: Permission denied").unwrap().is_sure);
    }
}
