//! One call, through the gate and back.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::Session;

use super::approver::Trust;
use super::link::{Abilities, Link};
use super::progress::Progress;
use super::shared::Shared;

/// Takes a call through the gate, telling the client how it goes where it wants to know.
pub(super) async fn run(
    shared: &Shared,
    session: &Arc<Session>,
    call: Call,
    context: &RequestContext<RoleServer>,
) -> Outcome {
    let can = Abilities::of(context.client_capabilities().as_ref());
    let token = context.meta.get_progress_token();
    let is_told = token.is_some() || (can.forms && shared.trust != Trust::Never);
    let patience = if is_told { shared.patience.told } else { shared.patience.silent };
    let call = call.with_patience(patience);
    let id = call.id.clone();
    let _linked = shared.links.open(id.clone(), Link::requests(context.peer.clone(), can));
    let progress =
        token.map(|token| Progress::follow(context.peer.clone(), token, id, shared.gate.events()));
    let calling = shared.gate.call_cancellable(call, session, &context.ct);
    match progress {
        None => calling.await,
        Some(progress) => told(calling, progress).await,
    }
}

/// Waits for a call and tells how it goes.
async fn told(calling: impl Future<Output = Outcome>, progress: Progress) -> Outcome {
    let ended = CancellationToken::new();
    let calling = async {
        let outcome = calling.await;
        ended.cancel();
        outcome
    };
    let (outcome, ()) = tokio::join!(calling, progress.tell(&ended));
    outcome
}
