//! Reading settings anew while a session goes on.

use serde::{Deserialize, Serialize};

/// What can be read anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The settings in `config.toml`.
    Config,
    /// The rules in policy files.
    Policies,
    /// The skills there are.
    Skills,
    /// The servers whose tools are offered.
    Servers,
    /// Everything.
    All,
}

/// Reads settings anew while a session goes on.
pub trait HotSwap: Send + Sync {
    /// Reads a part anew and says what came of it.
    ///
    /// # Errors
    ///
    /// What is wrong with it. What was in force before stays in force.
    fn swap(&self, part: Part) -> Result<String, String>;
}
