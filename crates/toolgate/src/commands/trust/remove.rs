//! `toolgate trust remove`: takes an answer back.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use super::folder::{self, Presence};
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};
use crate::trust::{self, Answers, FILE, Standing};

pub(crate) fn run(global: &GlobalArgs, given: Option<&Path>) -> anyhow::Result<ExitCode> {
    let folder = folder::resolve(global, given, Presence::Optional)?;
    let config = home::config()?;
    let removed = trust::remove(&config, &folder)?;
    let standing = Answers::load(&config.join(FILE))?.about(&folder);
    let shown = visible::path(&folder);
    if global.json {
        let trusted = matches!(standing, Standing::Trusted(_));
        print_json(&json!({ "folder": shown, "removed": removed, "trusted": trusted }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if global.quiet {
        return Ok(ExitCode::SUCCESS);
    }
    let did = if removed { "The answer is forgotten" } else { "There was no answer to forget" };
    let now = match standing {
        Standing::Unknown => format!("{shown} is not trusted"),
        Standing::Refused(entry) => {
            format!(
                "{shown} is not trusted, because of the answer about {}",
                visible::line(&entry.given)
            )
        }
        Standing::Trusted(entry) => {
            format!(
                "{shown} is still trusted, because of the answer about {}",
                visible::line(&entry.given)
            )
        }
    };
    print_text(&format!("{did}: {now}.\n"))?;
    Ok(ExitCode::SUCCESS)
}
