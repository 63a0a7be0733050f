//! How a connection begins, in both eras.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::about::{About, Era};
use super::error::{ClientError, ConnectError, KNOWN, MODERN};
use super::exchange::Exchange;
use super::inbox::Purpose;
use super::peer::{Peer, client_info};

/// How long a server may be silent about its era before it is greeted in the old manner, too.
/// Some never answer what they do not know.
const SILENT: Duration = Duration::from_secs(3);
/// Errors only servers without a handshake know: of the headers, of what a client must offer.
const MODERN_ERRORS: [i64; 2] = [-32020, -32021];
/// The error for a revision that is not known.
const UNSUPPORTED: i64 = -32022;

/// Why a connection did not begin.
#[derive(Debug)]
pub(super) enum Failure {
    /// The exchange failed.
    Exchange(ClientError),
    /// The server speaks another revision.
    Version(String),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Exchange(error)
    }
}

impl Failure {
    /// The same for whoever wanted the connection.
    pub(super) fn named(self, server: &str) -> ConnectError {
        let server = server.to_owned();
        match self {
            Self::Version(version) => ConnectError::Version { server, version },
            Self::Exchange(ClientError::NeedsLogin { .. }) => ConnectError::NeedsLogin { server },
            Self::Exchange(source) => ConnectError::Begin { server, source: Box::new(source) },
        }
    }
}

/// Begins in the era the server speaks. The one it spoke last is tried first.
pub(super) async fn begin(
    peer: &Peer,
    known: Option<Era>,
    patience: Duration,
) -> Result<About, Failure> {
    let exchange = Exchange::new(patience);
    if known == Some(Era::Legacy) {
        let error = match initialize(peer, &exchange).await {
            Err(Failure::Exchange(
                error @ (ClientError::Server { .. } | ClientError::Http { .. }),
            )) => error,
            other => return other,
        };
        // It may have left the old manner behind.
        return match discover(peer, &exchange).await {
            Ok(Some(about)) => Ok(about),
            _ => Err(Failure::Exchange(error)),
        };
    }
    let discovery = discover(peer, &exchange);
    tokio::pin!(discovery);
    let found = tokio::select! {
        found = &mut discovery => Some(found?),
        () = sleep(SILENT) => None,
    };
    match found {
        Some(Some(about)) => return Ok(about),
        Some(None) => return initialize(peer, &exchange).await,
        None => {}
    }
    let greeting = initialize(peer, &exchange);
    tokio::pin!(greeting);
    tokio::select! {
        found = &mut discovery => match found {
            Ok(Some(about)) => Ok(about),
            Ok(None) | Err(_) => greeting.await,
        },
        greeted = &mut greeting => match greeted {
            Ok(about) => Ok(about),
            // A server that was slow, and does not know the old manner.
            Err(error) => match discovery.await {
                Ok(Some(about)) => Ok(about),
                _ => Err(error),
            },
        },
    }
}

/// Asks a server without a handshake what it is; nothing when it has one.
async fn discover(peer: &Peer, exchange: &Exchange) -> Result<Option<About>, Failure> {
    let mut is_last = false;
    loop {
        let kind = (Era::Modern, Purpose::Upkeep);
        match peer.request("server/discover", Map::new(), exchange, kind).await {
            Ok(result) => {
                let versions = strings(result.get("supportedVersions"));
                if versions.iter().any(|version| version == MODERN) {
                    peer.outlet.agreed(MODERN);
                    return Ok(Some(About::discovered(&result)));
                }
                return match versions.first() {
                    Some(other) if !versions.iter().any(|version| is_known(version)) => {
                        Err(Failure::Version(other.clone()))
                    }
                    _ => Ok(None),
                };
            }
            Err(ClientError::Server { code: UNSUPPORTED, data, .. }) => {
                let supported = data.as_ref().and_then(|data| data.get("supported"));
                if is_last || !strings(supported).iter().any(|version| version == MODERN) {
                    return Ok(None);
                }
                is_last = true;
            }
            Err(error @ ClientError::Server { code, .. }) if MODERN_ERRORS.contains(&code) => {
                return Err(error.into());
            }
            Err(
                ClientError::Server { .. }
                | ClientError::Http { .. }
                | ClientError::Malformed { .. },
            ) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Greets a server in the manner of up to 2025-11-25.
async fn initialize(peer: &Peer, exchange: &Exchange) -> Result<About, Failure> {
    let [newest, ..] = KNOWN;
    let result = match greet(peer, exchange, newest).await {
        Err(ClientError::Server { data: Some(data), .. })
            if strings(data.get("supported")).iter().any(|version| is_known(version)) =>
        {
            let supported = strings(data.get("supported"));
            let best = KNOWN.into_iter().find(|known| supported.iter().any(|one| one == known));
            greet(peer, exchange, best.unwrap_or(newest)).await?
        }
        other => other?,
    };
    let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    if !is_known(version) {
        return Err(Failure::Version(toolgate_core::visible::line(version).into_owned()));
    }
    peer.outlet.agreed(version);
    peer.notify("notifications/initialized", None).await?;
    Ok(About::greeted(version, &result))
}

async fn greet(peer: &Peer, exchange: &Exchange, version: &str) -> Result<Value, ClientError> {
    let mut params = Map::new();
    params.insert("protocolVersion".to_owned(), json!(version));
    params.insert("capabilities".to_owned(), peer.inbox.can.said());
    params.insert("clientInfo".to_owned(), client_info());
    peer.request("initialize", params, exchange, (Era::Legacy, Purpose::Upkeep)).await
}

fn is_known(version: &str) -> bool {
    KNOWN.contains(&version)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
