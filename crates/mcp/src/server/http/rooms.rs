//! The sessions of clients that shake hands over HTTP.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt as _, future, stream};
use rmcp::model::{ClientJsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};

use super::super::shared::Shared;

/// How many sessions there are at once.
const MOST: usize = 64;
/// How long a session lasts that is not used.
const IDLE: Duration = Duration::from_hours(1);

/// Where there are too many, one that was not used for so long makes room for another.
const QUIET: Duration = Duration::from_mins(5);

/// The sessions of clients that shake hands over HTTP: a number of them, for some time.
#[derive(Debug)]
pub(super) struct Rooms {
    local: LocalSessionManager,
    known: Mutex<HashMap<SessionId, Known>>,
    shared: Arc<Shared>,
}

/// A session, as far as it is known here.
#[derive(Debug, Clone, Copy)]
struct Known {
    last_used: Instant,
    priming: Priming,
}

/// Whether a stream begins with an empty event that carries an id to reconnect with. Revisions
/// before 2025-11-25 do not have this event, and clients that speak them stop reading at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Priming {
    Sent,
    LeftOut,
}

impl Priming {
    /// Returns what a session gets whose handshake was answered like this.
    fn after(answer: &ServerJsonRpcMessage) -> Self {
        match answer {
            ServerJsonRpcMessage::Response(response) => match &response.result {
                ServerResult::InitializeResult(result)
                    if result.protocol_version >= ProtocolVersion::V_2025_11_25 =>
                {
                    Self::Sent
                }
                _ => Self::LeftOut,
            },
            _ => Self::LeftOut,
        }
    }
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoomError {
    #[error("there are {MOST} sessions, and no more are begun until one ends")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Rooms {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        Self { local, known: Mutex::default(), shared }
    }

    /// Notes that a session is used, and returns how its streams begin.
    fn uses(&self, id: &SessionId) -> Priming {
        let now = Instant::now();
        let mut known = self.known();
        let unknown = Known { last_used: now, priming: Priming::LeftOut };
        let known = known.entry(id.clone()).or_insert(unknown);
        known.last_used = now;
        known.priming
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the events of a stream as the client gets them.
    fn events(
        &self,
        priming: Priming,
        events: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        events.filter_map(move |mut event| {
            if let Some(sent) = &event.message
                && let Some(complete) = shared.listing.with_all_fields(sent)
            {
                event.message = Some(Arc::new(complete));
            }
            let is_understood = priming == Priming::Sent || event.message.is_some();
            future::ready(is_understood.then_some(event))
        })
    }

    /// Makes room for one more session. Clients often leave without a word.
    async fn make_room(&self) -> Result<(), RoomError> {
        let open: HashSet<_> = self.local.sessions.read().await.keys().cloned().collect();
        let quiet = {
            let mut known = self.known();
            known.retain(|id, _| open.contains(id));
            if open.len() < MOST {
                return Ok(());
            }
            quietest(&known, Instant::now()).ok_or(RoomError::Full)?
        };
        self.close_session(&quiet).await
    }

    /// Ends every session.
    pub(super) async fn close_all(&self) {
        let ids: Vec<_> = self.local.sessions.read().await.keys().cloned().collect();
        for id in ids {
            if let Err(error) = self.local.close_session(&id).await {
                tracing::debug!(%error, "a session could not be closed");
            }
        }
    }
}

impl SessionManager for Rooms {
    type Error = RoomError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), RoomError> {
        self.make_room().await?;
        let (id, transport) = self.local.create_session().await?;
        self.uses(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, RoomError> {
        let answer = self.local.initialize_session(id, message).await?;
        let known = Known { last_used: Instant::now(), priming: Priming::after(&answer) };
        self.known().insert(id.clone(), known);
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, RoomError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), RoomError> {
        self.known().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        let priming = self.uses(id);
        Ok(self.events(priming, self.local.create_stream(id, message).await?))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), RoomError> {
        self.uses(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        let priming = self.uses(id);
        let events = self.local.create_standalone_stream(id).await?;
        // The session manager leaves the first event of this stream to its caller.
        let first = ServerSseMessage::priming("0", SessionConfig::DEFAULT_SSE_RETRY);
        Ok(self.events(priming, stream::iter([first]).chain(events)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        let priming = self.uses(id);
        Ok(self.events(priming, self.local.resume(id, last_event_id).await?))
    }
}

/// The session that was not used for the longest time, if it is quiet.
fn quietest(known: &HashMap<SessionId, Known>, now: Instant) -> Option<SessionId> {
    let quiet = known.iter().filter(|(_, known)| now.duration_since(known.last_used) >= QUIET);
    quiet.min_by_key(|(_, known)| known.last_used).map(|(id, _)| id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_quietest_makes_room_and_only_when_it_is_quiet() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let used = |last_used| Known { last_used, priming: Priming::Sent };
        let known = HashMap::from([
            ("new".into(), used(after(90))),
            ("old".into(), used(begun)),
            ("mid".into(), used(after(60))),
        ]);
        assert_eq!(quietest(&known, after(299)), None);
        assert_eq!(quietest(&known, begun + QUIET).as_deref(), Some("old"));
        assert_eq!(quietest(&known, begun + QUIET * 2).as_deref(), Some("old"));
    }
}
