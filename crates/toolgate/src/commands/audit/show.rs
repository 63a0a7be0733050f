//! `toolgate audit show`: the life of one call.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Deserialize as _;
use serde_json::Value;
use toolgate_core::ledger::EntryKind;
use toolgate_core::visible;
use toolgate_policy::profile::Profile;
use toolgate_store::{Audit, FindCallError, Life, Record};

use super::{row, tail};
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::moment;
use crate::output::{print_json, print_text};

/// Show everything that happened to a call
///
/// With --json each entry of the ledger on a line.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Id of the call, or a beginning or an end of it that no other id has
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn run(global: &GlobalArgs, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let folder = home::state()?;
    let Some(audit) = Audit::open(&folder)? else {
        return Err(UsageError(tail::empty(&folder)).into());
    };
    let life = match audit.call(&args.id) {
        Ok(life) => life,
        Err(FindCallError::Store(error)) => return Err(error.into()),
        Err(error) => return Err(UsageError(error.to_string()).into()),
    };
    if global.json {
        life.entries.iter().try_for_each(print_json)?;
    } else {
        print_text(&visible::question(&render(&life)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn render(life: &Life) -> anyhow::Result<String> {
    let mut text = String::new();
    let Some(first) = life.entries.first() else { return Ok(text) };
    let asked = life.last(EntryKind::Requested);
    let asked_text = |name| asked.and_then(|asked| asked.text(name));
    let head = [
        ("Call", first.call.as_deref()),
        ("Session", Some(first.session.as_str())),
        ("Tool", life.tool()),
        ("What", asked_text("description")),
        ("Folder", asked_text("cwd")),
        ("Risk", asked_text("risk")),
        ("Result", Some(row::result(life))),
    ];
    for (name, value) in head {
        if let Some(value) = value {
            writeln!(text, "{name:<8} {}", visible::line(value))?;
        }
    }
    if let Some((_, arguments)) = life.arguments() {
        text.push_str("Arguments\n");
        for line in serde_json::to_string_pretty(arguments)?.lines() {
            writeln!(text, "  {line}")?;
        }
    }
    writeln!(text, "\n{}", moment::long(first.at))?;
    for entry in &life.entries {
        let since = entry.at.duration_since(first.at).as_millis();
        let after = format!("+{since} ms");
        let told = tell(entry);
        let line = format!("{after:>11}  {:<18} {}", entry.kind.name(), visible::line(&told));
        writeln!(text, "{}", line.trim_end())?;
        for detail in details(entry) {
            writeln!(text, "{:>32}{}", "", visible::line(&detail))?;
        }
    }
    Ok(text)
}

/// What an entry says, in a few words.
fn tell(entry: &Record) -> String {
    let text = |name| entry.text(name).unwrap_or_default();
    let number = |name| entry.body.get(name).and_then(Value::as_u64);
    let joined = |parts: Vec<Option<String>>| {
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    };
    match entry.kind {
        EntryKind::Requested => entry.tool.clone().unwrap_or_default(),
        EntryKind::Decided => joined(vec![
            Some(text("decision").to_owned()),
            entry.body.get("rule").filter(|rule| !rule.is_null()).map(rule),
            entry.text("mode").map(|mode| format!("mode {mode}")),
        ]),
        EntryKind::Approval => joined(vec![
            Some(text("answer").to_owned()),
            entry.text("by").map(|by| format!("by {by}")),
            number("waited_ms").map(|waited| format!("after {waited} ms")),
            entry.text("rule").map(|rule| format!("rule {rule}")),
        ]),
        EntryKind::HookChangedInput => format!("by {}", text("hook")),
        EntryKind::Interrupted => match entry.body.get("started").and_then(Value::as_bool) {
            Some(true) => "the process ended while it ran".to_owned(),
            _ => "the process ended before it ran".to_owned(),
        },
        EntryKind::Completed => joined(vec![
            number("duration_ms").map(|took| format!("took {took} ms")),
            number("chars").map(|chars| format!("{chars} bytes of text")),
        ]),
        _ => String::new(),
    }
}

/// What else an entry says, a line each.
fn details(entry: &Record) -> Vec<String> {
    let list = |name| entry.body.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut lines: Vec<String> = Vec::new();
    for reason in list("reasons").chain(list("floors")) {
        lines.push(plain(reason));
    }
    if let Some(error) = entry.body.get("error").filter(|error| !error.is_null()) {
        let part = |name| error.get(name).and_then(Value::as_str);
        lines.push(match (part("type"), part("message")) {
            (Some(kind), Some(message)) => format!("{kind}: {message}"),
            _ => plain(error),
        });
    }
    let reach = entry.body.get("reach").map(Profile::deserialize);
    lines.extend(reach.and_then(Result::ok).map(|reach| format!("it runs {reach}")));
    lines.extend(entry.text("note").map(|note| format!("note: {note}")));
    for file in list("changed") {
        let path = file.get("path").and_then(Value::as_str).unwrap_or_default();
        let is = |side| file.get(side).is_some_and(|version| !version.is_null());
        let change = match (is("before"), is("after")) {
            (false, _) => "made",
            (true, false) => "deleted",
            (true, true) => "changed",
        };
        lines.push(format!("{change} {path}"));
    }
    let cut: Vec<String> = list("shortened").map(plain).collect();
    if !cut.is_empty() {
        lines.push(format!("shortened: {}", cut.join(", ")));
    }
    lines
}

fn rule(rule: &Value) -> String {
    let part = |name| rule.get(name).and_then(Value::as_str);
    let line = rule.get("line").and_then(Value::as_u64).map(|line| format!(":{line}"));
    match (part("name"), part("source")) {
        (name, Some(source)) => {
            let place = format!("{source}{}", line.unwrap_or_default());
            name.map_or_else(|| place.clone(), |name| format!("{name} ({place})"))
        }
        (Some(name), None) => name.to_owned(),
        _ => plain(rule),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(parts) => {
            let told = ["message", "reason", "text", "name", "floor"];
            let found = told.iter().find_map(|name| parts.get(*name)?.as_str());
            found.map_or_else(|| value.to_string(), str::to_owned)
        }
        _ => value.to_string(),
    }
}
