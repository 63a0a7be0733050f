//! What a command would run with, as a person sees it.

use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use toolgate_policy::Level;
use toolgate_policy::profile::Profile;
use toolgate_policy::rule::Sandbox;

/// What a command would run with, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownReach {
    /// The sandbox, and the hosts it reaches.
    pub profile: Profile,
    /// The same in words that go on after "it runs".
    pub words: SmolStr,
    /// What can be enforced here.
    pub level: Level,
    /// What cannot, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<SmolStr>,
}

impl ShownReach {
    /// Puts into words what a command runs with where so much can be enforced.
    pub fn new(profile: Profile, level: Level) -> Self {
        let words = format_smolstr!("{profile}");
        let missing = missing(&profile, level).map(SmolStr::new_static);
        Self { profile, words, level, missing }
    }
}

fn missing(profile: &Profile, level: Level) -> Option<&'static str> {
    match (level, profile.sandbox) {
        (Level::None, _) => Some("no sandbox is available here; `toolgate doctor` tells why"),
        (Level::Namespaces, _) | (_, Sandbox::Full) => None,
        (Level::Landlock, _) => Some(
            "only a part of the sandbox is available here: it sees other programs, and protected files that are not there yet can be made",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_enforced_is_said() {
        let says = |sandbox, level| ShownReach::new(Profile::of(sandbox), level).missing.is_some();
        assert!(says(Sandbox::Full, Level::None) && says(Sandbox::ReadOnly, Level::Landlock));
        assert!(!says(Sandbox::ReadOnly, Level::Namespaces));
        assert!(!says(Sandbox::Full, Level::Landlock));
    }
}
