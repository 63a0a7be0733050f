//! Telling clients that what is offered is something else now.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{SubscriptionSendError, SubscriptionSink};
use rmcp::{Peer, RoleServer};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use toolgate_core::registry::RegistryChange;

use super::offers::OfferChange;
use super::shared::Shared;

/// Tools that come and go closely after each other are told of once.
const PAUSE: Duration = Duration::from_millis(50);
/// How many resources one connection watches.
pub(super) const MOST: usize = 1_000;

/// The resources a connection watches.
#[derive(Debug, Default)]
pub(super) struct Watched(Mutex<HashSet<String>>);

impl Watched {
    /// Watches one more.
    pub(super) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut watched = self.lock();
        if watched.len() >= MOST && !watched.contains(&uri) {
            let message = format!("a connection watches at most {MOST} resources");
            return Err(ErrorData::invalid_params(message, None));
        }
        watched.insert(uri);
        Ok(())
    }

    /// Watches one no more.
    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn holds(&self, uri: &str) -> bool {
        self.lock().contains(uri)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became something else.
enum Change {
    Tools,
    Other(OfferChange),
}

/// Hears of changes from when it was made.
#[derive(Debug)]
pub(super) struct Listener {
    tools: Receiver<RegistryChange>,
    others: Option<Receiver<OfferChange>>,
}

impl Listener {
    pub(super) fn new(shared: &Shared) -> Self {
        let others = shared.offers.as_ref().and_then(|offers| offers.changes());
        Self { tools: shared.gate.registry().subscribe(), others }
    }

    /// The next change; nothing when there will be none.
    async fn next(&mut self) -> Option<Change> {
        let heard = tokio::select! {
            heard = self.tools.recv() => heard.map(|_| Change::Tools),
            heard = other(&mut self.others) => heard.map(Change::Other),
        };
        match heard {
            Ok(Change::Tools) | Err(RecvError::Lagged(_)) => {
                tokio::time::sleep(PAUSE).await;
                self.tools = self.tools.resubscribe();
                Some(Change::Tools)
            }
            Ok(change) => Some(change),
            Err(RecvError::Closed) => None,
        }
    }

    /// Tells a client with a handshake, until it is gone.
    pub(super) async fn tell_peer(mut self, peer: Peer<RoleServer>, watched: Arc<Watched>) {
        while let Some(change) = self.next().await {
            let told = match change {
                Change::Tools => peer.notify_tool_list_changed().await,
                Change::Other(OfferChange::Prompts) => peer.notify_prompt_list_changed().await,
                Change::Other(OfferChange::Resources) => peer.notify_resource_list_changed().await,
                Change::Other(OfferChange::Resource(uri)) if watched.holds(&uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
                Change::Other(OfferChange::Resource(_)) => continue,
            };
            if told.is_err() {
                return;
            }
        }
    }

    /// Tells a subscription what it wants to hear, until it is gone.
    pub(super) async fn tell_subscription(mut self, sink: &SubscriptionSink) {
        while let Some(change) = self.next().await {
            let told = match change {
                Change::Tools => sink.notify_tool_list_changed().await,
                Change::Other(OfferChange::Prompts) => sink.notify_prompt_list_changed().await,
                Change::Other(OfferChange::Resources) => sink.notify_resource_list_changed().await,
                Change::Other(OfferChange::Resource(uri)) => {
                    sink.notify_resource_updated(uri).await
                }
            };
            match told {
                Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
                Err(_) => return,
            }
        }
    }
}

/// The next change besides tools; for ever where there are none.
async fn other(changes: &mut Option<Receiver<OfferChange>>) -> Result<OfferChange, RecvError> {
    match changes {
        Some(changes) => match changes.recv().await {
            // What was missed may have been anything, and lists are read anew.
            Err(RecvError::Lagged(_)) => Ok(OfferChange::Resources),
            heard => heard,
        },
        None => std::future::pending().await,
    }
}
