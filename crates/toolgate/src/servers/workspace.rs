//! What a trusted workspace brings: `.mcp.json`, and `[servers]` in its `.toolgate/config.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::mcp_json;
use crate::config::servers::{McpConfig, ServerConfig};
use crate::exit::UsageError;
use crate::home;
use crate::owned;
use crate::trust::{self, Answers, Standing};

/// What a workspace's own settings may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnConfig {
    servers: BTreeMap<String, ServerConfig>,
    mcp: McpConfig,
}

/// What a settings file of a workspace has in it, whether it is used or not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OwnSettings {
    /// The names of its servers.
    pub(crate) servers: Vec<String>,
    /// Whether it names a command that declares tools.
    pub(crate) discovers: bool,
}

/// Looks at the `.toolgate/config.toml` of a folder.
///
/// # Errors
///
/// Errors if it cannot be read, with the line and column.
pub(crate) fn own_settings(folder: &Path) -> Result<OwnSettings, String> {
    let text = owned::read(&folder.join(".toolgate/config.toml"))
        .map_err(|error| format!("cannot be read: {error}"))?;
    let own: OwnConfig = toml::from_str(&text).map_err(|error| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(&text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: {}", error.message().replace('\n', ", "))
    })?;
    let discovers = own.mcp.tool_discovery_command.is_some();
    Ok(OwnSettings { servers: own.servers.into_keys().collect(), discovers })
}

/// Looks at the `.mcp.json` of a folder.
///
/// # Errors
///
/// Errors if it cannot be read.
pub(crate) fn mcp_json_settings(folder: &Path) -> Result<OwnSettings, String> {
    let servers = mcp_json::read(folder).map_err(|error| format!("{error:#}"))?;
    Ok(OwnSettings { servers: servers.into_keys().collect(), discovers: false })
}

/// What a workspace brings.
#[derive(Debug, Default)]
pub(super) struct Brought {
    /// Its servers, and the file each is from.
    pub(super) servers: BTreeMap<String, (PathBuf, ServerConfig)>,
    /// How its tools are discovered.
    pub(super) mcp: McpConfig,
    /// Whether all this is as it was when the folder was trusted; otherwise nothing is started.
    pub(super) is_used: bool,
}

/// Whether a folder is trusted, asking nobody. Where that cannot be found out, it is not.
pub(crate) fn is_trusted(folder: &Path) -> bool {
    let answers = home::config().and_then(|config| Answers::load(&config.join(trust::FILE)));
    let Ok(real) = folder.canonicalize() else { return false };
    answers.is_ok_and(|answers| matches!(answers.about(&real), Standing::Trusted(_)))
}

/// What a workspace brings, if it is trusted.
pub(super) fn brought(config: &Path, folder: &Path) -> anyhow::Result<Brought> {
    if !is_trusted(folder) {
        return Ok(Brought::default());
    }
    let mut brought = Brought { is_used: trust::is_accepted(config, folder), ..Brought::default() };
    for (name, server) in mcp_json::read(folder)? {
        brought.servers.insert(name, (folder.join(mcp_json::FILE), server));
    }
    let path = folder.join(".toolgate/config.toml");
    // One folder may be both the user's and the workspace's.
    let is_users =
        path.parent().and_then(|own| own.canonicalize().ok()) == config.canonicalize().ok();
    if is_users {
        return Ok(brought);
    }
    match owned::read(&path) {
        Ok(text) => {
            let own: OwnConfig = toml::from_str(&text).map_err(|error| {
                let shown = error.to_string();
                UsageError(format!("`{}` is not understood: {}", path.display(), shown.trim_end()))
            })?;
            for (name, server) in own.servers {
                brought.servers.insert(name, (path.clone(), server));
            }
            brought.mcp = own.mcp;
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(UsageError(format!("cannot read `{}`: {error}", path.display())).into());
        }
    }
    Ok(brought)
}
