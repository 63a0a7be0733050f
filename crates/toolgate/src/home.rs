//! Where Toolgate keeps its files.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;

/// Where long results are kept whole.
pub(crate) fn results() -> anyhow::Result<PathBuf> {
    Ok(state()?.join("results"))
}

/// Where the user's settings and policies are.
pub(crate) fn config() -> anyhow::Result<PathBuf> {
    if let Some(home) = own_home()? {
        return Ok(home);
    }
    Ok(base()?.config_dir().join("toolgate"))
}

/// Where state is kept.
pub(crate) fn state() -> anyhow::Result<PathBuf> {
    if let Some(home) = own_home()? {
        return Ok(home);
    }
    let base = base()?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(state.join("toolgate"))
}

/// Where tokens for servers are kept, under a name that no rule lets anybody read unasked.
pub(crate) fn tokens() -> anyhow::Result<PathBuf> {
    Ok(state()?.join("credentials"))
}

/// Where files of tasks are kept that belong to no workspace.
pub(crate) fn scopes() -> anyhow::Result<PathBuf> {
    if let Some(home) = own_home()? {
        return Ok(home.join("scopes"));
    }
    Ok(base()?.data_dir().join("toolgate/scopes"))
}

/// One folder for everything, where the owner wants that.
fn own_home() -> anyhow::Result<Option<PathBuf>> {
    let home = env::var_os("TOOLGATE_HOME").filter(|home| !home.is_empty());
    home.map(|home| std::path::absolute(home).context("`TOOLGATE_HOME` is no path")).transpose()
}

fn base() -> anyhow::Result<impl etcetera::BaseStrategy> {
    etcetera::choose_base_strategy()
        .context("there is no home folder; set `TOOLGATE_HOME` to a folder to keep files in")
}
