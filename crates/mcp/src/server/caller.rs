//! Who calls, and in which era of the protocol.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::sessions::Principal;

/// Prefixes of the names of clients that do not show a model the text of a result with `isError`.
/// They put the whole result into a sentence, as JSON, so that the output of a failed command
/// would arrive full of `\"` and `\n`.
const QUOTING: [&str; 2] = ["gemini-cli-mcp-client", "qwen-cli-mcp-client"];

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake, and requests in both directions.
    Legacy,
    /// Every request stands for itself.
    Modern,
}

/// The era of a request.
pub(super) fn era(context: &RequestContext<RoleServer>) -> Era {
    match context.meta.protocol_version() {
        Some(version) if !version.has_initialize() => Era::Modern,
        _ => Era::Legacy,
    }
}

/// Who made a request: whom the guard of the address admitted, or who holds the streams.
pub(super) fn principal(context: &RequestContext<RoleServer>) -> Principal {
    let parts = context.extensions.get::<hyper::http::request::Parts>();
    let admitted = parts.and_then(|parts| parts.extensions.get::<Principal>());
    admitted.cloned().unwrap_or_else(|| Principal("the standard streams".to_owned()))
}

/// Returns `true` if the client shows a model the text of a result only without `isError`.
pub(super) fn quotes_errors(context: &RequestContext<RoleServer>) -> bool {
    let client = context.client_info();
    client.is_some_and(|client| QUOTING.iter().any(|name| client.name.starts_with(name)))
}
