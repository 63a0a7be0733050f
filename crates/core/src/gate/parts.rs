//! What a gate is made of, besides its tools.

use std::sync::Arc;

use serde_json::Value;
use toolgate_policy::Policy;

use super::settings::GateSettings;
use super::stage::Validated;
use crate::approval::Approvals;
use crate::error::{ErrorKind, ToolError};
use crate::event::Events;
use crate::grants::Grants;
use crate::hook::Hook;
use crate::journal::Journal;
use crate::ledger::{Durability, Entry, EntryKind, Ledger, RecordError};
use crate::services::Services;
use crate::spawn::Spawner;
use crate::world::SessionWorld;

/// What a gate is made of, besides its tools.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) policy: Arc<dyn Policy>,
    pub(super) approvals: Approvals,
    pub(super) grants: Arc<dyn Grants>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) ledger: Option<Arc<dyn Ledger>>,
    pub(super) journal: Option<Arc<dyn Journal>>,
    pub(super) spawner: Option<Arc<dyn Spawner>>,
    /// What tools need from outside.
    pub(super) services: Arc<Services>,
    pub(super) events: Events,
    pub(super) settings: GateSettings,
}

impl Parts {
    /// The machine, as the policy may ask about it for a call.
    pub(super) fn world<'p>(&'p self, call: &'p Validated) -> SessionWorld<'p> {
        SessionWorld::new(call.session.workspace()).with_spawner(self.spawner.as_deref())
    }

    /// Notes something that happened to a call, put into words only where it is written down.
    pub(super) fn happened(
        &self,
        call: &mut Validated,
        kind: EntryKind,
        body: impl FnOnce(&Validated) -> Value,
    ) {
        if self.ledger.is_some() {
            let body = body(call);
            call.trail.push(call.session.id(), call.context.call(), kind, body);
        }
    }

    /// Hands entries to the ledger without waiting for it.
    pub(super) fn note(&self, entries: Vec<Entry>) -> Result<(), ToolError> {
        match &self.ledger {
            Some(ledger) if !entries.is_empty() => ledger.note(entries).map_err(|e| unrecorded(&e)),
            _ => Ok(()),
        }
    }

    /// Waits until entries are as safe as asked for.
    pub(super) async fn commit(
        &self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<(), ToolError> {
        match &self.ledger {
            Some(ledger) => ledger.commit(entries, durability).await.map_err(|e| unrecorded(&e)),
            None => Ok(()),
        }
    }
}

/// What cannot be written down does not happen.
pub(super) fn unrecorded(error: &RecordError) -> ToolError {
    ToolError::new(
        ErrorKind::LedgerError,
        format!("the call was not run, because it cannot be recorded: {}", error.message),
    )
}
