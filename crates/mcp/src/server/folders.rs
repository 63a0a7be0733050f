//! The folders a client names.
#![expect(deprecated, reason = "clients with a handshake name folders")]

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// A client that takes longer to name them has none.
const PATIENCE: Duration = Duration::from_secs(2);
/// More are nobody's.
const MOST: usize = 64;

/// The folders a client with a handshake names, if it says that it has any to name.
pub(super) async fn named_by(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
    let can = context.client_capabilities().is_some_and(|can| can.roots.is_some());
    if !can {
        return Vec::new();
    }
    let asked = tokio::time::timeout(PATIENCE, context.peer.list_roots()).await;
    let Ok(Ok(listed)) = asked else {
        tracing::info!("a client did not name its folders");
        return Vec::new();
    };
    let folders = listed.roots.iter().filter_map(|root| {
        let address = url::Url::parse(&root.uri).ok()?;
        address.to_file_path().ok()
    });
    folders.take(MOST).collect()
}
