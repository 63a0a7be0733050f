//! What a person chose that a command runs with, in place of what was shown.

use toolgate_policy::Decision;
use toolgate_policy::profile::Profile;

use super::frozen::Frozen;
use super::judge::{denied, judge_again};
use super::parts::Parts;
use super::stage::{Judged, Rejected};
use crate::approval::Digest;
use crate::error::{ErrorKind, ToolError};

/// The approved call with what was chosen for it. The policy has a say: what it forbids to reach,
/// nobody grants by answering.
pub(super) fn choose(
    parts: &Parts,
    mut judged: Judged,
    frozen: &Frozen,
    chosen: &Profile,
) -> Result<(Judged, Digest), Rejected> {
    if judged.verdict.profile().is_none() {
        return Err(judged.reject(refused("only commands run with something to choose")));
    }
    let before = judged.verdict;
    judged.call.facts.chosen = Some(chosen.clone());
    let judged = judge_again(parts, judged.call, &before)?;
    if judged.verdict.decision == Decision::Deny {
        return Err(denied(judged));
    }
    // A policy that does not grant what was chosen would have it run with something else.
    let wanted = Profile::new(chosen.sandbox, chosen.network.iter().cloned())
        .writing(chosen.write.iter().cloned())
        .needing(chosen.needs.iter().cloned());
    if judged.verdict.profile() != Some(wanted) {
        return Err(judged.reject(refused("what was chosen for it cannot be granted")));
    }
    match frozen.granting(&judged.call, &judged.verdict) {
        Ok(digest) => Ok((judged, digest)),
        Err(error) => Err(judged.reject(error)),
    }
}

fn refused(why: &str) -> ToolError {
    ToolError::new(ErrorKind::ApprovalDenied, format!("the answer does not count: {why}"))
}
