//! `toolgate servers test`: what servers are, and which tools they have.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::tool::Tool;
use toolgate_mcp::client::Era;
use toolgate_mcp::servers::{Health, Status};

use crate::app::App;
use crate::global::GlobalArgs;
use crate::output::{one_line, print_json, print_text};

/// More of a description does not fit in a line.
const MOST: usize = 80;

pub(crate) fn run(global: &GlobalArgs, names: &[String]) -> anyhow::Result<ExitCode> {
    let app = App::for_looking(global)?;
    let named = &app.behind.named;
    for name in names {
        named.find(name)?;
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let status = app.block_on(async {
        app.behind.servers.start(wanted);
        let settled = app.behind.servers.settled(Duration::MAX);
        app.cancellation.run_until_cancelled(settled).await;
        let status = app.behind.servers.status();
        app.behind.servers.stop().await;
        status
    })?;
    let broken = named.broken().filter(|(name, _)| wanted(name));
    let broken: Vec<(String, String)> =
        broken.map(|(name, why)| (name.to_owned(), why.to_owned())).collect();
    let tested: Vec<Status> =
        status.into_iter().filter(|status| wanted(status.name.as_str())).collect();
    let fine = broken.is_empty()
        && tested.iter().all(|status| matches!(status.health, Health::Ready { .. }));
    if global.json {
        let broken = broken
            .iter()
            .map(|(name, why)| json!({ "name": name, "ready": false, "problem": why }));
        let all = tested.iter().map(|status| as_json(status, &app)).chain(broken);
        print_json(&all.collect::<Vec<_>>())?;
    } else {
        let mut text = String::new();
        for (name, why) in &broken {
            writeln!(text, "{}: cannot be used: {}", one_line(name), one_line(why)).ok();
        }
        for status in &tested {
            write_status(&mut text, status, &app);
        }
        if text.is_empty() {
            text.push_str("There are no servers. Add one with `toolgate servers add`.\n");
        }
        print_text(&text)?;
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tools of a server, as the registry has them.
fn tools(app: &App, server: &str) -> Vec<std::sync::Arc<dyn Tool>> {
    let of = |tool: &std::sync::Arc<dyn Tool>| {
        tool.definition().origin.as_ref().is_some_and(|of| of.server == server)
    };
    app.gate.registry().list().into_iter().filter(of).collect()
}

fn era(era: Era) -> &'static str {
    match era {
        Era::Legacy => "with a handshake",
        Era::Modern => "without a handshake",
    }
}

fn write_status(text: &mut String, status: &Status, app: &App) {
    let name = status.name.as_str();
    match &status.health {
        Health::Ready { era: spoken, revision, calls_itself } => {
            writeln!(
                text,
                "{name}: ready, {}, protocol {revision} ({}), {} tools",
                one_line(calls_itself),
                era(*spoken),
                status.tools,
            )
            .ok();
        }
        Health::Starting => {
            writeln!(text, "{name}: not started in time").ok();
        }
        Health::Down(why) => {
            writeln!(text, "{name}: not there: {}", one_line(why)).ok();
        }
    }
    for tool in tools(app, name) {
        let (name, description) = (&tool.definition().name, tool.definition().description());
        let first = description.lines().next().unwrap_or_default();
        let short: String = one_line(first).chars().take(MOST).collect();
        writeln!(text, "  {name}  {short}").ok();
    }
    for refused in status.quarantined.iter() {
        writeln!(text, "  not offered: {}: {}", one_line(&refused.tool), one_line(&refused.why))
            .ok();
    }
}

fn as_json(status: &Status, app: &App) -> Value {
    let name = status.name.as_str();
    let tools = tools(app, name);
    let tools: Vec<_> = tools.iter().map(|tool| tool.definition().name.to_string()).collect();
    let refused = status.quarantined.iter();
    let refused: Vec<_> =
        refused.map(|refused| json!({ "tool": refused.tool, "why": refused.why })).collect();
    let mut shown = json!({ "name": name, "tools": tools, "not_offered": refused });
    let more = match &status.health {
        Health::Ready { revision, calls_itself, .. } => {
            json!({ "ready": true, "protocol": revision, "calls_itself": calls_itself })
        }
        Health::Starting => json!({ "ready": false, "problem": "it was not started in time" }),
        Health::Down(why) => json!({ "ready": false, "problem": why }),
    };
    if let (Value::Object(shown), Value::Object(more)) = (&mut shown, more) {
        shown.extend(more);
    }
    shown
}
