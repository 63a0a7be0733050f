//! The tools as clients see them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{CustomResult, ServerJsonRpcMessage, ServerResult, Tool as Shown};
use serde::Deserialize as _;
use serde_json::{Map, Value};
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
    /// Fields that `shown` has no place for, such as `execution`.
    more: Map<String, Value>,
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
        let offered = tools.iter().filter(|listed| listed.is_offered(session));
        offered.map(|listed| listed.shown.clone()).collect()
    }

    /// Returns an answer to a client with a handshake as it is sent, if that is not the same. The
    /// library's type lost fields that only older revisions have, such as `execution`.
    ///
    /// An answer becomes much larger by this, so it is done when the answer is written.
    pub(super) fn with_all_fields(
        &self,
        message: &ServerJsonRpcMessage,
    ) -> Option<ServerJsonRpcMessage> {
        let ServerJsonRpcMessage::Response(response) = message else { return None };
        let ServerResult::ListToolsResult(list) = &response.result else { return None };
        if list.result_type.is_some() {
            return None;
        }
        let known = self.lock().tools.clone()?;
        let more = |name: &str| Some(&found(&known, name)?.more).filter(|more| !more.is_empty());
        if !list.tools.iter().any(|tool| more(&tool.name).is_some()) {
            return None;
        }
        let mut json = serde_json::to_value(list).ok()?;
        for (json, tool) in json.get_mut("tools")?.as_array_mut()?.iter_mut().zip(&list.tools) {
            if let (Value::Object(json), Some(more)) = (json, more(&tool.name)) {
                json.extend(more.clone());
            }
        }
        let result = ServerResult::CustomResult(CustomResult(json));
        Some(ServerJsonRpcMessage::response(result, response.id.clone()))
    }

    /// The tool of a name.
    pub(super) fn get(&self, registry: &Registry, name: &str) -> Option<Shown> {
        let tools = self.current(registry);
        found(&tools, name).map(|listed| listed.shown.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, registry: &Registry) -> Arc<[Listed]> {
        let mut kept = self.lock();
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
        match Shown::deserialize(&json) {
            Ok(shown) => Some(Listed { tool, more: fields_besides(&shown, json), shown }),
            Err(error) => {
                let name = &tool.definition().name;
                tracing::warn!(%name, %error, "a tool cannot be listed");
                None
            }
        }
    }
}

impl Listed {
    /// Returns `true` if a session may call the tool and is told of it.
    fn is_offered(&self, session: &Session) -> bool {
        self.tool.is_enabled(session) && self.tool.is_listed(session)
    }
}

/// Finds a tool by its name among tools in the order of their names.
fn found<'a>(tools: &'a [Listed], name: &str) -> Option<&'a Listed> {
    let place = tools.binary_search_by(|listed| (*listed.shown.name).cmp(name)).ok()?;
    tools.get(place)
}

/// Returns the fields of a tool that the library's type does not have.
fn fields_besides(shown: &Shown, json: Value) -> Map<String, Value> {
    let (Ok(Value::Object(known)), Value::Object(mut fields)) = (serde_json::to_value(shown), json)
    else {
        return Map::new();
    };
    fields.retain(|field, value| !known.contains_key(field) && !value.is_null());
    fields
}
