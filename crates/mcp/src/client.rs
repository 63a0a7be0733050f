//! A connection to one MCP server, in either era of the protocol.
//!
//! [`Client::connect`] reaches the server named by a [`Spec`] and finds out which era it speaks. What
//! a server answers is passed on as it came: nothing is lost because one part of it is not known
//! here. Whatever a server does, memory and time are bounded, and nothing of it is left behind.
//!
//! Start reading at `handshake`, then `peer`, which makes requests, and `inbox`, where messages arrive;
//! `stdio` and `http` are the ways to a server.

mod about;
pub mod auth;
mod clock;
mod error;
mod events;
mod exchange;
mod handshake;
mod headers;
mod host;
mod http;
mod inbox;
mod lines;
mod listing;
mod news;
mod outlet;
mod peer;
mod question;
mod rounds;
mod spec;
mod sse;
mod stdio;
mod subscription;
mod web;
mod wire;

pub use about::{About, Era};
pub use error::{ClientError, ConnectError, Ended, Reason};
pub use exchange::{Exchange, OnProgress, Progress};
pub use host::{Abilities, Answers, Asked, Host, News, Refused};
pub use listing::Listed;
pub use spec::{Program, Reach, Remote, Spec, Way};

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::handshake::Failure;
use self::http::Http;
use self::inbox::{Inbox, Purpose};
use self::outlet::Outlet;
use self::peer::Peer;
use self::sse::Sse;
use self::stdio::Stdio;
use self::subscription::Subscription;

/// A connection to one server. Cheap to clone; it ends when the last one is dropped.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    peer: Arc<Peer>,
    about: About,
    /// The longest list that is kept, in bytes.
    longest: usize,
    /// Only servers without a handshake need one.
    subscription: Option<Subscription>,
    _over: DropGuard,
}

impl Client {
    /// Connects to a server. The era it spoke last, if that is known, is tried first.
    ///
    /// # Errors
    ///
    /// When it cannot be reached, is not ready in time, or speaks no revision that is known here.
    pub async fn connect(
        spec: &Spec,
        known: Option<Era>,
        host: Arc<dyn Host>,
    ) -> Result<Self, ConnectError> {
        let connecting = async {
            match Self::once(spec, known, &host).await {
                // Some servers die of what they do not know.
                Err(Failed { error, is_dead: true })
                    if known != Some(Era::Legacy) && matches!(spec.way, Way::Program(_)) =>
                {
                    tracing::debug!(server = spec.name, %error, "trying again in the old manner");
                    Self::once(spec, Some(Era::Legacy), &host).await
                }
                other => other,
            }
        };
        // Whatever else may take long, it ends.
        match timeout(spec.start.saturating_mul(2), Box::pin(connecting)).await {
            Ok(connected) => connected.map_err(|failed| failed.error),
            Err(_) => Err(too_late(spec, String::new())),
        }
    }

    async fn once(spec: &Spec, known: Option<Era>, host: &Arc<dyn Host>) -> Result<Self, Failed> {
        let failed = match Self::along(spec, &spec.way, known, host).await {
            Err(failed) => failed,
            connected => return connected,
        };
        let Way::Http(remote) = &spec.way else { return Err(failed) };
        if !failed.is_older() {
            return Err(failed);
        }
        let way = Way::Sse(remote.clone());
        let older = Self::along(spec, &way, Some(Era::Legacy), host).await;
        older.map_err(|_| failed)
    }

    async fn along(
        spec: &Spec,
        way: &Way,
        known: Option<Era>,
        host: &Arc<dyn Host>,
    ) -> Result<Self, Failed> {
        let over = CancellationToken::new();
        let guard = over.clone().drop_guard();
        let inbox = Inbox::new(Arc::clone(host));
        let outlet = reach(spec, way, &inbox, &over).await?;
        let known = if matches!(way, Way::Sse(_)) { Some(Era::Legacy) } else { known };
        let peer = Arc::new(Peer::new(inbox, outlet));
        let beginning = handshake::begin(&peer, known, spec.start);
        let about = match timeout(spec.start, Box::pin(beginning)).await {
            Ok(Ok(about)) => about,
            Err(_) | Ok(Err(Failure::Exchange(ClientError::TimedOut { .. }))) => {
                peer.outlet.close().await;
                let ended = peer.inbox.ended();
                return Err(too_late(spec, ended.map(|one| one.stderr).unwrap_or_default()).into());
            }
            Ok(Err(failure)) => {
                let is_dead = matches!(failure, Failure::Exchange(ClientError::Gone(_)));
                peer.outlet.close().await;
                return Err(Failed { error: failure.named(&spec.name), is_dead });
            }
        };
        let subscription = (about.era == Era::Modern)
            .then(|| Subscription::start(Arc::clone(&peer), &about, over));
        let inner = Inner { peer, about, longest: spec.longest, subscription, _over: guard };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What the server says about itself.
    pub fn about(&self) -> &About {
        &self.inner.about
    }

    /// Everything of a kind the server has, each as it wrote it. A list without end is cut off.
    ///
    /// # Errors
    ///
    /// When a page cannot be had.
    pub async fn list(&self, what: Listed) -> Result<Vec<Value>, ClientError> {
        let Inner { peer, about, longest, .. } = &*self.inner;
        if !about.has(what.capability()) {
            return Ok(Vec::new());
        }
        let mut items = listing::all(peer, about.era, what, *longest).await?;
        if what == Listed::Tools {
            peer.outlet.keep_callable(&mut items);
        }
        Ok(items)
    }

    /// Makes a request, such as `tools/call`, and gives its result as the server wrote it.
    ///
    /// What only one era has is put into the words of the other: `resources/subscribe` and
    /// `logging/setLevel` work with every server.
    ///
    /// # Errors
    ///
    /// When the server answers with an error, or not at all.
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        exchange: Exchange,
    ) -> Result<Value, ClientError> {
        let Inner { peer, subscription, .. } = &*self.inner;
        let Some(subscription) = subscription else {
            return peer.request(method, params, &exchange, (Era::Legacy, Purpose::Work)).await;
        };
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        match (method, text("uri"), text("level")) {
            ("resources/subscribe", Some(uri), _) => {
                subscription.watch(uri, true).map(|()| json!({}))
            }
            ("resources/unsubscribe", Some(uri), _) => {
                subscription.watch(uri, false).map(|()| json!({}))
            }
            ("logging/setLevel", _, Some(level)) => {
                peer.set_log_level(Some(level.to_owned()));
                Ok(json!({}))
            }
            _ => Box::pin(rounds::request(peer, method, params, &exchange)).await,
        }
    }

    /// Tells the server something, such as `notifications/roots/list_changed`.
    ///
    /// # Errors
    ///
    /// When it cannot be sent.
    pub async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), ClientError> {
        self.inner.peer.notify(method, params).await
    }

    /// Waits until the connection is gone, and tells why.
    pub async fn ended(&self) -> Ended {
        self.inner.peer.inbox.wait_ended().await
    }

    /// Ends the connection in good order: returns when nothing of the server is left.
    pub async fn close(&self) {
        self.inner.peer.outlet.close().await;
    }
}

fn too_late(spec: &Spec, stderr: String) -> ConnectError {
    ConnectError::TimedOut { server: spec.name.clone(), after: spec.start, stderr }
}

/// An attempt that failed.
struct Failed {
    error: ConnectError,
    /// The connection was gone.
    is_dead: bool,
}

impl Failed {
    /// Whether that is how servers answer which know only what came before streamable HTTP.
    fn is_older(&self) -> bool {
        let ConnectError::Begin { source, .. } = &self.error else { return false };
        matches!(**source, ClientError::Http { status: 400 | 404 | 405, .. })
    }
}

impl From<ConnectError> for Failed {
    fn from(error: ConnectError) -> Self {
        Self { error, is_dead: false }
    }
}

/// Opens the way to a server.
async fn reach(
    spec: &Spec,
    way: &Way,
    inbox: &Arc<Inbox>,
    over: &CancellationToken,
) -> Result<Arc<dyn Outlet>, ConnectError> {
    let Spec { name, longest, .. } = spec;
    match way {
        Way::Program(program) => Stdio::start(program, name, *longest, inbox).await,
        Way::Http(remote) => Http::open(name, remote, *longest, inbox, over.child_token()),
        Way::Sse(remote) => Sse::open(name, remote, *longest, inbox, over.child_token()).await,
    }
}
