//! The programs and the tree that benchmarks use, set up when the first of them asks.

use std::cell::OnceCell;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::kernel_source::{self, KernelSource};
use crate::workspace::Workspace;
use crate::{peers, process};

/// Our program, and what the benchmarks have used so far.
pub(super) struct Lab {
    pub(super) workspace: Workspace,
    pub(super) toolgate: PathBuf,
    pub(super) used: Used,
    pub(super) rounds: u32,
    /// Our settings and state, so that nothing of the user's takes part.
    home: TempDir,
}

/// Programs and trees that are there once they were asked for.
#[derive(Default)]
pub(super) struct Used {
    pub(super) ripgrep: OnceCell<PathBuf>,
    pub(super) fd: OnceCell<PathBuf>,
    pub(super) mcp_filesystem: OnceCell<PathBuf>,
    pub(super) kernel: OnceCell<KernelSource>,
}

impl Lab {
    pub(super) fn set_up(workspace: &Workspace, rounds: u32) -> Result<Self> {
        Ok(Self {
            toolgate: build_toolgate(workspace)?,
            used: Used::default(),
            rounds,
            home: tempfile::tempdir()?,
            workspace: workspace.clone(),
        })
    }

    pub(super) fn ripgrep(&self) -> Result<&Path> {
        let install = || peers::RIPGREP.install(&self.workspace);
        Ok(once(&self.used.ripgrep, install)?.as_path())
    }

    pub(super) fn fd(&self) -> Result<&Path> {
        Ok(once(&self.used.fd, || peers::FD.install(&self.workspace))?.as_path())
    }

    pub(super) fn mcp_filesystem(&self) -> Result<&Path> {
        let install = || peers::MCP_FILESYSTEM.install(&self.workspace);
        Ok(once(&self.used.mcp_filesystem, install)?.as_path())
    }

    /// The folder with the kernel's source.
    pub(super) fn kernel(&self) -> Result<&Path> {
        let install = || kernel_source::install(&self.workspace);
        Ok(once(&self.used.kernel, install)?.folder.as_path())
    }

    /// `program`, to be run in `folder`, away from the user's settings.
    pub(super) fn program(&self, program: impl AsRef<Path>, folder: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(folder)
            .env("TOOLGATE_HOME", self.home.path())
            .env_remove("RIPGREP_CONFIG_PATH");
        command
    }

    /// `PATH` with the peers first, for a shell.
    pub(super) fn path_with_peers(&self) -> Result<OsString> {
        let mut folders = vec![self.workspace.peers().join("bin")];
        let inherited = env::var_os("PATH").unwrap_or_default();
        folders.extend(env::split_paths(&inherited));
        Ok(env::join_paths(folders)?)
    }

    /// `toolgate --cwd FOLDER`, to be completed.
    pub(super) fn toolgate(&self, folder: &Path) -> Command {
        let mut command = self.program(&self.toolgate, folder);
        command.arg("--cwd").arg(folder);
        command
    }

    /// `toolgate --cwd FOLDER call TOOL ARGS`.
    pub(super) fn call(&self, folder: &Path, tool: &str, args: &Value) -> Command {
        let mut command = self.toolgate(folder);
        command.args(["call", tool, &args.to_string()]);
        command
    }

    /// The answer to a call, for people who write programs.
    pub(super) fn call_for_json(&self, folder: &Path, tool: &str, args: &Value) -> Result<Value> {
        let mut command = self.toolgate(folder);
        command.args(["--json", "call", tool, &args.to_string()]);
        let answer = process::capture(&mut command)?;
        serde_json::from_str(&answer).context("`toolgate --json` did not print JSON")
    }
}

/// The command for the report, with `FOLDER` for the folder it ran in.
pub(super) fn shown(command: &Command) -> String {
    let line = process::render(command);
    match command.get_current_dir() {
        Some(folder) => line.replace(&*folder.to_string_lossy(), "FOLDER"),
        None => line,
    }
}

fn once<T>(cell: &OnceCell<T>, set_up: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(found) = cell.get() {
        return Ok(found);
    }
    let made = set_up()?;
    Ok(cell.get_or_init(|| made))
}

fn build_toolgate(workspace: &Workspace) -> Result<PathBuf> {
    process::run(&mut workspace.cargo(["build", "--release", "--locked", "-p", "toolgate"]))?;
    let name = format!("toolgate{}", env::consts::EXE_SUFFIX);
    Ok(workspace.target().join("release").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_set_up_once_and_tried_again_after_an_error() {
        let cell = OnceCell::new();
        assert!(once(&cell, || anyhow::bail!("no")).is_err());
        assert_eq!(once(&cell, || Ok(1)).unwrap(), &1);
        assert_eq!(once(&cell, || Ok(2)).unwrap(), &1);
    }

    #[test]
    fn reports_show_no_folder_of_this_machine() {
        let mut command = Command::new("/home/someone/target/release/toolgate");
        command.current_dir("/home/someone/tree").args([
            "--cwd",
            "/home/someone/tree",
            "call",
            "ls",
        ]);
        assert_eq!(shown(&command), "toolgate --cwd FOLDER call ls");
    }
}
