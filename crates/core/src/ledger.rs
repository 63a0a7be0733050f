//! Writing down what happened.
//!
//! The gate says what to record and how surely; who implements [`Ledger`]
//! keeps secrets out of it and the order of entries provable.

use std::fmt;
use std::time::SystemTime;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{CallId, SessionId};

/// The append-only record of calls, decisions and results.
#[async_trait]
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Hands entries over without waiting; they are committed soon, in order.
    ///
    /// # Errors
    ///
    /// When entries cannot be written any more: then nothing may run.
    fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError>;

    /// Writes entries down, behind all that were handed over before, and waits until they are
    /// as safe as asked for.
    ///
    /// # Errors
    ///
    /// When they could not be written.
    async fn commit(&self, entries: Vec<Entry>, durability: Durability) -> Result<(), RecordError>;
}

/// What an entry must survive once it is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The end of this process.
    Process,
    /// A power loss.
    Power,
}

/// Something that happened, as the gate saw it. Secrets are still in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When.
    pub at: SystemTime,
    /// The session it happened in.
    pub session: SessionId,
    /// The call it happened to, if it did to one.
    pub call: Option<CallId>,
    /// What happened.
    pub kind: EntryKind,
    /// What else is to be known about it: a JSON object.
    pub body: Value,
}

impl Entry {
    /// Something that happens now to a call.
    pub fn now(session: &SessionId, call: &CallId, kind: EntryKind, body: Value) -> Self {
        Self {
            at: SystemTime::now(),
            session: session.clone(),
            call: Some(call.clone()),
            kind,
            body,
        }
    }

    /// Something that happens now, to no call in particular.
    pub fn of_session(session: &SessionId, kind: EntryKind, body: Value) -> Self {
        Self { at: SystemTime::now(), session: session.clone(), call: None, kind, body }
    }
}

/// What can happen. The names are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A call was asked for: `tool`, `args`, `description`, `effect`, `risk`, `cwd`, `paths`.
    Requested,
    /// The policy decided: `decision`, `rule`, `risk`, `mode`, `floors`, `reasons`.
    Decided,
    /// A person answered, or did not: `answer`, `by`, `note`, `waited_ms`, `digest`, `rule`.
    Approval,
    /// It began to run: `digest`.
    Started,
    /// It ran to its end, well or not: `error`, `duration_ms`, `chars`, `changed`.
    Completed,
    /// It did not get as far as the policy: `error`.
    Rejected,
    /// The policy or a person refused it: `error`.
    Denied,
    /// It was cancelled: `error`.
    Cancelled,
    /// The process ended while it ran.
    Interrupted,
    /// A hook changed its arguments: `hook`, `args`.
    HookChangedInput,
    /// The rules changed: `change`, `rule`.
    PolicyChanged,
    /// Changes were taken back: `of`, `files`.
    Undo,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Requested,
        Self::Decided,
        Self::Approval,
        Self::Started,
        Self::Completed,
        Self::Rejected,
        Self::Denied,
        Self::Cancelled,
        Self::Interrupted,
        Self::HookChangedInput,
        Self::PolicyChanged,
        Self::Undo,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Decided => "decided",
            Self::Approval => "approval",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::HookChangedInput => "hook_changed_input",
            Self::PolicyChanged => "policy_changed",
            Self::Undo => "undo",
        }
    }

    /// Whether nothing more happens to a call after this.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Rejected | Self::Denied | Self::Cancelled | Self::Interrupted
        )
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why something could not be written down.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordError {
    /// What happened and what to do about it, in one line.
    pub message: String,
}

impl RecordError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Writes nothing down: for those who keep their own records.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLedger;

#[async_trait]
impl Ledger for NoLedger {
    fn note(&self, _entries: Vec<Entry>) -> Result<(), RecordError> {
        Ok(())
    }

    async fn commit(&self, _: Vec<Entry>, _: Durability) -> Result<(), RecordError> {
        Ok(())
    }
}
