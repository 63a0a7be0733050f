//! Asking the policy.

use toolgate_policy::{Decision, Verdict};

use super::contain::contained;
use super::parts::Parts;
use super::stage::{Judged, Rejected, Validated};
use super::trail;
use crate::error::{ErrorKind, ToolError};
use crate::ledger::EntryKind;

/// Validated → Judged. A policy that fails inside denies.
pub(super) fn judge(parts: &Parts, call: Validated) -> Result<Judged, Rejected> {
    let mut judged = decide(parts, call)?;
    record(parts, &mut judged);
    Ok(judged)
}

/// Judges a call anew, which is told only if the verdict is another.
pub(super) fn judge_again(
    parts: &Parts,
    call: Validated,
    before: &Verdict,
) -> Result<Judged, Rejected> {
    let mut judged = decide(parts, call)?;
    if judged.verdict != *before {
        record(parts, &mut judged);
    }
    Ok(judged)
}

/// The policy says no.
pub(super) fn denied(judged: Judged) -> Rejected {
    let message = format!(
        "denied by policy: {}. Do something else, or ask the owner to change the policy",
        judged.verdict.reason()
    );
    judged.reject(ToolError::new(ErrorKind::PolicyDenied, message))
}

fn record(parts: &Parts, judged: &mut Judged) {
    let Judged { call, verdict } = judged;
    parts.happened(call, EntryKind::Decided, |_| trail::decided(verdict));
}

fn decide(parts: &Parts, mut call: Validated) -> Result<Judged, Rejected> {
    call.facts.granted = parts.grants.of(&call.session);
    let decided = contained("policy", || {
        let world = parts.world(&call);
        parts.policy.decide(&call.facts, &world)
    });
    match decided {
        Ok(verdict) => Ok(Judged { call, verdict }),
        Err(error) => {
            let message = format!("the policy could not decide: {}", error.message);
            let mut rejected = call.reject(ToolError::new(ErrorKind::PolicyDenied, message));
            rejected.decision = Some(Decision::Deny);
            Err(rejected)
        }
    }
}
