//! `toolgate trust status`: whether a folder is trusted, and why.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use super::folder::{self, Presence};
use crate::config;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};
use crate::trust::{Answers, Brought, FILE, MEANING, Review, Standing, Trust};

pub(crate) fn run(global: &GlobalArgs, given: Option<&Path>) -> anyhow::Result<ExitCode> {
    let folder = folder::resolve(global, given, Presence::Needed)?;
    let config = home::config()?;
    let standing = Answers::load(&config.join(FILE))?.about(&folder);
    let brought = Brought::by(&folder, &config);
    let is_trusted = matches!(standing, Standing::Trusted(_));
    let review = is_trusted.then(|| config::load().map(|user| Review::of(&folder, &config, &user)));
    let waiting: Vec<String> = review
        .transpose()?
        .map(|review| review.differences.into_iter().map(|one| one.file).collect())
        .unwrap_or_default();
    if global.json {
        let entry = match &standing {
            Standing::Trusted(entry) | Standing::Refused(entry) => Some(entry),
            Standing::Unknown => None,
        };
        print_json(&json!({
            "folder": visible::path(&folder),
            "trusted": matches!(standing, Standing::Trusted(_)),
            "answer": entry.map(|entry| json!({
                "folder": entry.given,
                "trust": entry.trust.map(Trust::name),
            })),
            "brings": brought.map(|brought| brought.files).unwrap_or_default(),
            "waiting": waiting,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = visible::path(&folder);
    let mut text = match &standing {
        Standing::Unknown => format!("{shown} is not trusted: nobody has answered yet.\n"),
        Standing::Trusted(entry) | Standing::Refused(entry) => {
            let given = visible::line(&entry.given);
            let verb = if matches!(standing, Standing::Trusted(_)) { "is" } else { "is not" };
            let because = match entry.trust {
                Some(Trust::Parent) => format!("the folder above {given} is"),
                Some(Trust::Never) if entry.covers == folder => "you said never".to_owned(),
                Some(Trust::Never) => format!("{given} is never to be"),
                Some(Trust::Folder) if entry.covers == folder => "you said so".to_owned(),
                Some(Trust::Folder) => format!("{given} is"),
                None => format!("the answer about {given} is not understood"),
            };
            format!("{shown} {verb} trusted: {because}.\n")
        }
    };
    text.push_str(&brings(brought.as_ref(), matches!(standing, Standing::Trusted(_))));
    if !waiting.is_empty() {
        text.push_str("Not as you accepted it, and waiting for `toolgate trust review`:\n");
        for file in &waiting {
            text.push_str(&format!("  {}\n", visible::question(&visible::line(file))));
        }
    }
    text.push_str(&format!("\n{MEANING}\n"));
    if standing == Standing::Unknown {
        text.push_str(
            "Trust it with `toolgate trust add`, or never with `toolgate trust add --never`.\n",
        );
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What the folder brings, for people.
fn brings(brought: Option<&Brought>, trusted: bool) -> String {
    let Some(brought) = brought.filter(|brought| !brought.files.is_empty()) else {
        return "It brings no settings of its own.\n".to_owned();
    };
    let verb = if trusted { "brings" } else { "would bring" };
    let mut text = format!("It {verb}:\n");
    for file in brought.shown() {
        text.push_str(&format!("  {file}\n"));
    }
    text
}
