//! Telling that the sandbox may be why a command failed.

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::reach::Reach;

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

/// Returns `true` if something surely failed because of the sandbox, however the command ended.
pub(super) fn is_sure(complaints: &str, refused: &[String]) -> bool {
    const SURE: &[&str] = &["Read-only file system", "EROFS", "Toolgate: `"];
    !refused.is_empty() || SURE.iter().any(|words| complaints.contains(words))
}

/// What to do about a command that failed inside of a sandbox, if that may be the reason.
pub(super) fn hint(reach: &Reach, complaints: &str, refused: &[String]) -> Option<String> {
    if reach.sandbox == Sandbox::Full {
        return None;
    }
    let complaints = complaints.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| complaints.contains(word));
    if !refused.is_empty() {
        let named: Vec<&String> =
            refused.iter().filter(|host| !host.contains(':') && !is_number(host)).collect();
        let next = if named.is_empty() {
            "Hosts are granted by name, on their usual ports; for more, call `shell` again with `sandbox`: \"full\"; a person is asked.".to_owned()
        } else {
            let named = serde_json::json!(named);
            format!("If it should, call `shell` again with `network`: {named}; a person is asked.")
        };
        return Some(format!("The sandbox did not let it reach {}. {next}", refused.join(", ")));
    }
    if has(NETWORK) && reach.network.is_empty() {
        return Some(
            "It ran in a sandbox without network, which may be why. If it needs some, call `shell` again with `network`: [\"the.host\"]; a person is asked.".to_owned(),
        );
    }
    if has(MISSING) && has(PRIVATE) {
        return Some(
            "It ran in a sandbox with a /tmp of its own, where nothing is but what commands of this session put there. To reach other files there, call `shell` again with `sandbox`: \"full\"; a person is asked.".to_owned(),
        );
    }
    if !has(WRITES) {
        return None;
    }
    Some(match reach.sandbox {
        Sandbox::ReadOnly => {
            "It ran in a sandbox that can write nowhere but in /tmp and sees no secrets, which may be why. If it has to write in the workspace, call `shell` again with `sandbox`: \"workspace_write\"; a person is asked.".to_owned()
        }
        _ => {
            "It ran in a sandbox that can write in the workspace (but not to what governs other programs, such as .git/hooks) and in /tmp, nowhere else, and sees no secrets, which may be why. If it needs more, call `shell` again with `sandbox`: \"full\"; a person is asked.".to_owned()
        }
    })
}

/// Whether a host is an address rather than a name.
fn is_number(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sandbox: Sandbox, complaints: &str) -> Option<String> {
        hint(&Reach { sandbox, ..Reach::default() }, complaints, &[])
    }

    #[test]
    fn only_what_may_be_the_sandbox_is_said_to_be() {
        assert!(
            of(Sandbox::ReadOnly, "touch: cannot touch 'x': Read-only file system")
                .unwrap()
                .contains("workspace_write")
        );
        assert!(
            of(Sandbox::WorkspaceWrite, "bash: /etc/x: Permission denied")
                .unwrap()
                .contains("\"full\"")
        );
        assert!(
            of(Sandbox::WorkspaceWrite, "curl: (6) Could not resolve host: x")
                .unwrap()
                .contains("`network`")
        );
        assert_eq!(of(Sandbox::ReadOnly, "error: no such test"), None);
        assert_eq!(of(Sandbox::Full, "Permission denied"), None);
    }
}
