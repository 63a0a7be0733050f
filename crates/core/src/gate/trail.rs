//! What is to be written down about a call.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_policy::Verdict;

use crate::approval::{Answer, Digest, Proposal, Reply, Span};
use crate::error::{ErrorKind, ToolError};
use crate::id::{CallId, SessionId};
use crate::journal::Changes;
use crate::ledger::{Entry, EntryKind};
use crate::result::{Content, ToolResult};

/// What happened to a call and is not written down yet, in order.
#[derive(Debug, Default)]
pub(super) struct Trail {
    entries: Vec<Entry>,
    /// Whether what was asked for is part of it, or was written down already.
    requested: bool,
}

impl Trail {
    /// Takes what is to be written down now.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// Whether what was asked for is known.
    pub(super) fn has_request(&self) -> bool {
        self.requested
    }

    pub(super) fn push(
        &mut self,
        session: &SessionId,
        call: &CallId,
        kind: EntryKind,
        body: Value,
    ) {
        self.requested |= kind == EntryKind::Requested;
        self.entries.push(Entry::now(session, call, kind, body));
    }
}

/// A call that could not even be validated.
pub(super) fn unknown(tool: &str, args: &Value) -> Value {
    json!({ "tool": tool, "args": args })
}

pub(super) fn decided(verdict: &Verdict) -> Value {
    let mut body = json!({
        "decision": verdict.decision,
        "rule": verdict.rule,
        "risk": verdict.risk,
        "mode": verdict.mode,
        "floors": verdict.floors,
        "reasons": verdict.reasons,
    });
    if let (Some(profile), Some(body)) = (verdict.profile(), body.as_object_mut()) {
        body.insert("reach".to_owned(), json!(profile));
        body.insert("level".to_owned(), json!(verdict.level));
    }
    body
}

/// A rule that was given.
pub(super) fn granted(proposal: &Proposal, span: Span) -> Value {
    let mut body = json!({ "change": "granted", "rule": proposal.permission, "span": span });
    if let (Some(reach), Some(body)) = (&proposal.reach, body.as_object_mut()) {
        body.insert("reach".to_owned(), json!(reach));
    }
    body
}

pub(super) fn approval(reply: &Reply, waited_ms: u64, digest: Digest, rule: Option<&str>) -> Value {
    let (answer, by, note) = match reply {
        Reply::Answered(answered) => {
            let note = match &answered.answer {
                Answer::Deny { note } => note.as_deref(),
                _ => None,
            };
            (name(&answered.answer), Some(answered.by.as_str()), note)
        }
        Reply::Nobody => ("nobody", None, None),
        Reply::TimedOut => ("timeout", None, None),
        Reply::Cancelled => ("withdrawn", None, None),
    };
    let mut body = json!({ "answer": answer, "waited_ms": waited_ms, "digest": digest });
    let details = [("by", by), ("note", note), ("rule", rule)];
    for (key, value) in details.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        if let Some(body) = body.as_object_mut() {
            body.insert(key.to_owned(), value.into());
        }
    }
    if let (Reply::Answered(answered), Some(body)) = (reply, body.as_object_mut())
        && let Some(reach) = answered.answer.reach()
    {
        body.insert("reach".to_owned(), json!(reach));
    }
    body
}

fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Once | Answer::Grant { .. } | Answer::Reaching { .. } => {
            match answer.rule().map(|rule| rule.span) {
                None => "once",
                Some(Span::Session) => "session",
                Some(Span::Always) => "always",
                Some(Span::Minutes(_)) => "minutes",
                Some(Span::Uses(_)) => "uses",
            }
        }
        Answer::Edit { .. } => "edit",
        Answer::Deny { .. } => "deny",
        Answer::Nobody => "nobody",
    }
}

pub(super) fn refused(error: &ToolError) -> (EntryKind, Value) {
    let kind = match error.kind {
        ErrorKind::Cancelled => EntryKind::Cancelled,
        ErrorKind::PolicyDenied
        | ErrorKind::ApprovalDenied
        | ErrorKind::ApprovalTimeout
        | ErrorKind::ApprovalRequired => EntryKind::Denied,
        _ => EntryKind::Rejected,
    };
    (kind, json!({ "error": error }))
}

/// A call that ran. What it gave back is not written down: it may hold anything.
pub(super) fn ended(result: &ToolResult, changes: Option<&Changes>) -> (EntryKind, Value) {
    let kind = match result.error_kind() {
        Some(ErrorKind::Cancelled) => EntryKind::Cancelled,
        _ => EntryKind::Completed,
    };
    let chars = match &result.llm_content {
        Content::Text(text) => text.len(),
        Content::Blocks(_) => result.llm_content.as_text().len(),
    };
    let mut body = json!({ "duration_ms": result.duration_ms, "chars": chars });
    if let Some(body) = body.as_object_mut() {
        if let Some(error) = &result.error {
            body.insert("error".to_owned(), json!(error));
        }
        if let Some(whole) = result.truncated.as_ref().and_then(|cut| cut.whole.as_ref()) {
            body.insert("whole".to_owned(), whole.to_string_lossy().into());
        }
        if let Some(changes) = changes {
            let path = |path: &Path| path.to_string_lossy().into_owned();
            let files = changes.files.iter().map(|file| {
                json!({ "path": path(&file.path), "before": file.before, "after": file.after })
            });
            body.insert("changed".to_owned(), files.collect());
            if !changes.uncovered.is_empty() {
                body.insert("uncovered".to_owned(), json!(changes.uncovered));
            }
        }
    }
    (kind, body)
}
