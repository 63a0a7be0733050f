//! `cargo xtask fmt`: formats every source file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Format every source file
///
/// Unlike `cargo fmt` this also finds modules that a macro declares, as the
/// lists of tools do.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct FmtArgs {
    /// Change nothing; fail if a file is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}

pub(crate) fn run(workspace: &Workspace, args: FmtArgs) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "examples", "xtask"] {
        collect(&workspace.root().join(folder), &mut files)?;
    }
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).current_dir(workspace.root());
    if args.check {
        rustfmt.arg("--check");
    }
    let status = rustfmt.args(files).status().context("cannot run rustfmt")?;
    ensure!(status.success(), "rustfmt found something to change; run `cargo xtask fmt`");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name() != Some(OsStr::new("target")) {
                collect(&path, files)?;
            }
        } else if path.extension() == Some(OsStr::new("rs")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}
