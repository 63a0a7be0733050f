//! The programs and the tree that benchmarks use.

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

/// Everything built, installed and unpacked.
pub(super) struct Lab {
    pub(super) workspace: Workspace,
    pub(super) toolgate: PathBuf,
    pub(super) ripgrep: PathBuf,
    pub(super) fd: PathBuf,
    pub(super) mcp_filesystem: PathBuf,
    pub(super) kernel: KernelSource,
    pub(super) rounds: u32,
    /// Our settings and state, so that nothing of the user's takes part.
    home: TempDir,
}

impl Lab {
    pub(super) fn set_up(workspace: &Workspace, rounds: u32) -> Result<Self> {
        Ok(Self {
            toolgate: build_toolgate(workspace)?,
            ripgrep: peers::RIPGREP.install(workspace)?,
            fd: peers::FD.install(workspace)?,
            mcp_filesystem: peers::MCP_FILESYSTEM.install(workspace)?,
            kernel: kernel_source::install(workspace)?,
            rounds,
            home: tempfile::tempdir()?,
            workspace: workspace.clone(),
        })
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

fn build_toolgate(workspace: &Workspace) -> Result<PathBuf> {
    process::run(&mut workspace.cargo(["build", "--release", "--locked", "-p", "toolgate"]))?;
    let name = format!("toolgate{}", env::consts::EXE_SUFFIX);
    Ok(workspace.target().join("release").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

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
