//! The sessions of clients that shake hands over HTTP.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};

use super::super::listing;

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
    /// When each was last used.
    used: Mutex<HashMap<SessionId, Instant>>,
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
    pub(super) fn new() -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        Self { local, used: Mutex::default() }
    }

    /// Notes that a session is used.
    fn uses(&self, id: &SessionId) {
        self.used().insert(id.clone(), Instant::now());
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Instant>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more session. Clients often leave without a word.
    async fn make_room(&self) -> Result<(), RoomError> {
        let open: HashSet<_> = self.local.sessions.read().await.keys().cloned().collect();
        let quiet = {
            let mut used = self.used();
            used.retain(|id, _| open.contains(id));
            if open.len() < MOST {
                return Ok(());
            }
            quietest(&used, Instant::now()).ok_or(RoomError::Full)?
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
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, RoomError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), RoomError> {
        self.used().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        self.uses(id);
        Ok(self.local.create_stream(id, listing::in_plain_json(message)).await?)
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
        self.uses(id);
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        self.uses(id);
        Ok(self.local.resume(id, last_event_id).await?)
    }
}

/// The session that was not used for the longest time, if it is quiet.
fn quietest(used: &HashMap<SessionId, Instant>, now: Instant) -> Option<SessionId> {
    let quiet = used.iter().filter(|(_, last)| now.duration_since(**last) >= QUIET);
    quiet.min_by_key(|(_, last)| **last).map(|(id, _)| id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_quietest_makes_room_and_only_when_it_is_quiet() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let used = HashMap::from([
            ("new".into(), after(90)),
            ("old".into(), begun),
            ("mid".into(), after(60)),
        ]);
        assert_eq!(quietest(&used, after(299)), None);
        assert_eq!(quietest(&used, begun + QUIET).as_deref(), Some("old"));
        assert_eq!(quietest(&used, begun + QUIET * 2).as_deref(), Some("old"));
    }
}
