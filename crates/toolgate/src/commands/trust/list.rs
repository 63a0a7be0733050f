//! `toolgate trust list`: every answer.

use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};
use crate::trust::{Answers, FILE, Trust};

pub(crate) fn run(global: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let answers = Answers::load(&home::config()?.join(FILE))?;
    if global.json {
        let all = answers.entries().map(|entry| {
            json!({
                "folder": entry.given,
                "trust": entry.trust.map(Trust::name),
                "covers": visible::path(&entry.covers),
            })
        });
        print_json(&all.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for entry in answers.entries() {
        let given = visible::line(&entry.given).into_owned();
        let line = match entry.trust {
            Some(Trust::Folder) => format!("trusted  {given}"),
            Some(Trust::Parent) => {
                format!("trusted  {} (as the folder above {given})", visible::path(&entry.covers))
            }
            Some(Trust::Never) => format!("never    {given}"),
            None => format!("unknown  {given} (the answer is not understood, so not trusted)"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    if text.is_empty() {
        text.push_str("No folder is trusted. Trust this one with `toolgate trust add`.\n");
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}
