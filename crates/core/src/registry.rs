//! The tools there are, by every name they go by.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::broadcast;

use crate::context::Session;
use crate::dialect::{Dialect, Face};
use crate::error::{ErrorKind, ToolError};
use crate::event::{Event, Events};
use crate::id::ToolName;
use crate::tool::{Group, Tool};
use crate::visible;

/// The tools there are. Tools may come and go while others are called.
#[derive(Debug)]
pub struct Registry {
    tools: ArcSwap<BTreeMap<ToolName, Arc<dyn Tool>>>,
    changes: broadcast::Sender<RegistryChange>,
    /// The streams of gates in front of these tools.
    streams: Mutex<Vec<Events>>,
}

/// Something that happened to the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryChange {
    /// A tool came.
    Added(ToolName),
    /// Another tool took the place of one.
    Replaced(ToolName),
    /// A tool went.
    Removed(ToolName),
}

/// Why a tool was not registered.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` is what `{owner}` is called in a dialect, so another tool cannot have that name")]
#[expect(missing_docs, reason = "the message says it")]
pub struct NameTaken {
    pub name: String,
    pub owner: ToolName,
}

/// Which tools of a list are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// Only of these groups; all when empty.
    pub groups: &'a [Group],
    /// Only with a name of their own in this dialect.
    pub dialect: Option<Dialect>,
    /// Only those enabled in this session.
    pub enabled_in: Option<&'a Session>,
}

/// A tool and the face it was called by.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) face: Option<Face>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            tools: ArcSwap::default(),
            changes: broadcast::Sender::new(256),
            streams: Mutex::default(),
        }
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, or replaces the one of the same name.
    ///
    /// # Errors
    ///
    /// When its name, or a name of one of its faces, already means another tool.
    #[expect(clippy::needless_pass_by_value, reason = "a registered tool belongs to the registry")]
    pub fn register(&self, tool: Arc<dyn Tool>) -> Result<(), NameTaken> {
        let name = tool.definition().name.clone();
        let mut taken = None;
        let before = self.tools.rcu(|tools| {
            taken = conflict(tools, tool.as_ref());
            let mut tools = BTreeMap::clone(tools);
            if taken.is_none() {
                tools.insert(name.clone(), Arc::clone(&tool));
            }
            tools
        });
        if let Some(taken) = taken {
            return Err(taken);
        }
        self.announce(if before.contains_key(&name) {
            RegistryChange::Replaced(name)
        } else {
            RegistryChange::Added(name)
        });
        Ok(())
    }

    /// Takes a tool away; `false` when there was none.
    pub fn unregister(&self, name: &str) -> bool {
        let Ok(name) = name.parse::<ToolName>() else {
            return false;
        };
        let before = self.tools.rcu(|tools| {
            let mut tools = BTreeMap::clone(tools);
            tools.remove(&name);
            tools
        });
        let was_there = before.contains_key(&name);
        if was_there {
            self.announce(RegistryChange::Removed(name));
        }
        was_there
    }

    /// Takes tools away and adds others in one step, as a server does whose tools change. What
    /// cannot be added is given back.
    pub fn exchange(&self, gone: &[ToolName], new: &[Arc<dyn Tool>]) -> Vec<(ToolName, NameTaken)> {
        let mut refused = Vec::new();
        let mut changes = Vec::new();
        self.tools.rcu(|tools| {
            refused.clear();
            changes.clear();
            let mut tools = BTreeMap::clone(tools);
            let mut removed: Vec<_> =
                gone.iter().filter(|name| tools.remove(name).is_some()).collect();
            for tool in new {
                let name = &tool.definition().name;
                if let Some(taken) = conflict(&tools, tool.as_ref()) {
                    refused.push((name.clone(), taken));
                    continue;
                }
                let was_there = tools.insert(name.clone(), Arc::clone(tool)).is_some();
                let before = removed.len();
                removed.retain(|gone| *gone != name);
                changes.push(if was_there || removed.len() < before {
                    RegistryChange::Replaced(name.clone())
                } else {
                    RegistryChange::Added(name.clone())
                });
            }
            changes.extend(removed.into_iter().cloned().map(RegistryChange::Removed));
            tools
        });
        for change in changes {
            self.announce(change);
        }
        refused
    }

    /// Tells of tools again, for those who did not want to hear of them before.
    pub fn tell_again(&self, names: &[ToolName]) {
        let tools = self.tools.load();
        for name in names.iter().filter(|name| tools.contains_key(*name)) {
            self.announce(RegistryChange::Replaced(name.clone()));
        }
    }

    /// The tool of a native name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let name = name.parse::<ToolName>().ok()?;
        self.tools.load().get(&name).cloned()
    }

    /// All tools, in alphabetical order.
    pub fn list(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.load().values().cloned().collect()
    }

    /// The tools a filter lets through, in alphabetical order of their names in its dialect.
    pub fn list_filtered(&self, filter: &Filter<'_>) -> Vec<Arc<dyn Tool>> {
        let wanted = |tool: &Arc<dyn Tool>| {
            let definition = tool.definition();
            (filter.groups.is_empty() || filter.groups.contains(&definition.group))
                && filter.dialect.is_none_or(|dialect| {
                    dialect == Dialect::Native || definition.face(dialect).is_some()
                })
                && filter.enabled_in.is_none_or(|session| tool.is_enabled(session))
        };
        let mut tools: Vec<_> = self.list().into_iter().filter(wanted).collect();
        if let Some(dialect) = filter.dialect {
            tools.sort_by(|left, right| {
                let name = |tool: &Arc<dyn Tool>| tool.definition().name_in(dialect).to_owned();
                name(left).cmp(&name(right))
            });
        }
        tools
    }

    /// Tells of every change from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<RegistryChange> {
        self.changes.subscribe()
    }

    /// The tool of a name in any dialect; the given dialect's names come first.
    ///
    /// # Errors
    ///
    /// `ToolNotFound`, with the nearest names.
    pub fn resolve(&self, name: &str, dialect: Dialect) -> Result<Arc<dyn Tool>, ToolError> {
        self.find(name, dialect).map(|found| found.tool)
    }

    /// The same, with the dialect the name belongs to.
    ///
    /// # Errors
    ///
    /// `ToolNotFound`, with the nearest names.
    pub fn resolve_with_dialect(
        &self,
        name: &str,
        dialect: Dialect,
    ) -> Result<(Arc<dyn Tool>, Dialect), ToolError> {
        let found = self.find(name, dialect)?;
        let dialect = found.face.map_or(Dialect::Native, |face| face.dialect);
        Ok((found.tool, dialect))
    }

    /// Finds a tool by any of its names; the given dialect's come first.
    pub(crate) fn find(&self, name: &str, dialect: Dialect) -> Result<Found, ToolError> {
        let tools = self.tools.load();
        let by_face = |dialect: Dialect| {
            tools.values().find_map(|tool| {
                let face = tool.definition().face(dialect)?;
                (face.name == name)
                    .then(|| Found { tool: Arc::clone(tool), face: Some(face.clone()) })
            })
        };
        let native = || {
            let tool = tools.get(&name.parse::<ToolName>().ok()?)?;
            Some(Found { tool: Arc::clone(tool), face: None })
        };
        by_face(dialect)
            .or_else(native)
            .or_else(|| Dialect::ALL.into_iter().find_map(by_face))
            .ok_or_else(|| unknown(name, &tools, dialect))
    }

    /// Tells of changes in the stream of a gate, too.
    pub(crate) fn announce_in(&self, events: Events) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(events);
    }

    fn announce(&self, change: RegistryChange) {
        for events in self.streams.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            events.emit(|| Event::ToolsChanged);
        }
        // Nobody listening is no failure.
        drop(self.changes.send(change));
    }
}

/// A name may mean one tool only, or a rule for one could be used for another.
fn conflict(tools: &BTreeMap<ToolName, Arc<dyn Tool>>, new: &dyn Tool) -> Option<NameTaken> {
    let new = new.definition();
    let others =
        || tools.values().map(|tool| tool.definition()).filter(|other| other.name != new.name);
    let owner_of = |name: &str| {
        others().find(|other| {
            other.name.as_str() == name || other.faces.iter().any(|face| face.name == name)
        })
    };
    std::iter::once(new.name.as_str()).chain(new.faces.iter().map(|face| face.name)).find_map(
        |name| {
            let owner = owner_of(name)?.name.clone();
            Some(NameTaken { name: name.to_owned(), owner })
        },
    )
}

fn unknown(name: &str, tools: &BTreeMap<ToolName, Arc<dyn Tool>>, dialect: Dialect) -> ToolError {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = plain(name);
    let mut near: Vec<(f64, &str)> = tools
        .values()
        .map(|tool| tool.definition().name_in(dialect))
        .map(|known| (strsim::jaro_winkler(&wanted, &plain(known)), known))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    let suggestions: Vec<String> =
        near.iter().take(3).map(|(_, known)| format!("`{known}`")).collect();
    let shown = visible::line(name);
    let message = if suggestions.is_empty() {
        let all = tools.values().map(|tool| tool.definition().name_in(dialect));
        let all = all.collect::<Vec<_>>().join(", ");
        format!("there is no tool `{shown}`; the tools are: {all}")
    } else {
        format!("there is no tool `{shown}`; did you mean {}?", suggestions.join(" or "))
    };
    ToolError::new(ErrorKind::ToolNotFound, message)
}
