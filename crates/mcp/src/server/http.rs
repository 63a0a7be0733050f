//! Connections over HTTP: the streamable transport, on one path.

mod body;
mod guard;
mod rooms;
mod settings;
mod token;

pub use settings::HttpSettings;
pub use token::{InvalidToken, Token};

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::guard::Guard;
use self::rooms::Rooms;
use super::connection::Connection;
use super::load::{FULL, Load};
use super::shared::Shared;

/// Where the tools are.
pub const PATH: &str = "/mcp";
/// How many connections are open at once.
const CONNECTIONS: usize = 256;
/// How long a request may take to say what it is.
const HEAD: Duration = Duration::from_secs(10);
/// How long a request may take to come in.
const BODY: Duration = Duration::from_secs(30);
/// A client that does not take what it is told for so long is left.
const UNREAD: Duration = Duration::from_mins(1);
/// A longer request is refused.
const LONGEST: usize = 16 * 1024 * 1024;
/// How long what goes on may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Why nothing is served over HTTP.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ServeHttpError {
    #[error("`{address}` can be reached from other machines, so that a token is needed")]
    TokenNeeded { address: SocketAddr },
    #[error("the address that is listened on is not known")]
    Address { source: io::Error },
}

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<Connection, Rooms>;

/// Serves connections over HTTP until the token is cancelled.
pub(super) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    settings: HttpSettings,
    stop: &CancellationToken,
) -> Result<(), ServeHttpError> {
    let address = listener.local_addr().map_err(|source| ServeHttpError::Address { source })?;
    if settings.token.is_none() && !address.ip().is_loopback() {
        return Err(ServeHttpError::TokenNeeded { address });
    }
    let rooms = Arc::new(Rooms::new(Arc::clone(&shared)));
    let connections = Arc::clone(&shared);
    let service = StreamableHttpService::new(
        move || Ok(Connection::new(Arc::clone(&connections))),
        Arc::clone(&rooms),
        // Hosts and origins are looked at before.
        StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_cancellation_token(stop.clone())
            .with_json_response(true)
            // Only `Rooms` knows which clients understand the first event of a stream.
            .with_sse_retry(None)
            .with_max_request_body_bytes(LONGEST),
    );
    let guard = Guard::new(address, settings);
    let front = Arc::new(Front { guard, load: Arc::clone(&shared.load), service });
    front.accept(listener, stop).await;
    rooms.close_all().await;
    shared.parked.end().await;
    Ok(())
}

/// What every connection meets.
struct Front {
    guard: Guard,
    load: Arc<Load>,
    service: Service,
}

impl Front {
    async fn accept(self: Arc<Self>, listener: TcpListener, stop: &CancellationToken) {
        let connections = TaskTracker::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        while let Some(place) = stop.run_until_cancelled(Arc::clone(&places).acquire_owned()).await
        {
            let Some(accepted) = stop.run_until_cancelled(listener.accept()).await else { break };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Too many open files, say; it may be better in a moment.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (front, stop) = (Arc::clone(&self), stop.clone());
            connections.spawn(async move {
                let _place = place;
                front.serve(stream, &stop).await;
            });
        }
        connections.close();
        if tokio::time::timeout(GRACE, connections.wait()).await.is_err() {
            tracing::warn!("some connections did not end in time");
        }
    }

    async fn serve(&self, stream: TcpStream, stop: &CancellationToken) {
        if let Err(error) = tune(&stream) {
            tracing::debug!(%error, "a connection could not be tuned");
        }
        let answering = service_fn(async |request| Ok::<_, Infallible>(self.answer(request).await));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), answering);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return guard::refusal(StatusCode::NOT_FOUND, "the tools are at /mcp");
        }
        match self.admitted(request).await {
            Ok(request) => self.service.handle(request).await,
            Err(refusal) => *refusal,
        }
    }

    /// A request that may come in, with all of its body.
    async fn admitted(
        &self,
        mut request: Request<Incoming>,
    ) -> Result<Request<Full<Bytes>>, Box<Answer>> {
        let refuse = |status, why| Box::new(guard::refusal(status, why));
        let principal = self.guard.admit(&request)?;
        let Some(room) = self.load.take(0) else {
            return Err(refuse(StatusCode::SERVICE_UNAVAILABLE, FULL));
        };
        // Held until the work is done.
        request.extensions_mut().insert(principal);
        request.extensions_mut().insert(Arc::clone(&room));
        let (parts, body) = request.into_parts();
        match body::read(body, LONGEST, BODY, &room).await {
            Ok(bytes) => Ok(Request::from_parts(parts, Full::new(bytes))),
            Err(error) => Err(refuse(error.status(), error.words())),
        }
    }
}

/// Answers are small and waited for, and a client that does not read them is left in the end.
fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let unread = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
    Ok(set_tcp_user_timeout(stream, unread)?)
}

#[cfg(test)]
mod tests {
    use rustix::net::sockopt::tcp_user_timeout;

    use super::*;

    #[tokio::test]
    async fn a_connection_waits_for_no_small_packets_and_for_no_reader_for_ever() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let stream = accepted.unwrap().0;
        tune(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        assert_eq!(tcp_user_timeout(&stream).unwrap(), 60_000);
    }
}
