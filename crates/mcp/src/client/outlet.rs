//! The way to a server.

use async_trait::async_trait;
use serde_json::Value;

use super::error::ClientError;

/// The way to a server.
#[async_trait]
pub(super) trait Outlet: std::fmt::Debug + Send + Sync {
    /// Sends a message; it is on its way when this returns.
    async fn send(&self, message: Value) -> Result<(), ClientError>;

    /// Nobody waits for the answer to a request any more.
    fn abandon(&self, id: u64);

    /// Revision and way of working were agreed on.
    fn agreed(&self, version: &str);

    /// The tools are known, as they are listed. Takes out those that cannot be called.
    fn keep_callable(&self, tools: &mut Vec<Value>);

    /// Ends the connection in good order.
    async fn close(&self);
}
