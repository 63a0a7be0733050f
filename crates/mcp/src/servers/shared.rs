//! What all servers behind a gate share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use toolgate_core::id::ToolName;
use toolgate_core::keeping::Pins;
use toolgate_core::registry::{NameTaken, Registry};
use toolgate_core::tool::Tool;

use super::index::Index;
use super::listed::Naming;
use super::questions::Questions;
use super::settings::ServersSettings;
use crate::client::{Abilities, About};
use crate::server::OfferChange;

/// What all servers behind a gate share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) registry: Arc<Registry>,
    pub(super) pins: Option<Arc<dyn Pins>>,
    pub(super) naming: Naming,
    pub(super) index: Index,
    /// The folders that servers are told of.
    pub(super) roots: Vec<PathBuf>,
    /// What servers may ask for.
    pub(super) abilities: Abilities,
    pub(super) questions: Questions,
    pub(super) changes: broadcast::Sender<OfferChange>,
    /// The tools of each server.
    offered: Mutex<HashMap<String, Vec<ToolName>>>,
}

impl Shared {
    pub(super) fn new(
        registry: Arc<Registry>,
        pins: Option<Arc<dyn Pins>>,
        settings: ServersSettings,
    ) -> Self {
        let ServersSettings { naming, most_listed, roots, abilities } = settings;
        Self {
            registry,
            pins,
            naming,
            index: Index::new(most_listed),
            roots,
            abilities,
            questions: Questions::default(),
            changes: broadcast::Sender::new(64),
            offered: Mutex::default(),
        }
    }

    /// Offers these tools of a server in place of those from before; what cannot be offered is
    /// given back.
    pub(super) fn replace(
        &self,
        server: &str,
        tools: &[Arc<dyn Tool>],
    ) -> Vec<(ToolName, NameTaken)> {
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        // A tool of another kind, or of another server, keeps its name.
        let is_free = |tool: &&Arc<dyn Tool>| {
            let name = &tool.definition().name;
            let there = self.registry.get(name.as_str());
            there.is_none_or(|there| {
                there.definition().origin.as_ref().is_some_and(|of| of.server == server)
            })
        };
        let (free, taken): (Vec<_>, Vec<_>) = tools.iter().partition(is_free);
        let free: Vec<_> = free.into_iter().cloned().collect();
        let before = offered.remove(server).unwrap_or_default();
        let mut refused = self.registry.exchange(&before, &free);
        refused.extend(taken.into_iter().map(|tool| {
            let name = tool.definition().name.clone();
            let taken = NameTaken { name: name.to_string(), owner: name.clone() };
            (name, taken)
        }));
        let names = tools.iter().map(|tool| tool.definition().name.clone());
        let names = names.filter(|name| refused.iter().all(|(refused, _)| refused != name));
        offered.insert(server.to_owned(), names.collect());
        self.index.count(offered.values().map(Vec::len).sum());
        refused
    }

    /// The servers that offer tools, by name.
    pub(super) fn servers(&self) -> Vec<String> {
        let offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut servers: Vec<_> = offered.keys().cloned().collect();
        servers.sort_unstable();
        servers
    }

    /// Tells that what a server offers besides tools may be something else now.
    pub(super) fn changed_offers(&self, about: &About) {
        for (kind, change) in
            [("resources", OfferChange::Resources), ("prompts", OfferChange::Prompts)]
        {
            if about.capabilities.contains_key(kind) {
                // Nobody listening is no failure.
                self.changes.send(change).ok();
            }
        }
    }
}
