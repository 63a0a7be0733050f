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
