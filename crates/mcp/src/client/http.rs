//! A server that is reached over streamable HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::error::{ClientError, ConnectError, Ended, MODERN, Reason};
use super::events::{Event, Events};
use super::headers::{self, Annotated};
use super::inbox::Inbox;
use super::outlet::Outlet;
use super::peer::tell_cancelled;
use super::spec::Remote;
use super::web::{Web, broke_off, complaint, is_kind, read};
use super::wire;

/// How often in a row a stream that brings nothing is asked for again.
const ATTEMPTS: u32 = 5;
/// How long to wait before a stream is asked for again: if nothing is said, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// How long it may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// Messages over HTTP: each is a request, and answers come with its response.
#[derive(Debug)]
pub(super) struct Http {
    itself: Weak<Self>,
    web: Web,
    inbox: Arc<Inbox>,
    longest: usize,
    state: Mutex<State>,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<String>,
    annotated: Annotated,
    /// The requests that wait for their answers.
    waiting: BTreeMap<u64, CancellationToken>,
}

impl Http {
    /// A way to a server, until the token is cancelled.
    pub(super) fn open(
        name: &str,
        remote: &Remote,
        longest: usize,
        inbox: &Arc<Inbox>,
        stop: CancellationToken,
    ) -> Result<Arc<dyn Outlet>, ConnectError> {
        let web = Web::new(name, remote)?;
        let (inbox, state) = (Arc::clone(inbox), Mutex::default());
        Ok(Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            web,
            inbox,
            longest,
            state,
            stop,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_modern(&self) -> bool {
        self.state().version.as_deref() == Some(MODERN)
    }

    /// The headers of a message.
    fn headers(&self, message: &Value) -> HeaderMap {
        let state = self.state();
        let version = state.version.as_deref();
        if headers::revision(message).is_some() || version == Some(MODERN) {
            return headers::of(message, &state.annotated);
        }
        let mut headers = HeaderMap::new();
        let is_greeting = message.get("method").and_then(Value::as_str) == Some("initialize");
        if !is_greeting && let Some(Ok(version)) = version.map(HeaderValue::from_str) {
            headers.insert("mcp-protocol-version", version);
        }
        if let Some(session) = &state.session {
            headers.insert("mcp-session-id", session.clone());
        }
        headers
    }

    /// Sends a message; an answer with a status of failure is an error.
    async fn post(&self, message: &Value) -> Result<Response, ClientError> {
        let headers = self.headers(message);
        let has_session = headers.contains_key("mcp-session-id");
        let response = self.web.ask(Method::POST, self.web.url(), headers, Some(message)).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        if has_session && response.status() == StatusCode::NOT_FOUND {
            return Err(self.expired());
        }
        let (error, said) = complaint(response).await;
        Err(said.and_then(wire::error_of).unwrap_or(error))
    }

    /// The server knows the session no more: the connection is gone.
    fn expired(&self) -> ClientError {
        let ended = Ended { reason: Reason::SessionExpired, stderr: String::new() };
        self.inbox.end(ended.clone());
        ClientError::Gone(ended)
    }

    /// Makes a request, and has its answer delivered.
    async fn request(self: Arc<Self>, id: u64, message: Value) {
        let outcome = tokio::select! {
            outcome = self.exchange(id, &message) => outcome,
            () = self.stop.cancelled() => return,
        };
        if let Err(error) = outcome {
            self.inbox.settle(Some(id), Err(error));
        } else if self.inbox.is_open(id) {
            let why = "the response has no answer in it".to_owned();
            self.inbox.settle(Some(id), Err(ClientError::Malformed { why }));
        }
    }

    async fn exchange(self: &Arc<Self>, id: u64, message: &Value) -> Result<(), ClientError> {
        let response = self.post(message).await?;
        if message.get("method").and_then(Value::as_str) == Some("initialize") {
            self.state().session = response.headers().get("mcp-session-id").cloned();
        }
        if is_kind(&response, "text/event-stream") {
            let is_resumable = headers::revision(message).is_none();
            return self.follow(Some(id), response, is_resumable).await;
        }
        let body = read(response, self.longest).await?;
        if body.trim_ascii().is_empty() {
            return Ok(());
        }
        let message = serde_json::from_slice(&body)
            .map_err(|error| ClientError::Malformed { why: format!("it is no JSON: {error}") })?;
        self.receive(message, Some(id));
        Ok(())
    }

    fn receive(self: &Arc<Self>, message: Value, on: Option<u64>) {
        let outlet: Arc<dyn Outlet> = Arc::clone(self) as Arc<dyn Outlet>;
        self.inbox.receive(message, on, &outlet);
    }

    /// Follows a stream until the answer is there; one that breaks off is taken up again.
    async fn follow(
        self: &Arc<Self>,
        on: Option<u64>,
        response: Response,
        is_resumable: bool,
    ) -> Result<(), ClientError> {
        let mut place = Place::default();
        let mut response = Some(response);
        let mut in_vain = 0;
        loop {
            let (before, begun) = (place.last.clone(), Instant::now());
            let broken = match response.take() {
                Some(response) => self.events(on, response, &mut place).await,
                None => Ok(()),
            };
            if on.is_some_and(|id| !self.inbox.is_open(id)) {
                return Ok(());
            }
            let is_in_vain = place.last == before && begun.elapsed() < PAUSES.1;
            in_vain = if is_in_vain { in_vain + 1 } else { 1 };
            let can_resume = is_resumable && (on.is_none() || place.last.is_some());
            if !can_resume || (on.is_some() && in_vain > ATTEMPTS) {
                return broken.and(Err(broke_off("it broke off before the answer")));
            }
            let pause = place.retry.unwrap_or(PAUSES.0) * (1 << in_vain.min(7)) / 2;
            sleep(pause.min(PAUSES.1).max(place.retry.unwrap_or_default())).await;
            response = self.resume(place.last.as_deref()).await?;
        }
    }

    /// Asks for what the server says by itself, or for the rest of a stream; nothing when it
    /// cannot be reached now.
    async fn resume(&self, last: Option<&str>) -> Result<Option<Response>, ClientError> {
        let mut headers = self.headers(&Value::Null);
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert("last-event-id", last);
        }
        let has_session = headers.contains_key("mcp-session-id");
        let response = match self.web.ask(Method::GET, self.web.url(), headers, None).await {
            Err(ClientError::Gone(_)) => return Ok(None),
            other => other?,
        };
        let status = response.status();
        if has_session && status == StatusCode::NOT_FOUND {
            return Err(self.expired());
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Ok(None);
        }
        if !status.is_success() || !is_kind(&response, "text/event-stream") {
            return Err(complaint(response).await.0);
        }
        Ok(Some(response))
    }

    /// Takes in the events of a stream.
    async fn events(
        self: &Arc<Self>,
        on: Option<u64>,
        response: Response,
        place: &mut Place,
    ) -> Result<(), ClientError> {
        let mut events = Events::new(response, self.longest);
        while let Some(event) = events.next().await? {
            place.note(&event);
            if event.is_too_long {
                let error = ClientError::TooLarge { limit: self.longest };
                self.inbox.unreadable(on, &error);
            }
            let is_message = event.kind.as_deref().is_none_or(|kind| kind == "message");
            let Some(data) = event.data.filter(|data| is_message && !data.is_empty()) else {
                continue;
            };
            match serde_json::from_slice(&data) {
                Ok(message) => self.receive(message, on),
                Err(_) => self.inbox.pass_over("an event that is no JSON"),
            }
            if on.is_some_and(|id| !self.inbox.is_open(id)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Hears what a server with a handshake says by itself.
    async fn listen(self: Arc<Self>) {
        let listening = async {
            if let Some(response) = self.resume(None).await? {
                self.follow(None, response, true).await?;
            }
            Ok::<_, ClientError>(())
        };
        tokio::select! {
            outcome = listening => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "the server says nothing by itself");
                }
            }
            () = self.stop.cancelled() => {}
        }
    }
}

/// How far a stream was read.
#[derive(Debug, Default)]
struct Place {
    last: Option<String>,
    retry: Option<Duration>,
}

impl Place {
    fn note(&mut self, event: &Event) {
        if let Some(id) = &event.id {
            self.last = Some(id.clone()).filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(retry.min(PAUSES.1));
        }
    }
}

#[async_trait]
impl Outlet for Http {
    async fn send(&self, message: Value) -> Result<(), ClientError> {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.get("id").and_then(wire::number).filter(|_| method.is_some());
        let Some(itself) = self.itself.upgrade() else { return Ok(()) };
        let Some(id) = id else {
            drop(self.post(&message).await?);
            if method.as_deref() == Some("notifications/initialized") {
                tokio::spawn(itself.listen());
            }
            return Ok(());
        };
        let given_up = CancellationToken::new();
        self.state().waiting.insert(id, given_up.clone());
        tokio::spawn(async move {
            let state = Arc::clone(&itself);
            tokio::select! {
                () = itself.request(id, message) => {}
                () = given_up.cancelled() => {}
            }
            state.state().waiting.remove(&id);
        });
        Ok(())
    }

    fn abandon(&self, id: u64) {
        // Without a handshake, nobody reading any more says it all.
        if !self.is_modern()
            && let Some(itself) = self.itself.upgrade()
        {
            tell_cancelled(itself, id);
        }
        if let Some(given_up) = self.state().waiting.remove(&id) {
            given_up.cancel();
        }
    }

    fn agreed(&self, version: &str) {
        self.state().version = Some(version.to_owned());
    }

    fn keep_callable(&self, tools: &mut Vec<Value>) {
        if self.is_modern() {
            self.state().annotated = headers::keep_callable(tools);
        }
    }

    async fn close(&self) {
        self.inbox.end(Ended { reason: Reason::Closed, stderr: String::new() });
        let headers = self.headers(&Value::Null);
        if headers.contains_key("mcp-session-id") {
            let goodbye = self.web.ask(Method::DELETE, self.web.url(), headers, None);
            // A server that does not listen will find out by itself.
            timeout(GOODBYE, goodbye).await.ok();
        }
        self.stop.cancel();
    }
}
