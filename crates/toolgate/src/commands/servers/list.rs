//! `toolgate servers list`: the servers and where each is named.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use crate::app::App;
use crate::global::GlobalArgs;
use crate::output::{one_line, print_json, print_text};
use crate::servers::{Origin, Prepared};

pub(crate) fn run(global: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let app = App::for_looking(global)?;
    let servers = &app.behind.named.all;
    if global.json {
        let all = servers.iter().map(|server| {
            json!({
                "name": server.name,
                "way": server.way,
                "named_in": visible::path(&server.file),
                "origin": origin(server.origin),
                "enabled": server.config.is_enabled(),
                "trust": server.config.trust,
                "problem": server.entry.as_ref().err(),
            })
        });
        print_json(&all.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if servers.is_empty() {
        print_text(
            "There are no servers. Add one with `toolgate servers add NAME -- COMMAND`, or `--url URL`.\n",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = servers.iter().map(|server| server.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for server in servers {
        let name = one_line(&server.name);
        writeln!(text, "{name:width$}  {}{}", one_line(&server.way), remarks(server)).ok();
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Workspace => "workspace",
    }
}

/// What is worth knowing about a server, in brackets.
fn remarks(server: &Prepared) -> String {
    let mut remarks = Vec::new();
    if let Err(why) = &server.entry {
        remarks.push(format!("cannot be used: {}", one_line(why)));
    }
    if !server.config.is_enabled() {
        remarks.push("not enabled".to_owned());
    }
    if server.config.trust {
        remarks.push("trusted".to_owned());
    }
    if server.origin == Origin::Workspace {
        let file = server.file.file_name().unwrap_or_default().to_string_lossy();
        remarks.push(format!("from {} of this workspace", one_line(&file)));
    }
    if remarks.is_empty() { String::new() } else { format!("  ({})", remarks.join("; ")) }
}
