//! The right to execute one call.

use toolgate_policy::{Decision, Verdict};

use super::asking::{self, Approved};
use super::frozen::Frozen;
use super::judge::{denied, judge};
use super::parts::{Parts, unrecorded};
use super::stage::{Judged, Rejected, Validated};
use crate::approval::Digest;
use crate::error::ToolError;
use crate::event::Event;
use crate::reach::Reach;

/// The right to execute one call, once. Only settling a judged call makes one:
///
/// ```compile_fail
/// # fn forge(call: toolgate_core::gate::Validated) {
/// let permit = toolgate_core::gate::permit::Permit { call, decision: todo!(), digest: None, frozen: None };
/// # }
/// ```
#[derive(Debug)]
pub struct Permit {
    call: Validated,
    decision: Decision,
    digest: Option<Digest>,
    /// The call as it was when the user approved it.
    frozen: Option<Frozen>,
}

impl Permit {
    /// What the policy said about the call.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// What a person approved, if one did.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    pub(super) fn call(&self) -> &Validated {
        &self.call
    }

    pub(super) fn call_mut(&mut self) -> &mut Validated {
        &mut self.call
    }

    /// Checks that what a person approved is what would run now.
    ///
    /// # Errors
    ///
    /// Errors if something that the approval is bound to changed.
    pub(super) async fn check(&self) -> Result<(), ToolError> {
        match &self.frozen {
            Some(frozen) => frozen.check(&self.call).await,
            None => Ok(()),
        }
    }

    pub(super) fn reject(self, error: ToolError) -> Rejected {
        Rejected { error, decision: Some(self.decision), trail: self.call.trail }
    }

    pub(super) fn into_call(self) -> Validated {
        self.call
    }
}

/// Turns a judged call into a permit, asking a person where the policy says so.
pub(super) async fn settle(parts: &Parts, judged: Judged) -> Result<Permit, Rejected> {
    let id = judged.call.context.call().clone();
    let settled = match judged.verdict.decision {
        Decision::Allow => allow(parts, judged).await,
        Decision::Deny => Err(denied(judged)),
        Decision::Ask => asked(parts, judged).await,
    };
    if let Err(rejected) = &settled {
        parts.events.emit(|| Event::ToolPolicyRejection {
            call: id,
            decision: rejected.decision.unwrap_or(Decision::Deny),
            reason: rejected.error.message.clone(),
        });
    }
    settled
}

/// What is allowed runs, unless it is by a grant that was used up meanwhile.
async fn allow(parts: &Parts, judged: Judged) -> Result<Permit, Rejected> {
    let Judged { call, verdict } = judged;
    if verdict.grants.is_empty() {
        return Ok(allowed(call, &verdict));
    }
    match parts.grants.take(&verdict.grants).await {
        Ok(true) => Ok(allowed(call, &verdict)),
        Ok(false) => {
            let judged = judge(parts, call)?;
            match judged.verdict.decision {
                // Whatever allows it now may have been used up as well, so nobody is believed twice.
                Decision::Allow if judged.verdict.grants.is_empty() => {
                    let Judged { call, verdict } = judged;
                    Ok(allowed(call, &verdict))
                }
                Decision::Deny => Err(denied(judged)),
                _ => asked(parts, judged).await,
            }
        }
        Err(error) => {
            let judged = Judged { call, verdict };
            Err(judged.reject(unrecorded(&error)))
        }
    }
}

async fn asked(parts: &Parts, judged: Judged) -> Result<Permit, Rejected> {
    let Approved { judged, digest, frozen } = asking::ask(parts, judged).await?;
    let Judged { call, verdict } = judged;
    let reach = Reach { is_approved: true, line: None, ..Reach::of(&verdict) };
    let (digest, frozen) = (Some(digest), Some(frozen));
    Ok(Permit { call: reaching(call, reach), decision: Decision::Ask, digest, frozen })
}

fn allowed(call: Validated, verdict: &Verdict) -> Permit {
    let call = reaching(call, Reach::of(verdict));
    Permit { call, decision: verdict.decision, digest: None, frozen: None }
}

/// The call, which may reach this far and do no more than that allows.
fn reaching(mut call: Validated, reach: Reach) -> Validated {
    if let Some(effect) = call.invocation.effect(&reach) {
        call.facts.effect = effect;
    }
    call.context = call.context.with_reach(reach);
    call
}
