//! One server behind the gate, as it is now.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::keeping::ServerKey;

use super::ears::Ears;
use super::index::Index;
use super::listed::Quarantined;
use super::pinned::Pinned;
use super::settings::Entry;
use super::shared::Shared;
use crate::client::{Client, Era};

/// One server behind the gate.
#[derive(Debug)]
pub(crate) struct Upstream {
    entry: Entry,
    shared: Arc<Shared>,
    state: watch::Sender<State>,
    /// What the server says about its tools now.
    said: ArcSwap<HashMap<String, Arc<str>>>,
    quarantined: ArcSwap<Vec<Quarantined>>,
    pinned: Pinned,
    ears: Arc<Ears>,
    /// Somebody needs it now.
    wanted: Notify,
}

/// How a server is.
#[derive(Debug, Clone)]
pub(crate) enum State {
    /// Nobody needed it yet.
    Idle,
    /// It is being started.
    Starting,
    /// It can be used.
    Ready(Client),
    /// It is not there; it is started again later, or when somebody needs it.
    Down(Arc<str>),
    /// It is no longer wanted.
    Stopped,
}

impl Upstream {
    pub(super) fn new(entry: Entry, shared: Arc<Shared>) -> Self {
        let key = ServerKey { name: entry.name.to_string(), way: entry.way.clone() };
        let pinned = Pinned::new(key, shared.pins.clone());
        let ears = Arc::new(Ears::new(&entry, Arc::clone(&shared)));
        Self {
            entry,
            shared,
            state: watch::Sender::new(State::Idle),
            said: ArcSwap::default(),
            quarantined: ArcSwap::default(),
            pinned,
            ears,
            wanted: Notify::new(),
        }
    }

    /// How it is used.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What it said when its tools were first used.
    pub(super) fn pinned(&self) -> &Pinned {
        &self.pinned
    }

    /// Which tools are told of.
    pub(super) fn index(&self) -> &Index {
        &self.shared.index
    }

    /// Who hears what it says by itself.
    pub(super) fn ears(&self) -> &Arc<Ears> {
        &self.ears
    }

    /// What it shares with the others.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The tools it has that are not offered, and why.
    pub(crate) fn quarantined(&self) -> Arc<Vec<Quarantined>> {
        self.quarantined.load_full()
    }

    /// How it is now.
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// How many tools it offers.
    pub(crate) fn tools(&self) -> usize {
        self.said.load().len()
    }

    /// The connection, if there is one now.
    pub(crate) fn client(&self) -> Option<Client> {
        match &*self.state.borrow() {
            State::Ready(client) => Some(client.clone()),
            _ => None,
        }
    }

    /// Begins to live, unless it did before.
    pub(super) fn begins(&self) -> bool {
        self.state.send_if_modified(|state| {
            let idle = matches!(state, State::Idle);
            if idle {
                *state = State::Starting;
            }
            idle
        })
    }

    /// Why it is not there, if it is not.
    pub(super) fn why_not(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Down(why) => {
                Some(format!("the server `{}` is not there: {why}", self.entry.name))
            }
            _ => None,
        }
    }

    /// It is so now; how it was before.
    pub(super) fn becomes(&self, state: State) -> State {
        self.state.send_replace(state)
    }

    /// Waits until somebody needs it.
    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// This is what it says about its tools now, and these are not offered.
    pub(super) fn says(&self, said: HashMap<String, Arc<str>>, quarantined: Vec<Quarantined>) {
        self.said.store(Arc::new(said));
        self.quarantined.store(Arc::new(quarantined));
    }

    /// Whether it still says this about a tool.
    pub(super) fn still_says(&self, tool: &str, said: &Arc<str>) -> bool {
        self.said.load().get(tool) == Some(said)
    }

    /// Waits until it was started once, whatever came of it.
    pub(crate) async fn settled(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as this.
        state.wait_for(|state| !matches!(state, State::Starting)).await.ok();
    }

    /// The connection, as soon as there is one. A server that is down is started at once.
    pub(crate) async fn ready(&self, stop: &CancellationToken) -> Result<Client, ToolError> {
        if let Some(client) = self.client() {
            return Ok(client);
        }
        let ready = async {
            let mut state = self.state.subscribe();
            let mut retried = false;
            loop {
                let now = state.borrow_and_update().clone();
                match now {
                    State::Ready(client) => return Ok(client),
                    State::Down(why) if retried => return Err(why.to_string()),
                    State::Down(_) => {
                        retried = true;
                        self.wanted.notify_one();
                    }
                    State::Stopped => return Err("it was stopped".to_owned()),
                    State::Idle => return Err("it was not started".to_owned()),
                    State::Starting => retried = true,
                }
                if state.changed().await.is_err() {
                    return Err("it was stopped".to_owned());
                }
            }
        };
        let name = &self.entry.name;
        match stop.run_until_cancelled(ready).await {
            None => Err(ToolError::cancelled()),
            Some(found) => found.map_err(|why| {
                let message = format!("the server `{name}` is not there: {why}");
                ToolError::new(ErrorKind::McpError, message)
            }),
        }
    }

    /// The era the server spoke last time.
    pub(super) async fn known_era(&self) -> Option<Era> {
        let (pins, key) = (self.shared.pins.clone()?, self.key());
        let known = tokio::task::spawn_blocking(move || pins.learned(&key)).await;
        match known.ok()?.ok()??.as_str() {
            "legacy" => Some(Era::Legacy),
            "modern" => Some(Era::Modern),
            _ => None,
        }
    }

    /// Keeps the era the server speaks.
    pub(super) async fn learn(&self, era: Era) {
        let (Some(pins), key) = (self.shared.pins.clone(), self.key()) else { return };
        let word = match era {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        let learned = tokio::task::spawn_blocking(move || pins.learn(&key, word)).await;
        if let Ok(Err(error)) = learned {
            // Then it is found out again next time.
            tracing::debug!(%error, "what was learned could not be kept");
        }
    }

    fn key(&self) -> ServerKey {
        ServerKey { name: self.entry.name.to_string(), way: self.entry.way.clone() }
    }
}
