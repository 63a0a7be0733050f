//! How far a call may reach when it runs.

use toolgate_policy::rule::Sandbox;
use toolgate_policy::{Decision, Verdict};

/// How far a call may reach when it runs, as the policy or a person granted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The sandbox profile.
    pub sandbox: Sandbox,
    /// Hosts it may reach.
    pub network: Vec<String>,
    /// The shell line that was judged, fully quoted, which runs instead of the one that was
    /// asked for. None when a person agreed to the line as it is.
    pub line: Option<String>,
    /// Whether a person agreed.
    pub is_approved: bool,
}

impl Reach {
    /// What a verdict grants to a call that may run.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        let is_approved = verdict.decision == Decision::Ask;
        Self {
            sandbox: verdict.grant.sandbox.unwrap_or(Sandbox::ReadOnly),
            network: verdict.grant.network.clone(),
            line: if is_approved { None } else { verdict.judged.clone() },
            is_approved,
        }
    }
}

impl Default for Reach {
    /// What nobody granted anything.
    fn default() -> Self {
        Self { sandbox: Sandbox::ReadOnly, network: Vec::new(), line: None, is_approved: false }
    }
}
