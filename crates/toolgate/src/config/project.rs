//! The settings that a folder brings: `.mcp.json` and `.toolgate/config.toml`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::mcp_json;
use super::servers::{McpConfig, ServerConfig};
use crate::exit::UsageError;
use crate::owned;

/// The settings file of a folder, relative to it.
pub(crate) const FILE: &str = ".toolgate/config.toml";

/// The settings that a folder itself may make.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OwnConfig {
    pub(crate) servers: BTreeMap<String, ServerConfig>,
    pub(crate) mcp: McpConfig,
}

/// A settings file of a folder, as it was read.
#[derive(Debug)]
pub(crate) struct ProjectFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its path relative to the folder.
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) own: OwnConfig,
}

/// Reads the settings files that a folder has.
///
/// # Errors
///
/// Errors if one cannot be read or understood.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Vec<ProjectFile>> {
    let mut files = Vec::new();
    for name in [mcp_json::FILE, FILE] {
        let path = folder.join(name);
        let Some(text) = text(&path)? else { continue };
        let parsed = parse(name, &text);
        let own = parsed.map_err(|error| {
            UsageError(format!("`{}` is not understood: {error}", path.display()))
        })?;
        files.push(ProjectFile { path, name, text, own });
    }
    Ok(files)
}

/// Reads the text of a settings file by its name.
pub(crate) fn parse(name: &str, text: &str) -> Result<OwnConfig, String> {
    if name == mcp_json::FILE {
        let servers = mcp_json::parse(text).map_err(|error| error.to_string())?;
        return Ok(OwnConfig { servers, mcp: McpConfig::default() });
    }
    toml::from_str(text).map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())
}

fn text(path: &Path) -> anyhow::Result<Option<String>> {
    match owned::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(UsageError(format!("cannot read `{}`: {error}", path.display())).into()),
    }
}
