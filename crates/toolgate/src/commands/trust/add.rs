//! `toolgate trust add`: answers for a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use super::folder::{self, Presence};
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};
use crate::trust::{Brought, MEANING, Trust, record};

/// Trust a folder, the one above it, or never
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// Folder to trust, the current one when left out
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Trust the folder above it, with everything in it
    #[arg(long)]
    parent: bool,
    /// Never trust it, and stop asking
    #[arg(long, conflicts_with = "parent")]
    never: bool,
}

impl AddArgs {
    fn trust(&self) -> Trust {
        match (self.parent, self.never) {
            (true, _) => Trust::Parent,
            (_, true) => Trust::Never,
            _ => Trust::Folder,
        }
    }
}

pub(crate) fn run(global: &GlobalArgs, args: &AddArgs) -> anyhow::Result<ExitCode> {
    let folder = folder::resolve(global, args.folder.as_deref(), Presence::Needed)?;
    let config = home::config()?;
    let trust = args.trust();
    record(&config, &folder, trust)?;
    let shown = visible::path(&folder);
    if global.json {
        print_json(&json!({ "folder": shown, "trust": trust.name() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if global.quiet {
        return Ok(ExitCode::SUCCESS);
    }
    let above = visible::path(folder.parent().unwrap_or(&folder));
    let mut text = match trust {
        Trust::Folder => format!("{shown} is trusted now, with everything in it.\n"),
        Trust::Parent => format!("{above} is trusted now, with everything in it.\n"),
        Trust::Never => format!("{shown} is never trusted; nothing in its `.toolgate` is used.\n"),
    };
    if trust != Trust::Never {
        let brought = Brought::by(&folder, &config).filter(|brought| !brought.files.is_empty());
        for (index, file) in brought.iter().flat_map(Brought::shown).enumerate() {
            if index == 0 {
                text.push_str("It brings:\n");
            }
            text.push_str(&format!("  {file}\n"));
        }
        text.push_str(&format!("\n{MEANING}\nTake it back with `toolgate trust remove`.\n"));
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}
