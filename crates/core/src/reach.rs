//! How far a call may reach when it runs.

use std::path::PathBuf;

use toolgate_policy::needs::Need;
use toolgate_policy::rule::Sandbox;
use toolgate_policy::{Decision, Verdict};

/// How far a call may reach when it runs, as the policy or a person granted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The sandbox profile.
    pub sandbox: Sandbox,
    /// Hosts it may reach.
    pub network: Vec<String>,
    /// Folders beside the workspace that it may write in.
    pub write: Vec<PathBuf>,
    /// What its programs need: caches, registries, settings of their own.
    pub needs: Vec<Need>,
    /// Files and folders outside of the workspace that it reads.
    pub read: Vec<PathBuf>,
    /// Files that it does not see, because a rule denies to read them.
    pub hidden: Vec<PathBuf>,
    /// Files and folders that it cannot change, because a rule denies it.
    pub guarded: Vec<PathBuf>,
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
            write: verdict.grant.write.clone(),
            needs: verdict.grant.needs.clone(),
            read: verdict.grant.read.clone(),
            hidden: verdict.grant.hidden.clone(),
            guarded: verdict.grant.guarded.clone(),
            line: if is_approved { None } else { verdict.judged.clone() },
            is_approved,
        }
    }
}

impl Default for Reach {
    /// Returns the reach of a call that was granted nothing.
    fn default() -> Self {
        Self {
            sandbox: Sandbox::ReadOnly,
            network: Vec::new(),
            write: Vec::new(),
            needs: Vec::new(),
            read: Vec::new(),
            hidden: Vec::new(),
            guarded: Vec::new(),
            line: None,
            is_approved: false,
        }
    }
}
