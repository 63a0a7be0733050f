//! Where the workspace and its target folder are, and cargo run in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The workspace the task was started in.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Asks cargo, so `CARGO_TARGET_DIR` and config files count.
    pub(crate) fn locate() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--no-deps", "--format-version", "1"]);
        let answer: Value = serde_json::from_str(&process::capture(&mut metadata)?)
            .context("cannot read the answer of `cargo metadata`")?;
        Ok(Self {
            root: folder(&answer, "workspace_root")?,
            target: folder(&answer, "target_directory")?,
        })
    }

    /// A workspace in this folder, for tests.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), target: root.join("target") }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where peers are installed, built and unpacked.
    pub(crate) fn peers(&self) -> PathBuf {
        self.target.join("peers")
    }

    /// A cargo command at the root of the workspace.
    pub(crate) fn cargo<I, S>(&self, args: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        let mut command = cargo();
        command.args(args.into_iter().map(Into::into)).current_dir(&self.root);
        if env::var_os("CARGO_TARGET_DIR").is_some() {
            // A relative value would mean another folder from the root.
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        command
    }
}

/// Cargo without what the outer `cargo run` set for this package: build scripts
/// that watch those variables would run again on every change of hands.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if is_set_per_package(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    command
}

fn is_set_per_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&name)
}

fn folder(metadata: &Value, key: &str) -> Result<PathBuf> {
    metadata
        .get(key)
        .and_then(Value::as_str)
        .map(PathBuf::from)
        .with_context(|| format!("`cargo metadata` names no `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_keeps_settings_and_drops_package_variables() {
        assert!(is_set_per_package("CARGO_PKG_NAME"));
        assert!(is_set_per_package("CARGO_MANIFEST_DIR"));
        assert!(!is_set_per_package("CARGO_TARGET_DIR"));
        assert!(!is_set_per_package("CARGO_INCREMENTAL"));
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = folder(&serde_json::json!({}), "workspace_root").unwrap_err();
        assert_eq!(error.to_string(), "`cargo metadata` names no `workspace_root`");
    }
}
