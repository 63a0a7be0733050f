//! What a server says about itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::MODERN;

/// The two manners of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// With a handshake: revisions up to 2025-11-25.
    Legacy,
    /// Without one: 2026-07-28.
    Modern,
}

/// What a server says about itself. All of it is the claim of a stranger.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The manner it speaks.
    pub era: Era,
    /// The revision that was agreed on.
    pub version: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its own version.
    pub server_version: String,
    /// What it wants models to know.
    pub instructions: Option<String>,
    /// What it can do, as it said it.
    pub capabilities: Map<String, Value>,
}

impl About {
    /// Whether it has something: `tools`, `resources`, `prompts`, `completions`, `logging`.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.contains_key(capability)
    }

    /// What came from a handshake.
    pub(super) fn greeted(version: &str, result: &Value) -> Self {
        Self::new(Era::Legacy, version, result.get("serverInfo"), result)
    }

    /// What came without one.
    pub(super) fn discovered(result: &Value) -> Self {
        let in_meta = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO));
        Self::new(Era::Modern, MODERN, in_meta.or_else(|| result.get("serverInfo")), result)
    }

    fn new(era: Era, version: &str, info: Option<&Value>, result: &Value) -> Self {
        let text = |name| info.and_then(|info| info.get(name)?.as_str()).map(str::to_owned);
        let capabilities = result.get("capabilities").and_then(Value::as_object);
        let instructions = result.get("instructions").and_then(Value::as_str);
        Self {
            era,
            version: version.to_owned(),
            name: text("name").unwrap_or_default(),
            title: text("title"),
            server_version: text("version").unwrap_or_default(),
            instructions: instructions.map(str::to_owned),
            capabilities: capabilities.cloned().unwrap_or_default(),
        }
    }
}

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
