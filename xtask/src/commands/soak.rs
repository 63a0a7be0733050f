//! `cargo xtask soak NAME`: a sample of these tests runs in CI, and the whole of them here.

use anyhow::{Result, bail};

use crate::commands::test;
use crate::workspace::Workspace;

/// Run a long version of some tests; without a name, list them
#[derive(Debug, clap::Args)]
pub(crate) struct SoakArgs {
    /// Tests to run, from the list that `cargo xtask soak` prints
    name: Option<String>,
}

/// Tests that try more where `TOOLGATE_SOAK` is set.
struct Soak {
    name: &'static str,
    about: &'static str,
    /// Selects the tests, in the language of nextest's `-E`.
    filter: &'static str,
}

const SOAKS: &[Soak] = &[
    Soak {
        name: "everyday",
        about: "everyday commands, with real registries, end inside the sandbox as they do outside",
        filter: "package(toolgate) & test(/^everyday/)",
    },
    Soak {
        name: "clients",
        about: "real MCP clients read and edit files through the gate",
        filter: "package(toolgate) & test(/^clients/)",
    },
    Soak {
        name: "shell",
        about: "30,000 generated command lines do in bash what was read",
        filter: "binary(shell_differential) | binary(rendering)",
    },
    Soak {
        name: "kills",
        about: "programs are killed in the middle of writes, hundreds of times",
        filter: "package(toolgate) & test(/^killing|^keeping_processes/)",
    },
    Soak {
        name: "undo",
        about: "undo in large trees and over random changes",
        filter: "package(toolgate-store) & test(/^journal|^undo/)",
    },
];

pub(crate) fn run(workspace: &Workspace, args: &SoakArgs) -> Result<()> {
    let Some(name) = &args.name else {
        println!("{}", list());
        return Ok(());
    };
    let Some(soak) = SOAKS.iter().find(|soak| soak.name == name) else {
        bail!("there is no soak `{name}`; these are known:\n{}", list());
    };
    test::run_soaking(workspace, soak.filter)?.finish()
}

fn list() -> String {
    let lines: Vec<String> =
        SOAKS.iter().map(|soak| format!("{:<10}{}", soak.name, soak.about)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_listed() {
        for soak in SOAKS {
            assert_eq!(SOAKS.iter().filter(|other| other.name == soak.name).count(), 1);
            assert!(list().contains(soak.about));
        }
    }
}
