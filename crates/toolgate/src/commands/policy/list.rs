//! `toolgate policy list`: the rules in force.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;
use toolgate_policy::rule::Rule;

use crate::app::App;
use crate::output::{print_pretty_json, print_text};

pub(crate) fn run(app: &App) -> anyhow::Result<ExitCode> {
    let rules = app.rules.engine().rules();
    if app.output.json {
        let all: Vec<_> = rules
            .iter()
            .map(|rule| {
                json!({
                    "priority": rule.priority,
                    "rule": rule.shown(),
                    "name": rule.name,
                    "decision": rule.decision,
                    "source": rule.origin.source,
                    "line": rule.origin.line,
                    "tier": rule.origin.tier,
                    "applies": rule.modes.contains(app.rules.engine().mode()),
                })
            })
            .collect();
        print_pretty_json(&json!({
            "rules": all,
            "default": "ask",
            "mode": app.rules.engine().mode(),
            "interactive": app.rules.engine().is_interactive(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown: Vec<&Rule> =
        rules.iter().filter(|rule| rule.modes.contains(app.rules.engine().mode())).collect();
    let width = shown.iter().map(|rule| rule.shown().chars().count()).max().unwrap_or(4).min(48);
    let mut text = String::new();
    writeln!(text, "{:<8}  {:<8}  {:<width$}  from", "priority", "decision", "tool")?;
    for rule in &shown {
        let about = rule.shown();
        let about = visible::line(&about);
        writeln!(
            text,
            "{:<8}  {:<8}  {about:<width$}  {}",
            rule.priority.to_string(),
            rule.decision,
            rule.origin
        )?;
    }
    let elsewhere = rules.len() - shown.len();
    writeln!(text)?;
    if elsewhere > 0 {
        writeln!(text, "{elsewhere} more hold in other modes only.")?;
    }
    writeln!(text, "Mode: {}", app.rules.engine().mode())?;
    writeln!(text, "Without a rule: ask")?;
    let interactive =
        if app.rules.engine().is_interactive() { "yes" } else { "no, what asks is refused" };
    writeln!(text, "Interactive: {interactive}")?;
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}
