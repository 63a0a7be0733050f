//! What a trusted workspace brings: `.mcp.json`, and `[servers]` in its `.toolgate/config.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::config::project::{self, OwnConfig, ProjectFile};
use crate::config::servers::{McpConfig, ServerConfig};
use crate::home;
use crate::owned;
use crate::trust::{self, Accepted, Answers, Standing, Version};

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
    let text = owned::read(&folder.join(project::FILE))
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
    let files = project::read(folder).map_err(|error| format!("{error:#}"))?;
    let own = files.into_iter().find(|file| file.name != project::FILE);
    let servers = own.map(|file| file.own.servers.into_keys().collect()).unwrap_or_default();
    Ok(OwnSettings { servers, discovers: false })
}

/// What a workspace brings.
#[derive(Debug, Default)]
pub(super) struct Brought {
    /// Its servers, and the file each is from.
    pub(super) servers: BTreeMap<String, (PathBuf, ServerConfig)>,
    /// How its tools are discovered.
    pub(super) mcp: McpConfig,
    /// `true` if the workspace is trusted.
    pub(super) is_trusted: bool,
    /// The accepted version.
    pub(super) accepted: Accepted,
    /// The settings files that are not as they were accepted. Nothing of them is started.
    pub(super) waiting: BTreeSet<PathBuf>,
}

/// Whether a folder is trusted, asking nobody. Where that cannot be found out, it is not.
pub(crate) fn is_trusted(folder: &Path) -> bool {
    matches!(standing(folder), Standing::Trusted(_))
}

/// Returns what the user says about a folder, asking nobody. Where that cannot be found out, it
/// is not known.
pub(super) fn standing(folder: &Path) -> Standing {
    let answers = home::config().and_then(|config| Answers::load(&config.join(trust::FILE)));
    let Ok(real) = folder.canonicalize() else { return Standing::Unknown };
    answers.map_or(Standing::Unknown, |answers| answers.about(&real))
}

/// What a workspace brings, if it is trusted.
pub(super) fn brought(config: &Path, folder: &Path) -> anyhow::Result<Brought> {
    if !is_trusted(folder) {
        return Ok(Brought::default());
    }
    let accepted = Accepted::load(config, folder);
    let mut brought = Brought { is_trusted: true, accepted, ..Brought::default() };
    // One folder may be both the user's and the workspace's.
    let own = folder.join(".toolgate").canonicalize();
    let is_users = own.is_ok_and(|own| config.canonicalize().is_ok_and(|config| own == config));
    for ProjectFile { path, name, text, own } in project::read(folder)? {
        if is_users && name == project::FILE {
            continue;
        }
        if !brought.accepted.has(name, &Version::of_text(&text).digest) {
            brought.waiting.insert(path.clone());
        }
        for (name, server) in own.servers {
            brought.servers.insert(name, (path.clone(), server));
        }
        if name == project::FILE {
            brought.mcp = own.mcp;
        }
    }
    Ok(brought)
}
