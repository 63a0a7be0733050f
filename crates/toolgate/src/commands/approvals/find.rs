//! The request that somebody means by the beginning of its id.

use toolgate_core::approval::ApprovalRequest;

use super::desk::{Desk, Settled};

/// What the beginning of an id stands for.
#[derive(Debug)]
pub(super) enum Found {
    /// The one request that waits.
    Waiting(Box<ApprovalRequest>),
    /// A request that was answered, or has expired.
    Settled(Settled),
    /// Several requests.
    Several(Vec<String>),
    /// None at all.
    Nothing,
}

/// Looks for a request whose id begins so.
pub(super) fn request(desk: &dyn Desk, beginning: &str) -> anyhow::Result<Found> {
    let beginning = beginning.trim().to_ascii_lowercase();
    if beginning.is_empty() {
        return Ok(Found::Nothing);
    }
    let mut waiting = desk.pending()?;
    waiting.retain(|request| request.id.to_string().starts_with(&beginning));
    match (waiting.len(), waiting.pop()) {
        (1, Some(request)) => return Ok(Found::Waiting(Box::new(request))),
        (0, _) | (_, None) => {}
        (_, Some(last)) => {
            let ids = waiting.iter().chain([&last]).map(|request| request.id.to_string());
            return Ok(Found::Several(ids.collect()));
        }
    }
    let mut settled = desk.settled(&beginning)?;
    Ok(match (settled.len(), settled.pop()) {
        (1, Some(settled)) => Found::Settled(settled),
        (0, _) | (_, None) => Found::Nothing,
        (_, Some(last)) => {
            let ids = settled.iter().chain([&last]).map(|settled| settled.id.to_string());
            Found::Several(ids.collect())
        }
    })
}
