//! Where programs are found, and what else the environment says.

use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolgate_core::visible;
use toolgate_core::workspace::Workspace;

use super::report::{Finding, Topic, count};
use crate::app;

pub(super) fn look(workspace: &Workspace) -> Topic {
    let mut findings = search_path(workspace);
    findings.push(shell());
    findings.extend(concurrency());
    Topic::new("environment", findings)
}

fn search_path(workspace: &Workspace) -> Vec<Finding> {
    let Some(path) = env::var_os("PATH") else {
        let means = "no program is found by its name";
        return vec![Finding::warning("path", "`PATH` is not set", means, "set it")];
    };
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut findings: Vec<Finding> =
        folders.iter().filter_map(|folder| unsafe_folder(folder, workspace)).collect();
    if findings.is_empty() {
        let number = count(folders.len(), "folder", "folders");
        findings.push(Finding::ok(
            "path",
            format!("`PATH` has {number}, and nobody else writes there"),
        ));
    }
    findings
}

/// Tells why programs should not be looked for in a folder.
fn unsafe_folder(folder: &Path, workspace: &Workspace) -> Option<Finding> {
    let shown = visible::path(folder);
    let (what, means) = if !folder.is_absolute() {
        let means = "which program a name means depends on where one is, so no command is \
                     trusted by its name";
        (format!("`PATH` has the relative folder `{shown}`"), means)
    } else if is_inside(&folder.canonicalize().ok()?, workspace) {
        let means = "calls can put programs there, so commands found there are not trusted";
        (format!("`PATH` has `{shown}`, which is in the workspace"), means)
    } else if folder.metadata().ok()?.permissions().mode() & 0o002 != 0 {
        let means = "anybody can put a program there that is run in place of another";
        (format!("`PATH` has `{shown}`, which everybody can write to"), means)
    } else {
        return None;
    };
    Some(Finding::warning("path", what, means, "take it out of `PATH`"))
}

fn is_inside(folder: &Path, workspace: &Workspace) -> bool {
    workspace.roots().any(|root| folder.starts_with(root))
}

fn shell() -> Finding {
    let Some(shell) = toolgate_tools::shell() else {
        let seen = "neither `bash` nor `sh` is where it should be";
        return Finding::broken("shell", seen, "no command can run", "install `/bin/bash`");
    };
    Finding::ok("shell", format!("commands are run by `{}`", shell.display()))
}

fn concurrency() -> Option<Finding> {
    let error = app::max_concurrency().err()?;
    let means = "no call runs until it is mended";
    Some(Finding::broken("variables", format!("{error:#}"), means, "correct it, or unset it"))
}
