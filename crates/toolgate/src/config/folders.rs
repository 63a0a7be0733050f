//! The reach of programs that the settings of a folder start: `[folders."PATH"]`.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_policy::host;
use toolgate_policy::rule::Sandbox;

use super::servers::Reach;

/// The reach of programs that the settings of a folder start: its servers and tool commands.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FolderConfig {
    /// The sandbox profile: `read_only`, `workspace_write` or `full`; `workspace_write` when
    /// left out.
    #[schemars(with = "Option<Reach>")]
    pub(crate) sandbox: Option<Sandbox>,
    /// Hosts that they may reach, besides the package registries that their programs need.
    pub(crate) network: Vec<String>,
}

impl FolderConfig {
    /// Returns what is wrong with it, if anything is.
    pub(super) fn mistake(&self, folder: &Path) -> Option<String> {
        if !folder.is_absolute() {
            return Some("the folder must be an absolute path".to_owned());
        }
        self.network.iter().find_map(|name| host::parse_granted(name).err()).map(|e| e.to_string())
    }
}
