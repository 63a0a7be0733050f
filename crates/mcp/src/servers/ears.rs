//! What a server says by itself, and asks for outside of any call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use super::explicit;
use super::roots;
use super::settings::Entry;
use super::shared::Shared;
use crate::client::{Abilities, Asked, Host, News, Refused};
use crate::server::{Caller, OfferChange};

/// So many lines for a log wait at most to be told; more are lost.
const LOG_LINES: usize = 64;

/// Hears what a server says by itself.
#[derive(Debug)]
pub(super) struct Ears {
    server: String,
    shared: Arc<Shared>,
    tools_changed: AtomicBool,
    changed: Notify,
    open: Mutex<HashMap<u64, Caller>>,
    next: AtomicU64,
    log: Mutex<Option<mpsc::Sender<(Caller, String, Value)>>>,
}

impl Ears {
    pub(super) fn new(entry: &Entry, shared: Arc<Shared>) -> Self {
        Self {
            server: entry.name.to_string(),
            shared,
            tools_changed: AtomicBool::new(false),
            changed: Notify::new(),
            open: Mutex::default(),
            next: AtomicU64::new(0),
            log: Mutex::default(),
        }
    }

    /// Waits until the tools are no longer those that were listed.
    pub(super) async fn tools_changed(&self) {
        while !self.tools_changed.swap(false, Ordering::Relaxed) {
            self.changed.notified().await;
        }
    }

    /// Notes that a client waits for a call of this server, until the guard is dropped.
    pub(super) fn opened(self: &Arc<Self>, caller: Caller) -> Opened {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.callers().insert(id, caller);
        Opened { ears: Arc::clone(self), id }
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<u64, Caller>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a line of a log on to the client whose call goes on, if that is one alone: what is
    /// said about one client's call is not another's business.
    fn log(&self, level: String, data: Value) {
        let caller = {
            let open = self.callers();
            let mut callers = open.values();
            match (callers.next(), callers.next()) {
                (Some(caller), None) => caller.clone(),
                _ => return,
            }
        };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = log.get_or_insert_with(|| {
            let (sender, mut lines) = mpsc::channel::<(Caller, String, Value)>(LOG_LINES);
            tokio::spawn(async move {
                while let Some((caller, level, data)) = lines.recv().await {
                    caller.log_as(&level, data).await;
                }
            });
            sender
        });
        // Who is too slow misses some.
        sender.try_send((caller, level, data)).ok();
    }
}

/// Notes that a client waits for a call.
#[derive(Debug)]
pub(super) struct Opened {
    ears: Arc<Ears>,
    id: u64,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.ears.callers().remove(&self.id);
    }
}

#[async_trait]
impl Host for Ears {
    fn can(&self) -> Abilities {
        self.shared.abilities
    }

    fn heard(&self, news: News) {
        let change = match news {
            News::ToolsChanged => {
                self.tools_changed.store(true, Ordering::Relaxed);
                self.changed.notify_one();
                return;
            }
            News::Log { level, data, .. } => return self.log(level, data),
            News::ResourcesChanged => OfferChange::Resources,
            News::PromptsChanged => OfferChange::Prompts,
            News::ResourceUpdated(uri) => {
                let said_whose = explicit::of_server(&self.server, &uri);
                self.shared.changes.send(OfferChange::Resource(said_whose)).ok();
                OfferChange::Resource(uri)
            }
        };
        // Nobody listening is no failure.
        self.shared.changes.send(change).ok();
    }

    async fn asked(&self, asked: Asked) -> Result<Value, Refused> {
        match asked {
            Asked::Roots => Ok(json!({ "roots": roots::shown(&self.shared.roots) })),
            _ => Err(Refused::new(format!(
                "`{}` asked for something while no call of it goes on, or several; nobody can tell whom to ask",
                self.server
            ))),
        }
    }
}
