//! What a server without a handshake is to tell by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::about::{About, Era};
use super::error::ClientError;
use super::exchange::Exchange;
use super::inbox::Purpose;
use super::peer::Peer;

/// Resources that are watched at once, at most.
const RESOURCES: usize = 1000;
/// The shortest and the longest pause before listening again.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// As long as it takes.
const FOREVER: Duration = Duration::MAX;

/// What is to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Wanted {
    /// The lists that may change.
    lists: Vec<&'static str>,
    /// The resources that may be updated.
    resources: BTreeSet<String>,
}

/// Keeps listening to a server.
#[derive(Debug)]
pub(super) struct Subscription {
    wanted: watch::Sender<Wanted>,
}

impl Subscription {
    /// Listens for the changes a server says it tells of, until the token is cancelled.
    pub(super) fn start(peer: Arc<Peer>, about: &About, over: CancellationToken) -> Self {
        let lists = [
            ("tools", "toolsListChanged"),
            ("prompts", "promptsListChanged"),
            ("resources", "resourcesListChanged"),
        ];
        let tells = |capability: &str| {
            let capability = about.capabilities.get(capability);
            capability.and_then(|one| one.get("listChanged")?.as_bool()).unwrap_or(false)
        };
        let lists = lists.into_iter().filter(|(one, _)| tells(one)).map(|(_, name)| name);
        let wanted = Wanted { lists: lists.collect(), resources: BTreeSet::new() };
        let (wanted, changes) = watch::channel(wanted);
        tokio::spawn(async move {
            tokio::select! {
                () = listen(&peer, changes) => {}
                () = over.cancelled() => {}
            }
        });
        Self { wanted }
    }

    /// Has updates of a resource told, or no longer.
    pub(super) fn watch(&self, uri: &str, is_wanted: bool) -> Result<(), ClientError> {
        let mut is_full = false;
        self.wanted.send_if_modified(|wanted| {
            is_full = is_wanted && wanted.resources.len() >= RESOURCES;
            match is_wanted {
                true if is_full => false,
                true => wanted.resources.insert(uri.to_owned()),
                false => wanted.resources.remove(uri),
            }
        });
        if is_full {
            let message = format!("at most {RESOURCES} resources can be subscribed to");
            return Err(ClientError::Server { code: -32602, message, data: None });
        }
        Ok(())
    }
}

async fn listen(peer: &Peer, mut changes: watch::Receiver<Wanted>) {
    let mut pause = PAUSES.0;
    loop {
        let wanted = changes.borrow_and_update().clone();
        if wanted == Wanted::default() {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        }
        let begun = Instant::now();
        let exchange = Exchange::new(FOREVER);
        let kind = (Era::Modern, Purpose::Upkeep);
        let listening = peer.request("subscriptions/listen", params(&wanted), &exchange, kind);
        let outcome = tokio::select! {
            outcome = listening => outcome,
            changed = changes.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        match outcome {
            Err(ClientError::Gone(_)) => return,
            Err(ClientError::Server { code: -32601, .. }) => {
                tracing::debug!("the server cannot be listened to");
                return;
            }
            _ => {}
        }
        pause = if begun.elapsed() > PAUSES.1 { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
        sleep(pause).await;
    }
}

fn params(wanted: &Wanted) -> Map<String, Value> {
    let mut filter = Map::new();
    for name in &wanted.lists {
        filter.insert((*name).to_owned(), json!(true));
    }
    if !wanted.resources.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), json!(wanted.resources));
    }
    let mut params = Map::new();
    params.insert("notifications".to_owned(), Value::Object(filter));
    params
}
