//! What a command runs with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host;
use crate::rule::{Grant, Sandbox};

/// What a command runs with: a sandbox, and the hosts it may reach from there.
///
/// ```
/// use toolgate_policy::profile::Profile;
/// use toolgate_policy::rule::Sandbox;
///
/// let builds = Profile::new(Sandbox::WorkspaceWrite, ["docs.rs".to_owned()]);
/// assert!(builds.covers(&Profile::of(Sandbox::ReadOnly)));
/// assert!(!builds.covers(&Profile::of(Sandbox::Full)));
/// // What only reads reaches nobody.
/// assert!(Profile::new(Sandbox::ReadOnly, ["docs.rs".to_owned()]).network.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// The hosts, each once and in order; none where the sandbox says it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
}

impl Profile {
    /// A sandbox, and hosts where it can let some through.
    pub fn new(sandbox: Sandbox, network: impl IntoIterator<Item = String>) -> Self {
        let mut hosts = Vec::new();
        if sandbox == Sandbox::WorkspaceWrite {
            hosts.extend(network);
            hosts.sort_unstable();
            hosts.dedup();
        }
        Self { sandbox, network: hosts }
    }

    /// A sandbox that reaches no host.
    pub fn of(sandbox: Sandbox) -> Self {
        Self { sandbox, network: Vec::new() }
    }

    /// What a grant says, if it says anything.
    pub fn granted(grant: &Grant) -> Option<Self> {
        Some(Self::new(grant.sandbox?, grant.network.iter().cloned()))
    }

    /// Whether whatever can be done with the other can be done with this.
    pub fn covers(&self, other: &Self) -> bool {
        self.sandbox == Sandbox::Full
            || (self.sandbox >= other.sandbox
                && other.network.iter().all(|wanted| self.reaches(wanted)))
    }

    /// Whether a host may be reached.
    pub fn reaches(&self, wanted: &str) -> bool {
        self.sandbox == Sandbox::Full || self.names(wanted)
    }

    /// Whether a host may be reached because it was named.
    pub(crate) fn names(&self, wanted: &str) -> bool {
        self.network.iter().any(|granted| host::covers(granted, wanted))
    }

    /// What both allow.
    pub(crate) fn narrowed(&self, other: &Self) -> Self {
        let reached = |own: &Self, by: &Self| {
            own.network.iter().filter(|wanted| by.reaches(wanted)).cloned().collect::<Vec<_>>()
        };
        let hosts = reached(self, other).into_iter().chain(reached(other, self));
        Self::new(self.sandbox.min(other.sandbox), hosts)
    }
}

impl From<Profile> for Grant {
    fn from(Profile { sandbox, network }: Profile) -> Self {
        Self { sandbox: Some(sandbox), network, redirection: false }
    }
}

impl fmt::Display for Profile {
    /// Words that go on after "it runs".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.sandbox {
            Sandbox::ReadOnly => "in a sandbox: it can write nowhere",
            Sandbox::WorkspaceWrite => "in a sandbox: it can write in the workspace, not elsewhere",
            Sandbox::Full => return formatter.write_str("unconfined: it can do whatever you can"),
        })?;
        match self.network.as_slice() {
            [] => formatter.write_str("; no network"),
            hosts => write!(formatter, "; network only to {}", listed(hosts)),
        }
    }
}

/// Names in a sentence.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writing(hosts: &[&str]) -> Profile {
        Profile::new(Sandbox::WorkspaceWrite, hosts.iter().map(|host| (*host).to_owned()))
    }

    #[test]
    fn nothing_gets_more_than_both_allow() {
        let full = Profile::of(Sandbox::Full);
        let reading = Profile::of(Sandbox::ReadOnly);
        assert_eq!(full.narrowed(&writing(&["a.b"])), writing(&["a.b"]));
        assert_eq!(writing(&["a.b", "c.d"]).narrowed(&writing(&["c.d"])), writing(&["c.d"]));
        assert_eq!(writing(&["*.a.b"]).narrowed(&writing(&["x.a.b", "c.d"])), writing(&["x.a.b"]));
        assert_eq!(writing(&["x.a.b"]).narrowed(&writing(&["*.a.b"])), writing(&["x.a.b"]));
        assert_eq!(writing(&["a.b"]).narrowed(&writing(&[])), writing(&[]));
        assert_eq!(writing(&["a.b"]).narrowed(&reading), reading);
        assert_eq!(full.narrowed(&full), full);
    }

    #[test]
    fn what_only_reads_or_is_unconfined_has_no_list_of_hosts() {
        for sandbox in [Sandbox::ReadOnly, Sandbox::Full] {
            assert_eq!(Profile::new(sandbox, ["a.b".to_owned()]), Profile::of(sandbox));
        }
        assert_eq!(writing(&["c.d", "a.b", "c.d"]).network, ["a.b", "c.d"]);
    }

    #[test]
    fn words_say_it_all() {
        let shown = |profile: Profile| profile.to_string();
        assert_eq!(
            shown(writing(&["a.b", "c.d", "e.f"])),
            "in a sandbox: it can write in the workspace, not elsewhere; network only to a.b, c.d and e.f"
        );
        assert_eq!(
            shown(Profile::of(Sandbox::ReadOnly)),
            "in a sandbox: it can write nowhere; no network"
        );
        assert_eq!(shown(Profile::of(Sandbox::Full)), "unconfined: it can do whatever you can");
    }
}
