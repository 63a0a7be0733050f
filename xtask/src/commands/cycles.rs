//! `cargo xtask cycles`: modules inside a crate form no import cycle.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::imports::{self, Cycle};
use crate::workspace::Workspace;

/// Check that modules inside a crate form no import cycle
#[derive(Debug, clap::Args)]
pub(crate) struct CyclesArgs {}

pub(crate) fn run(workspace: &Workspace, _args: &CyclesArgs) -> Result<()> {
    check(workspace)
}

/// Prints every cycle of every crate; one or more are an error.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let crates = crate_folders(workspace)?;
    let mut found = 0;
    for folder in &crates {
        let name = folder.strip_prefix(workspace.root()).unwrap_or(folder);
        for cycle in imports::find_cycles(&folder.join("src"))? {
            found += 1;
            println!("{}", render(&name.display().to_string(), &cycle));
        }
    }
    if found > 0 {
        bail!("{found} import cycle(s) between modules");
    }
    println!("no import cycles ({} crates)", crates.len());
    Ok(())
}

/// Every folder that holds a crate of the workspace, in order of name.
fn crate_folders(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let crates = workspace.root().join("crates");
    let mut folders = vec![workspace.root().join("xtask")];
    for entry in
        fs::read_dir(&crates).with_context(|| format!("cannot list {}", crates.display()))?
    {
        folders.push(entry?.path());
    }
    folders.retain(|folder| folder.join("src").is_dir());
    folders.sort();
    Ok(folders)
}

fn render(crate_name: &str, cycle: &Cycle) -> String {
    let modules: Vec<_> = cycle.modules.iter().map(|m| format!("`{m}`")).collect();
    let mut lines = vec![format!("{crate_name}: import cycle between {}", modules.join(", "))];
    for edge in &cycle.edges {
        let file = edge.file.display();
        lines.push(format!(
            "  {crate_name}/src/{file}:{}: `{}` names `{}`",
            edge.line, edge.from, edge.text
        ));
    }
    lines.push("  help: move the shared type below both\n".to_owned());
    lines.join("\n")
}
