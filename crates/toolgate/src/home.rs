//! Where Toolgate keeps its files.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;

/// Where long results are kept whole.
pub(crate) fn results() -> anyhow::Result<PathBuf> {
    Ok(state()?.join("results"))
}

fn state() -> anyhow::Result<PathBuf> {
    if let Some(home) = env::var_os("TOOLGATE_HOME").filter(|home| !home.is_empty()) {
        return std::path::absolute(home).context("`TOOLGATE_HOME` is no path");
    }
    let base = etcetera::choose_base_strategy()
        .context("there is no home folder; set `TOOLGATE_HOME` to a folder to keep results in")?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(state.join("toolgate"))
}
