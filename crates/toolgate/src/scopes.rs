//! The folders behind `private:/` and `shared:/`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toolgate_core::workspace::Workspace;

use crate::home;

/// A workspace whose parts are told apart; the folders are made where they are missing. Without a
/// session of its own a task is whatever works in this workspace.
pub(crate) fn with_scopes(
    workspace: Workspace,
    session: Option<&str>,
) -> anyhow::Result<Workspace> {
    let folder = home::scopes()?;
    let group = name_of(workspace.root().as_os_str().as_encoded_bytes());
    let task = session.map_or_else(|| group.clone(), |id| name_of(id.as_bytes()));
    let private = made(&folder.join("private").join(task))?;
    let shared = made(&folder.join("shared").join(group))?;
    workspace.with_scopes(&private, &shared).map_err(anyhow::Error::from)
}

fn made(folder: &Path) -> anyhow::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    Ok(folder.to_owned())
}

/// A name for a folder that anything can have.
fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(24).collect()
}
