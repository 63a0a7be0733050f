//! A spawner that keeps commands from changing programs which the workspace's settings start.

use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use crate::servers;
use crate::trust::ProgramFile;

/// Starts programs through another spawner. Confined ones cannot change some files.
#[derive(Debug)]
pub(crate) struct Guarding {
    inner: Arc<dyn Spawner>,
    files: Vec<ProgramFile>,
}

impl Guarding {
    /// Returns a spawner that keeps these files as they are.
    pub(crate) fn over(inner: &Arc<dyn Spawner>, files: Vec<ProgramFile>) -> Arc<dyn Spawner> {
        if files.is_empty() {
            return Arc::clone(inner);
        }
        Arc::new(Self { inner: Arc::clone(inner), files })
    }
}

#[async_trait]
impl Spawner for Guarding {
    fn level(&self) -> Level {
        self.inner.level()
    }

    async fn spawn(&self, mut order: Order) -> Result<Spawned, SpawnError> {
        if order.sandbox != Sandbox::Full {
            let guarded = servers::guarded(self.inner.level(), self.files.iter());
            order.beyond.guarded.extend(guarded);
        }
        self.inner.spawn(order).await
    }
}
