//! All servers behind a gate.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolgate_core::gate::Gate;
use toolgate_core::keeping::Pins;
use toolgate_core::registry::Registry;

use super::find_tools::Finder;
use super::life;
use super::listed::Quarantined;
use super::name::ServerName;
use super::settings::{Entry, ServersSettings};
use super::shared::Shared;
use super::upstream::{State, Upstream};
use crate::client::Era;

/// Other servers behind the gate. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Servers {
    pub(super) shared: Arc<Shared>,
    pub(super) all: Arc<[Arc<Upstream>]>,
    /// What servers ask for goes through it as long as somebody has this.
    gate: Arc<OnceLock<Arc<Gate>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// How a server is.
#[derive(Debug, Clone)]
pub struct Status {
    /// What it goes by here.
    pub name: ServerName,
    /// What became of it.
    pub health: Health,
    /// How many tools it offers.
    pub tools: usize,
    /// The tools that are not offered, and why.
    pub quarantined: Arc<Vec<Quarantined>>,
}

/// What became of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It is being started.
    Starting,
    /// It can be used.
    Ready {
        /// The era of the protocol it speaks.
        era: Era,
        /// The revision of the protocol.
        revision: String,
        /// What it calls itself.
        calls_itself: String,
    },
    /// It is not there, for this reason.
    Down(String),
}

impl Servers {
    /// Servers whose tools will be in a registry. Nothing is started yet.
    pub fn new(
        entries: Vec<Entry>,
        registry: Arc<Registry>,
        pins: Option<Arc<dyn Pins>>,
        settings: ServersSettings,
    ) -> Self {
        let shared = Arc::new(Shared::new(registry, pins, settings));
        let all =
            entries.into_iter().map(|entry| Arc::new(Upstream::new(entry, Arc::clone(&shared))));
        Self {
            all: all.collect(),
            shared,
            gate: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Puts what servers ask for, and are asked for besides their tools, through this gate.
    pub fn behind(&self, gate: Gate) {
        self.shared.questions.through(self.gate.get_or_init(|| Arc::new(gate)));
    }

    /// Finds tools where there are many.
    pub fn finder(&self) -> Finder {
        Finder::new(Arc::clone(&self.shared))
    }

    /// Starts those that are wanted, beside each other, in the runtime that this is called in.
    pub fn start(&self, wanted: impl Fn(&str) -> bool) {
        for upstream in self.all.iter() {
            if !wanted(upstream.entry().name.as_str()) || !upstream.begins() {
                continue;
            }
            self.tasks.spawn(life::live(Arc::clone(upstream), self.stop.clone()));
        }
    }

    /// Waits until those that were started are there, or cannot be, but no longer than this.
    pub async fn settled(&self, limit: Duration) {
        let all = join_all(self.all.iter().map(|upstream| upstream.settled()));
        if tokio::time::timeout(limit, all).await.is_err() {
            tracing::info!("some servers are still starting");
        }
    }

    /// How they are.
    pub fn status(&self) -> Vec<Status> {
        let status = self.all.iter().map(|upstream| Status {
            name: upstream.entry().name.clone(),
            health: match upstream.state() {
                State::Idle | State::Starting => Health::Starting,
                State::Ready(client) => {
                    let about = client.about();
                    Health::Ready {
                        era: about.era,
                        revision: about.version.clone(),
                        calls_itself: format!("{} {}", about.name, about.server_version),
                    }
                }
                State::Down(why) => Health::Down(why.to_string()),
                State::Stopped => Health::Down("it was stopped".to_owned()),
            },
            tools: upstream.tools(),
            quarantined: upstream.quarantined(),
        });
        status.collect()
    }

    /// Stops all of them, and waits until they are gone.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
