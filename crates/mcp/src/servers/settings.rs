//! How a server is used.

use std::path::PathBuf;
use std::time::Duration;

use super::listed::Naming;
use super::name::ServerName;
use crate::client::{Abilities, Spec};

/// How servers are used together.
#[derive(Debug, Clone)]
pub struct ServersSettings {
    /// What names their tools go by.
    pub naming: Naming,
    /// With more tools than this, they have to be looked up with `find_tools`.
    pub most_listed: usize,
    /// The folders that servers are told of.
    pub roots: Vec<PathBuf>,
    /// What servers may ask for.
    pub abilities: Abilities,
}

/// Shorter values are words like any other.
const SHORTEST_SECRET: usize = 6;

/// A server behind the gate: how it is reached, and what of it is offered.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it goes by here.
    pub name: ServerName,
    /// How it is reached.
    pub spec: Spec,
    /// How it is reached in one line: another way is another server.
    pub way: String,
    /// Whether what it says about the effects of its tools is believed.
    pub trust: bool,
    /// The tools that are offered; all when left out.
    pub enabled_tools: Option<Vec<String>>,
    /// Tools that are not offered.
    pub disabled_tools: Vec<String>,
    /// Whether its calls may run beside others.
    pub parallel: bool,
    /// How long a call may show no sign of life.
    pub timeout: Duration,
    /// How long a call may take at most.
    pub most: Duration,
    /// What must not be told to anybody: values of headers and variables.
    pub secrets: Vec<String>,
    /// Whether the first call of each tool is shown to a person, whatever the rules say: a
    /// workspace that names servers may name another by the same name.
    pub asks_first: bool,
}

impl Entry {
    /// A text that is told, without what must not be.
    pub(super) fn veiled(&self, text: &str) -> String {
        let secrets = self.secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[secret]"))
    }

    /// Whether a tool is offered at all.
    pub(super) fn offers(&self, tool: &str) -> bool {
        let named = |tools: &[String]| tools.iter().any(|named| named == tool);
        self.enabled_tools.as_deref().is_none_or(named) && !named(&self.disabled_tools)
    }
}
