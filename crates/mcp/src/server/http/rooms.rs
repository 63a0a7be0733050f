//! The sessions of clients that shake hands over HTTP.

use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};

/// How many sessions there are at once.
const MOST: usize = 64;
/// How long a session lasts that is not used.
const IDLE: Duration = Duration::from_hours(1);

/// The sessions of clients that shake hands over HTTP: a number of them, for some time.
#[derive(Debug)]
pub(super) struct Rooms {
    local: LocalSessionManager,
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
        Self { local }
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
        if self.local.sessions.read().await.len() >= MOST {
            return Err(RoomError::Full);
        }
        Ok(self.local.create_session().await?)
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
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), RoomError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, RoomError> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
