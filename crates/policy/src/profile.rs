//! What a command runs with.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::host;
use crate::needs::Need;
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
    /// Folders beside the workspace that it may write in, each once and in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<PathBuf>,
    /// What the programs in the command need: caches and registries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
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
        Self { network: hosts, ..Self::of(sandbox) }
    }

    /// A sandbox that reaches no host.
    pub fn of(sandbox: Sandbox) -> Self {
        Self { sandbox, network: Vec::new(), write: Vec::new(), needs: Vec::new() }
    }

    /// Returns the profile with more folders to write in, where the sandbox lets any be written.
    #[must_use]
    pub fn writing(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        if self.sandbox == Sandbox::WorkspaceWrite {
            self.write.extend(folders);
            self.write.sort();
            self.write.dedup();
        }
        self
    }

    /// Returns the profile with the needs of programs, where the sandbox can meet them.
    #[must_use]
    pub fn needing(mut self, needs: impl IntoIterator<Item = Need>) -> Self {
        if self.sandbox == Sandbox::WorkspaceWrite {
            for need in needs {
                if !self.needs.contains(&need) {
                    self.needs.push(need);
                }
            }
        }
        self
    }

    /// What a grant says, if it says anything.
    pub fn granted(grant: &Grant) -> Option<Self> {
        let profile = Self::new(grant.sandbox?, grant.network.iter().cloned());
        Some(profile.writing(grant.write.iter().cloned()).needing(grant.needs.iter().cloned()))
    }

    /// Returns what a rule must say so that commands it is about run with this profile.
    pub fn rule_grant(&self) -> Grant {
        let grant = Grant::from(Self { needs: Vec::new(), ..self.clone() });
        // Without a word about the sandbox the needs of the programs are met.
        let sandbox = if self.needs.is_empty() { grant.sandbox } else { None };
        Grant { sandbox, ..grant }
    }

    /// Whether whatever can be done with the other can be done with this.
    pub fn covers(&self, other: &Self) -> bool {
        let writes = |folder: &PathBuf| self.write.iter().any(|own| folder.starts_with(own));
        let meets = |need: &Need| {
            let mut caches = self.needs.iter().flat_map(|own| &own.caches);
            need.caches.iter().all(|cache| caches.any(|own| own == cache))
                && need.hosts.iter().all(|host| self.reaches(host))
        };
        self.sandbox == Sandbox::Full
            || (self.sandbox >= other.sandbox
                && other.network.iter().all(|wanted| self.reaches(wanted))
                && other.write.iter().all(writes)
                && other.needs.iter().all(meets))
    }

    /// Whether a host may be reached.
    pub fn reaches(&self, wanted: &str) -> bool {
        self.sandbox == Sandbox::Full || self.names(wanted)
    }

    /// Whether a host may be reached because it was named.
    pub(crate) fn names(&self, wanted: &str) -> bool {
        let needed = self.needs.iter().flat_map(|need| &need.hosts);
        let mut named = self.network.iter().chain(needed);
        named.any(|granted| granted == wanted || host::covers(granted, wanted))
    }

    /// What both allow.
    pub(crate) fn narrowed(&self, other: &Self) -> Self {
        let reached = |own: &Self, by: &Self| {
            own.network.iter().filter(|wanted| by.reaches(wanted)).cloned().collect::<Vec<_>>()
        };
        let written = |own: &Self, by: &Self| {
            let is_below = |folder: &&PathBuf| {
                by.sandbox == Sandbox::Full || by.write.iter().any(|own| folder.starts_with(own))
            };
            own.write.iter().filter(is_below).cloned().collect::<Vec<_>>()
        };
        let hosts = reached(self, other).into_iter().chain(reached(other, self));
        let folders = written(self, other).into_iter().chain(written(other, self));
        Self::new(self.sandbox.min(other.sandbox), hosts).writing(folders)
    }
}

impl From<Profile> for Grant {
    fn from(Profile { sandbox, network, write, needs }: Profile) -> Self {
        Self { sandbox: Some(sandbox), network, write, needs, ..Self::default() }
    }
}

impl fmt::Display for Profile {
    /// Words that go on after "it runs".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.sandbox {
            Sandbox::ReadOnly => return formatter.write_str("in a sandbox: read-only, no network"),
            Sandbox::WorkspaceWrite => "in a sandbox: may write in the workspace",
            Sandbox::Full => return formatter.write_str("unconfined: it can do whatever you can"),
        })?;
        if !self.write.is_empty() {
            let folders: Vec<String> =
                self.write.iter().map(|folder| folder.display().to_string()).collect();
            write!(formatter, " and in {}", listed(&folders))?;
        }
        if !self.network.is_empty() {
            write!(formatter, "; may reach {}", listed(&self.network))?;
        }
        for need in self.needs.iter().filter(|need| !need.words.is_empty()) {
            write!(formatter, "; {}", need.words)?;
        }
        if self.network.is_empty() && self.needs.iter().all(|need| need.hosts.is_empty()) {
            formatter.write_str("; no network")?;
        }
        Ok(())
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
            "in a sandbox: may write in the workspace; may reach a.b, c.d and e.f"
        );
        assert_eq!(shown(Profile::of(Sandbox::ReadOnly)), "in a sandbox: read-only, no network");
        assert_eq!(shown(Profile::of(Sandbox::Full)), "unconfined: it can do whatever you can");
    }
}
