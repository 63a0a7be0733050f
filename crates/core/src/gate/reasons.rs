//! Why a call is made, written down before it is.

use std::sync::Arc;

use super::parts::{Parts, unrecorded};
use crate::context::Session;
use crate::error::ToolError;
use crate::keeping::Reasoning;
use crate::ledger::RecordError;

/// Keeps the reasoning that came with a call, where somebody keeps any.
pub(super) async fn keep(
    parts: &Parts,
    session: &Arc<Session>,
    reasoning: Option<String>,
) -> Result<(), ToolError> {
    let Some(text) = reasoning.filter(|text| !text.trim().is_empty()) else { return Ok(()) };
    let Some(kept) = parts.services.get::<dyn Reasoning>() else { return Ok(()) };
    let session = Arc::clone(session);
    let recorded = tokio::task::spawn_blocking(move || kept.record(&session, &text)).await;
    let message = match recorded {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.message,
        Err(error) => error.to_string(),
    };
    Err(unrecorded(&RecordError::new(message)))
}
