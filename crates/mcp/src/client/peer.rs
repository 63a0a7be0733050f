//! Requests to a server, and the wait for their answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::about::Era;
use super::error::{ClientError, MODERN};
use super::exchange::Exchange;
use super::host::Abilities;
use super::inbox::{Inbox, Purpose};
use super::outlet::Outlet;
use super::wire;

/// How long it may take to send that something was cancelled.
const TELLING: Duration = Duration::from_secs(5);

/// The two directions of a connection.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) inbox: Arc<Inbox>,
    pub(super) outlet: Arc<dyn Outlet>,
    /// From which level on a server without a handshake logs.
    log_level: Mutex<Option<String>>,
}

impl Peer {
    /// A peer at the other end of an outlet.
    pub(super) fn new(inbox: Arc<Inbox>, outlet: Arc<dyn Outlet>) -> Self {
        Self { inbox, outlet, log_level: Mutex::new(None) }
    }

    /// Sends a request and waits for its result.
    pub(super) async fn request(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        exchange: &Exchange,
        (era, purpose): (Era, Purpose),
    ) -> Result<Value, ClientError> {
        let mut registered = self.inbox.register(exchange, purpose)?;
        let id = registered.id;
        let can = exchange.can.unwrap_or(self.inbox.can);
        self.stamp(&mut params, era, can, (purpose == Purpose::Work).then_some(id));
        let mut abandoned = Abandoned { outlet: &self.outlet, id: Some(id) };
        let wait = async {
            self.outlet.send(wire::request(id, method, params)).await?;
            match (&mut registered.reply).await {
                Ok(outcome) => outcome,
                Err(_) => Err(ClientError::Gone(self.inbox.wait_ended().await)),
            }
        };
        let clock = Arc::clone(&registered.clock);
        let outcome = tokio::select! {
            biased;
            outcome = wait => {
                abandoned.id = None;
                outcome
            }
            () = exchange.stop.cancelled() => Err(ClientError::Cancelled),
            error = clock.run_out(exchange.patience, exchange.most) => Err(error),
        };
        drop(abandoned);
        outcome
    }

    /// Sends a notification.
    pub(super) async fn notify(
        &self,
        method: &str,
        params: Option<Value>,
    ) -> Result<(), ClientError> {
        self.outlet.send(wire::notification(method, params)).await
    }

    /// From which level on a server without a handshake logs.
    pub(super) fn set_log_level(&self, level: Option<String>) {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }

    /// Puts into a request what every one has.
    fn stamp(
        &self,
        params: &mut Map<String, Value>,
        era: Era,
        can: Abilities,
        progress: Option<u64>,
    ) {
        if era == Era::Legacy && progress.is_none() {
            return;
        }
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        if let Some(token) = progress {
            meta.insert("progressToken".to_owned(), json!(token));
        }
        if era == Era::Modern {
            meta.insert(VERSION_KEY.to_owned(), json!(MODERN));
            meta.insert(INFO_KEY.to_owned(), client_info());
            meta.insert(CAPABILITIES_KEY.to_owned(), can.said());
            let level = self.log_level.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(level) = level {
                meta.insert(LOG_LEVEL_KEY.to_owned(), json!(level));
            }
        }
        params.insert("_meta".to_owned(), Value::Object(meta));
    }
}

pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// Who we are.
pub(super) fn client_info() -> Value {
    json!({"name": "toolgate", "title": "Toolgate", "version": env!("CARGO_PKG_VERSION")})
}

/// Tells the server when nobody waits for an answer any more, also when the future is dropped.
struct Abandoned<'a> {
    outlet: &'a Arc<dyn Outlet>,
    id: Option<u64>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.outlet.abandon(id);
        }
    }
}

/// Tells a server by a message that nobody waits for an answer any more.
pub(super) fn tell_cancelled(outlet: Arc<dyn Outlet>, id: u64) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        let params = json!({"requestId": id, "reason": "nobody waits for the answer any more"});
        let message = wire::notification("notifications/cancelled", Some(params));
        // A server that does not read need not be told.
        tokio::time::timeout(TELLING, outlet.send(message)).await.ok();
    });
}
