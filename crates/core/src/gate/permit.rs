//! The right to execute one call.

use std::time::SystemTime;

use toolgate_policy::{Decision, Place, Verdict};

use super::settings::GateSettings;
use super::stage::{Judged, Rejected, Validated};
use crate::approval::{Answer, ApprovalId, ApprovalRequest, Approver, ShownPlace};
use crate::error::{ErrorKind, ToolError};
use crate::event::{Event, Events};
use crate::tool::{Location, Preview};
use crate::visible;

/// The right to execute one call, once. Only settling a judged call makes one:
///
/// ```compile_fail
/// # fn forge(call: toolgate_core::gate::Validated) {
/// let permit = toolgate_core::gate::permit::Permit { call, decision: todo!() };
/// # }
/// ```
#[derive(Debug)]
pub struct Permit {
    call: Validated,
    decision: Decision,
}

impl Permit {
    /// What the policy said about the call.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    pub(super) fn into_call(self) -> Validated {
        self.call
    }
}

/// Turns a judged call into a permit, asking a person where the policy says so.
pub(super) async fn settle(
    judged: Judged,
    approver: &dyn Approver,
    settings: &GateSettings,
    events: &Events,
) -> Result<Permit, Rejected> {
    let Judged { call, verdict } = judged;
    let decision = verdict.decision;
    let rejected = |error| Rejected { error, decision: Some(decision) };
    let outcome = match decision {
        Decision::Allow => Ok(()),
        Decision::Deny => Err(denied(&verdict)),
        Decision::Ask => ask(&call, &verdict, approver, settings, events).await,
    };
    if let Err(error) = outcome {
        events.emit(|| Event::ToolPolicyRejection {
            call: call.context.call().clone(),
            decision,
            reason: error.message.clone(),
        });
        return Err(rejected(error));
    }
    Ok(Permit { call, decision })
}

fn denied(verdict: &Verdict) -> ToolError {
    let message = format!(
        "denied by policy: {}. Do something else, or ask the owner to change the policy",
        verdict.reason()
    );
    ToolError::new(ErrorKind::PolicyDenied, message)
}

async fn ask(
    call: &Validated,
    verdict: &Verdict,
    approver: &dyn Approver,
    settings: &GateSettings,
    events: &Events,
) -> Result<(), ToolError> {
    if !approver.is_anybody_there() {
        return Err(nobody(verdict));
    }
    let request = request(call, verdict);
    events.emit(|| Event::ToolConfirmationRequest {
        call: request.call.clone(),
        description: request.description.clone(),
        risk: verdict.risk,
        reason: verdict.reason().to_owned(),
    });
    let answer = tokio::select! {
        biased;
        () = call.context.cancellation().cancelled() => return Err(ToolError::cancelled()),
        answer = approver.ask(&request) => answer,
        () = timeout(settings) => return Err(timed_out()),
    };
    events.emit(|| Event::ToolConfirmationResponse {
        call: request.call.clone(),
        approved: answer == Answer::Once,
    });
    match answer {
        Answer::Once | Answer::Grant { .. } => Ok(()),
        Answer::Edit { .. } => Err(refused(None)),
        Answer::Deny { note } => Err(refused(note)),
        Answer::Nobody => Err(nobody(verdict)),
    }
}

fn request(call: &Validated, verdict: &Verdict) -> ApprovalRequest {
    let safe = |text: &str| visible::question(&visible::line(text));
    let preview = match call.invocation.preview(&call.context) {
        Preview::Nothing => Preview::Nothing,
        Preview::Diff(text) => Preview::Diff(visible::question(&text)),
        Preview::Text(text) => Preview::Text(visible::question(&text)),
    };
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: call.context.call().clone(),
        session: call.session.id().clone(),
        asker: call.facts.caller.as_deref().map(safe),
        workspace: safe(&visible::path(call.session.workspace().root())),
        tool: call.tool.definition().name.to_string(),
        title: safe(&call.tool.definition().title),
        description: safe(&call.description),
        risk: verdict.risk,
        reasons: verdict.reasons.iter().map(|reason| safe(reason)).collect(),
        rule: verdict.rule.as_ref().map(|rule| safe(&rule.to_string())),
        dangers: verdict.risks.iter().map(|risk| safe(&risk.message)).collect(),
        places: call.locations.iter().map(|place| shown_place(call, place)).collect(),
        commands: Vec::new(),
        preview,
        args: call.facts.args.clone(),
        proposals: Vec::new(),
        asked_at: SystemTime::now(),
        expires_at: None,
        digest: String::new(),
    }
}

fn shown_place(call: &Validated, place: &Location) -> ShownPlace {
    let plain = |shown: &str, access: &str| ShownPlace {
        shown: visible::question(&visible::line(shown)),
        access: access.to_owned(),
        really: None,
        outside: false,
    };
    match place {
        Location::Path(path) => {
            let moved = path.requested != path.resolved;
            let workspace = call.session.workspace();
            ShownPlace {
                shown: visible::question(&workspace.shown(&path.requested)),
                access: path.access.verb().to_owned(),
                really: moved.then(|| visible::question(&visible::path(&path.resolved))),
                outside: path.place == Place::Outside,
            }
        }
        Location::Url(url) => plain(url, "fetch"),
        Location::Command(line) => plain(line, "run"),
    }
}

async fn timeout(settings: &GateSettings) {
    match settings.approval_timeout {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn timed_out() -> ToolError {
    ToolError::new(
        ErrorKind::ApprovalTimeout,
        "nobody answered in time, which counts as no; ask again when somebody is there",
    )
}

fn refused(note: Option<String>) -> ToolError {
    let message = match note {
        Some(note) => format!("a person refused: {}", visible::line(&note)),
        None => "a person refused; do not try the same call again".to_owned(),
    };
    ToolError::new(ErrorKind::ApprovalDenied, message)
}

fn nobody(verdict: &Verdict) -> ToolError {
    let message = format!(
        "this needs a person's approval and nobody can be asked: {}. Run it where somebody can answer, or in a mode that allows it",
        verdict.reason(),
    );
    ToolError::new(ErrorKind::ApprovalRequired, message)
}
