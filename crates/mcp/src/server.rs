//! The tools behind a gate, for any MCP client.
//!
//! [`Server`] takes connections: [`Server::serve_standard_streams`] one on the standard streams,
//! [`Server::serve_http`] many over HTTP. Each is a session, and each call of one goes through the gate. Start reading at `connection`,
//! which answers what a client asks, then `call`, which takes a call through the gate and back.

mod approver;
mod call;
mod caller;
mod callers;
mod changes;
mod connection;
mod folders;
mod http;
mod link;
mod listing;
mod load;
mod log;
mod offering;
mod offers;
mod ongoing;
mod parked;
mod progress;
mod question;
mod quick;
mod result;
mod sessions;
mod settings;
mod shared;
mod stdio;
mod turns;

pub use approver::{Elicitation, Trust};
pub use callers::{AskError, Caller, Callers};
pub use http::{HttpSettings, InvalidToken, PATH, ServeHttpError, Token};
pub use offers::{Kinds, OfferChange, Offers, no_resource};
pub use sessions::Sessions;
pub use settings::{Eras, Patience, ServerSettings};

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_core::gate::Gate;

use self::connection::Connection;
use self::shared::Shared;
use self::stdio::Lines;

/// The tools behind a gate, for any MCP client. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// Why a connection broke.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ServeError {
    #[error("the connection could not begin")]
    Begin { source: Box<ServerInitializeError> },
    #[error("the connection broke")]
    Broke { source: tokio::task::JoinError },
}

impl Server {
    /// Offers the tools behind a gate. The gate asks with the same `elicitation`, or clients are
    /// never asked.
    pub fn new(
        gate: Gate,
        sessions: Sessions,
        elicitation: &Elicitation,
        settings: ServerSettings,
    ) -> Self {
        Self { shared: Arc::new(Shared::new(gate, sessions, elicitation, settings)) }
    }

    /// Serves one connection on standard input and output until the client ends it, or the token
    /// is cancelled. Nothing else may write to standard output meanwhile.
    ///
    /// # Errors
    ///
    /// When the connection breaks; that a client leaves is none.
    pub async fn serve_standard_streams(&self, stop: &CancellationToken) -> Result<(), ServeError> {
        self.serve(Lines::standard(Arc::clone(&self.shared)), stop).await
    }

    /// The same on any two streams.
    ///
    /// # Errors
    ///
    /// When the connection breaks; that a client leaves is none.
    pub async fn serve_streams(
        &self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        stop: &CancellationToken,
    ) -> Result<(), ServeError> {
        let shared = Arc::clone(&self.shared);
        self.serve(Lines::new(Box::new(reader), Box::new(writer), shared), stop).await
    }

    /// Serves connections over HTTP on [`PATH`] until the token is cancelled.
    ///
    /// # Errors
    ///
    /// When other machines could connect and no token is asked for.
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        settings: HttpSettings,
        stop: &CancellationToken,
    ) -> Result<(), ServeHttpError> {
        http::serve(Arc::clone(&self.shared), listener, settings, stop).await
    }

    async fn serve(&self, lines: Lines, stop: &CancellationToken) -> Result<(), ServeError> {
        let connection = Connection::new(Arc::clone(&self.shared));
        let running = match Box::pin(connection.serve_with_ct(lines, stop.clone())).await {
            Ok(running) => running,
            // A client may look, and leave.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(ServeError::Begin { source: Box::new(error) }),
        };
        let ended = running.waiting().await;
        self.shared.parked.end().await;
        match ended {
            Ok(QuitReason::JoinError(source)) | Err(source) => Err(ServeError::Broke { source }),
            Ok(_) => Ok(()),
        }
    }
}
