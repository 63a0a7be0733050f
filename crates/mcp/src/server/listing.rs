//! The tools as clients see them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool as Shown;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_core::context::Session;
use toolgate_core::dialect::Dialect;
use toolgate_core::export::{Provider, tool_schema};
use toolgate_core::registry::{Registry, RegistryChange};
use toolgate_core::tool::Tool;

/// The tools as clients see them: made once, and anew when tools come or go.
#[derive(Debug)]
pub(super) struct Listing {
    dialect: Dialect,
    /// Tools that never run, by any of their names.
    hidden: Vec<String>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    changes: Receiver<RegistryChange>,
    tools: Option<Arc<[Listed]>>,
}

#[derive(Debug)]
struct Listed {
    tool: Arc<dyn Tool>,
    shown: Shown,
}

impl Listing {
    /// The tools of a registry under their names in a dialect.
    pub(super) fn new(registry: &Registry, dialect: Dialect, hidden: Vec<String>) -> Self {
        let kept = Kept { changes: registry.subscribe(), tools: None };
        Self { dialect, hidden, kept: Mutex::new(kept) }
    }

    /// All tools that a session may call, in alphabetical order of their names.
    pub(super) fn all(&self, registry: &Registry, session: &Session) -> Vec<Shown> {
        let tools = self.current(registry);
        let enabled = tools
            .iter()
            .filter(|listed| listed.tool.is_enabled(session) && listed.tool.is_listed(session));
        enabled.map(|listed| listed.shown.clone()).collect()
    }

    /// The tool of a name.
    pub(super) fn get(&self, registry: &Registry, name: &str) -> Option<Shown> {
        let tools = self.current(registry);
        let found = tools.binary_search_by(|listed| (*listed.shown.name).cmp(name)).ok()?;
        tools.get(found).map(|listed| listed.shown.clone())
    }

    fn current(&self, registry: &Registry) -> Arc<[Listed]> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        while !matches!(kept.changes.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {
            kept.tools = None;
        }
        Arc::clone(kept.tools.get_or_insert_with(|| self.made(registry)))
    }

    fn made(&self, registry: &Registry) -> Arc<[Listed]> {
        let hidden = |name: &String| {
            let tool = registry.resolve(name, self.dialect).ok()?;
            Some(tool.definition().name.clone())
        };
        let hidden: HashSet<_> = self.hidden.iter().filter_map(hidden).collect();
        let tools = registry.list().into_iter();
        let shown = tools.filter(|tool| !hidden.contains(&tool.definition().name));
        let mut listed: Vec<_> = shown.filter_map(|tool| self.listed(tool)).collect();
        listed.sort_by(|left, right| left.shown.name.cmp(&right.shown.name));
        listed.into()
    }

    fn listed(&self, tool: Arc<dyn Tool>) -> Option<Listed> {
        let json = tool_schema(tool.definition(), Provider::Mcp, self.dialect);
        match serde_json::from_value(json) {
            Ok(shown) => Some(Listed { tool, shown }),
            Err(error) => {
                let name = &tool.definition().name;
                tracing::warn!(%name, %error, "a tool cannot be listed");
                None
            }
        }
    }
}
