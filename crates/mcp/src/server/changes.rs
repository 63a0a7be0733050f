//! Telling clients that the tools are others now.

use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use toolgate_core::registry::RegistryChange;

/// Changes that follow each other closely are told once.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until tools came or went; `false` when none ever will.
pub(super) async fn next(changes: &mut Receiver<RegistryChange>) -> bool {
    match changes.recv().await {
        Ok(_) | Err(RecvError::Lagged(_)) => {}
        Err(RecvError::Closed) => return false,
    }
    tokio::time::sleep(PAUSE).await;
    *changes = changes.resubscribe();
    true
}
