//! Writing down a call that runs: before it does, and after.

use serde_json::{Value, json};
use toolgate_policy::Effect;
use toolgate_policy::floor::sensitive::sensitive;

use super::parts::{Parts, unrecorded};
use super::permit::Permit;
use super::stage::{Rejected, Validated};
use super::trail::{self, Trail};
use crate::error::ToolError;
use crate::event::Event;
use crate::id::{CallId, SessionId};
use crate::journal::{Changes, Footprint, Watch, Watching};
use crate::ledger::{Durability, EntryKind};
use crate::redact;
use crate::result::ToolResult;
use crate::visible;

/// Records that a call begins. One that changes something is recorded to survive a power loss,
/// and what it may change is kept; if either fails, it does not run.
pub(super) async fn begin(
    parts: &Parts,
    mut permit: Permit,
) -> Result<(Permit, Option<Box<dyn Watching>>), Rejected> {
    let digest = permit.digest();
    let call = permit.call_mut();
    if call.facts.effect == Effect::Read {
        return match parts.note(call.trail.take()) {
            Ok(()) => Ok((permit, None)),
            Err(error) => Err(permit.reject(error)),
        };
    }
    let watching = match watch(parts, &permit).await {
        Ok(watching) => watching,
        Err(error) => return Err(permit.reject(error)),
    };
    let call = permit.call_mut();
    parts.happened(call, EntryKind::Started, |_| {
        digest.map_or_else(|| json!({}), |digest| json!({ "digest": digest }))
    });
    match parts.commit(call.trail.take(), Durability::Power).await {
        Ok(()) => Ok((permit, watching)),
        Err(error) => {
            // It changes nothing, and nobody has to look for changes later.
            if let Some(watching) = watching {
                changes(parts, permit.call().context.call(), watching).await;
            }
            Err(permit.reject(error))
        }
    }
}

async fn watch(parts: &Parts, permit: &Permit) -> Result<Option<Box<dyn Watching>>, ToolError> {
    let Some(journal) = &parts.journal else { return Ok(None) };
    let call = permit.call();
    let footprint = call.invocation.footprint(&call.context);
    if matches!(&footprint, Footprint::Files(files) if files.is_empty()) {
        return Ok(None);
    }
    let watch =
        Watch { call: call.context.call().clone(), session: call.session.id().clone(), footprint };
    journal.before(watch).await.map(Some).map_err(|error| unrecorded(&error))
}

/// Finds out what a call changed.
pub(super) async fn changes(parts: &Parts, call: &CallId, watching: Box<dyn Watching>) -> Changes {
    let changes = match watching.after().await {
        Ok(changes) => changes,
        Err(error) => {
            tracing::warn!(%call, error = %error.message, "what a call changed could not be kept");
            let said = format!("what it changed could not be kept: {}", error.message);
            Changes { files: Vec::new(), uncovered: vec![said] }
        }
    };
    if !changes.files.is_empty() {
        parts.events.emit(|| Event::ChangedFiles {
            call: call.clone(),
            paths: changes.files.iter().map(|file| visible::path(&file.path)).collect(),
        });
    }
    changes
}

/// A call that was validated.
pub(super) fn requested(call: &Validated) -> Value {
    let facts = &call.facts;
    let paths = facts.paths.iter().map(|path| {
        json!({
            "requested": path.requested.to_string_lossy(),
            "resolved": path.resolved.to_string_lossy(),
            "access": path.access,
        })
    });
    let mut args = facts.args.clone();
    if is_sensitive(call) {
        redact::hide_contents(&mut args);
    }
    json!({
        "tool": call.tool.definition().name,
        "args": args,
        "description": call.description,
        "effect": facts.effect,
        "risk": facts.risk,
        "cwd": call.session.workspace().root().to_string_lossy(),
        "paths": paths.collect::<Vec<_>>(),
    })
}

/// Whether the content of what is touched had better not be written down.
fn is_sensitive(call: &Validated) -> bool {
    let home = call.session.workspace().home().map(|home| home.to_string_lossy().to_lowercase());
    call.facts.paths.iter().any(|path| {
        let path = path.resolved.to_string_lossy().to_lowercase();
        sensitive(&path, home.as_deref()).is_some()
    })
}

/// The end of a call, to be recorded.
#[derive(Debug)]
pub(super) struct End<'a> {
    pub(super) session: &'a SessionId,
    pub(super) call: &'a CallId,
    pub(super) tool: &'a str,
    /// The arguments as they came.
    pub(super) args: Option<Value>,
}

impl End<'_> {
    /// Records how a call ended that ran. It has happened, so a failure to record it is only
    /// logged: it is closed as interrupted later.
    pub(super) async fn ran(self, parts: &Parts, result: &ToolResult, executed: Ran) {
        if parts.ledger.is_none() {
            return;
        }
        let mut trail = Trail::default();
        let (kind, body) = trail::ended(result, executed.changes.as_ref());
        trail.push(self.session, self.call, kind, body);
        let recorded = if executed.has_effect {
            parts.commit(trail.take(), Durability::Process).await
        } else {
            parts.note(trail.take())
        };
        self.warn(recorded);
    }

    /// Records why a call did not run.
    pub(super) fn refused(mut self, parts: &Parts, error: &ToolError, mut trail: Trail) {
        if parts.ledger.is_none() {
            return;
        }
        let args = self.args.take();
        if !trail.has_request() {
            let body = trail::unknown(self.tool, &args.unwrap_or_default());
            trail.push(self.session, self.call, EntryKind::Requested, body);
        }
        let (kind, body) = trail::refused(error);
        trail.push(self.session, self.call, kind, body);
        self.warn(parts.note(trail.take()));
    }

    fn warn(&self, recorded: Result<(), ToolError>) {
        if let Err(error) = recorded {
            tracing::warn!(call = %self.call, error = %error.message, "the end of a call could not be recorded");
        }
    }
}

/// What is to be known about a call that ran.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) has_effect: bool,
    pub(super) changes: Option<Changes>,
}
