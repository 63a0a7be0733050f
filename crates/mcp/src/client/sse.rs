//! A server that is reached over HTTP with a stream of events, as before 2025-03-26.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::error::{ClientError, ConnectError, Ended, Reason};
use super::events::Events;
use super::inbox::Inbox;
use super::outlet::Outlet;
use super::peer::tell_cancelled;
use super::spec::Remote;
use super::web::{Web, complaint, is_kind};
use super::wire;

/// Messages to an address that the server names on its stream, where answers come.
#[derive(Debug)]
pub(super) struct Sse {
    itself: Weak<Self>,
    web: Web,
    inbox: Arc<Inbox>,
    endpoint: Url,
    stop: CancellationToken,
}

impl Sse {
    /// Opens the stream and waits until the server has named the address.
    pub(super) async fn open(
        name: &str,
        remote: &Remote,
        longest: usize,
        inbox: &Arc<Inbox>,
        stop: CancellationToken,
    ) -> Result<Arc<dyn Outlet>, ConnectError> {
        let web = Web::new(name, remote)?;
        let named = |source: ClientError| match source {
            ClientError::NeedsLogin { server } => ConnectError::NeedsLogin { server },
            source => ConnectError::Begin { server: name.to_owned(), source: Box::new(source) },
        };
        let (events, endpoint) = begin(&web, longest).await.map_err(named)?;
        let outlet = Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            web,
            inbox: Arc::clone(inbox),
            endpoint,
            stop,
        });
        tokio::spawn(Arc::clone(&outlet).read(events, longest));
        Ok(outlet)
    }

    /// Takes in what comes on the stream.
    async fn read(self: Arc<Self>, mut events: Events, longest: usize) {
        let reading = async {
            while let Some(event) = events.next().await? {
                if event.is_too_long {
                    self.inbox.unreadable(None, &ClientError::TooLarge { limit: longest });
                }
                let is_message = event.kind.as_deref().is_none_or(|kind| kind == "message");
                let Some(data) = event.data.filter(|data| is_message && !data.is_empty()) else {
                    continue;
                };
                match serde_json::from_slice(&data) {
                    Ok(message) => {
                        let outlet = Arc::clone(&self) as Arc<dyn Outlet>;
                        self.inbox.receive(message, None, &outlet);
                    }
                    Err(_) => self.inbox.pass_over("an event that is no JSON"),
                }
            }
            Ok::<_, ClientError>(())
        };
        let outcome = tokio::select! {
            outcome = reading => outcome,
            () = self.stop.cancelled() => return,
        };
        let ended = if let Err(ClientError::Gone(ended)) = outcome {
            ended
        } else {
            let reason = Reason::Unreachable("its stream ended".to_owned());
            Ended { reason, stderr: String::new() }
        };
        self.inbox.end(ended);
    }
}

/// Opens the stream; its first event names the address for messages.
async fn begin(web: &Web, longest: usize) -> Result<(Events, Url), ClientError> {
    let response = web.ask(Method::GET, web.url(), HeaderMap::new(), None).await?;
    if !response.status().is_success() {
        return Err(complaint(response).await.0);
    }
    if !is_kind(&response, "text/event-stream") {
        let why = "there is no stream of events at its address".to_owned();
        return Err(ClientError::Malformed { why });
    }
    let mut events = Events::new(response, longest);
    while let Some(event) = events.next().await? {
        if event.kind.as_deref() != Some("endpoint") {
            continue;
        }
        let named = String::from_utf8_lossy(&event.data.unwrap_or_default()).trim().to_owned();
        let endpoint = web.url().join(&named).ok();
        // INVARIANT: what is secret goes to the origin it is meant for.
        let endpoint = endpoint.filter(|endpoint| endpoint.origin() == web.url().origin());
        return endpoint.map(|endpoint| (events, endpoint)).ok_or_else(|| {
            let named = toolgate_core::visible::line(&named).into_owned();
            ClientError::Malformed { why: format!("it wants messages at `{named}`, elsewhere") }
        });
    }
    Err(ClientError::Malformed { why: "its stream ended before it began".to_owned() })
}

#[async_trait]
impl Outlet for Sse {
    async fn send(&self, message: Value) -> Result<(), ClientError> {
        let response = self.web.ask(Method::POST, &self.endpoint, HeaderMap::new(), Some(&message));
        let response = response.await?;
        if response.status().is_success() {
            return Ok(());
        }
        let (error, said) = complaint(response).await;
        Err(said.and_then(wire::error_of).unwrap_or(error))
    }

    fn abandon(&self, id: u64) {
        if let Some(itself) = self.itself.upgrade() {
            tell_cancelled(itself, id);
        }
    }

    fn agreed(&self, _version: &str) {}

    fn keep_callable(&self, _tools: &mut Vec<Value>) {}

    async fn close(&self) {
        self.inbox.end(Ended { reason: Reason::Closed, stderr: String::new() });
        self.stop.cancel();
    }
}
