//! Who calls, and in which era of the protocol.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::sessions::Principal;

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

/// Who made a request.
pub(super) fn principal(_context: &RequestContext<RoleServer>) -> Principal {
    Principal("standard streams".to_owned())
}
