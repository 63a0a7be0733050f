//! `toolgate policy replay`: past calls under other rules.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolgate_core::ledger::EntryKind;
use toolgate_core::visible;
use toolgate_policy::Verdict;
use toolgate_store::{Audit, Filter, Life, Order};

use super::check;
use crate::app::App;
use crate::global::GlobalArgs;
use crate::home;
use crate::moment;
use crate::output::{print_json, print_text};

/// Decide past calls again, and list those that come out differently
///
/// The rules are those that hold now, with what --policy names besides.
/// Nothing is run. Calls are judged in the folder they were made in, as it is
/// now. Ends with 0 whatever comes out.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// Only calls since: how long ago, such as 2h or 3d, or a date
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    since: Option<Timestamp>,
}

/// What came of it.
#[derive(Debug, Default)]
struct Count {
    judged: usize,
    different: usize,
    /// Calls that cannot be judged again.
    left_out: usize,
    /// Calls whose arguments are not in the ledger as they were.
    inexact: usize,
}

/// A past call that is decided differently now.
struct Difference<'a> {
    life: &'a Life,
    before: &'a str,
    verdict: &'a Verdict,
    /// Whether the ledger has the arguments as they were.
    exact: bool,
}

pub(crate) fn run(global: &GlobalArgs, args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let mut count = Count::default();
    // Rules are loaded even when nothing was recorded: a mistake in them is told.
    let here = App::for_looking(global)?;
    if let Some(audit) = Audit::open(&home::state()?)? {
        let mut apps = Apps { global, known: HashMap::new() };
        let filter =
            Filter { since: args.since, kinds: vec![EntryKind::Requested], ..Filter::default() };
        for asked in audit.entries(&filter, Order::OldestFirst) {
            let asked = asked?;
            let Some(call) = &asked.call else { continue };
            let life = audit.life(&asked.session, call)?;
            replay(&mut apps, &life, &mut count)?;
        }
    }
    if !here.output.json {
        print_text(&summary(&count)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn replay(apps: &mut Apps<'_>, life: &Life, count: &mut Count) -> anyhow::Result<()> {
    // What was not decided then, because a hook or a schema refused it, is not decided now.
    let (Some(before), Some(tool), Some((entry, arguments))) =
        (life.decision(), life.tool(), life.arguments())
    else {
        return Ok(());
    };
    let cwd = life.last(EntryKind::Requested).and_then(|asked| asked.text("cwd"));
    let Some(app) = cwd.and_then(|cwd| apps.find(cwd)) else {
        count.left_out += 1;
        return Ok(());
    };
    let Ok(verdict) = check::verdict(app, tool, arguments.clone(), None) else {
        count.left_out += 1;
        return Ok(());
    };
    let exact = entry.body.get("shortened").is_none() && !is_redacted(arguments);
    count.judged += 1;
    count.inexact += usize::from(!exact);
    if verdict.decision.name() != before {
        count.different += 1;
        print(app, &Difference { life, before, verdict: &verdict, exact })?;
    }
    Ok(())
}

/// One gate for each folder calls were made in.
struct Apps<'a> {
    global: &'a GlobalArgs,
    known: HashMap<String, Option<App>>,
}

impl Apps<'_> {
    fn find(&mut self, cwd: &str) -> Option<&App> {
        let global = self.global;
        let app = self.known.entry(cwd.to_owned()).or_insert_with(|| {
            let folder = PathBuf::from(cwd);
            let there = GlobalArgs { cwd: Some(folder), quiet: true, ..global.clone() };
            App::for_looking(&there).ok()
        });
        app.as_ref()
    }
}

fn is_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("[redacted"),
        Value::Array(items) => items.iter().any(is_redacted),
        Value::Object(members) => members.values().any(is_redacted),
        _ => false,
    }
}

fn print(app: &App, difference: &Difference<'_>) -> anyhow::Result<()> {
    let Difference { life, before, verdict, exact } = difference;
    let first = life.entries.first();
    let asked = life.last(EntryKind::Requested);
    let call = first.and_then(|entry| entry.call.as_deref()).unwrap_or_default();
    if app.output.json {
        return print_json(&json!({
            "call": call,
            "session": first.map(|entry| &entry.session),
            "at": life.began(),
            "tool": life.tool(),
            "args": life.arguments().map(|(_, arguments)| arguments),
            "before": before,
            "now": verdict.decision,
            "rule": verdict.rule,
            "reason": verdict.reason(),
            "exact": exact,
        }));
    }
    let when = life.began().map(moment::short).unwrap_or_default();
    let what = asked.and_then(|asked| asked.text("description")).unwrap_or_default();
    let command = life.arguments().and_then(|(_, arguments)| arguments.get("command")?.as_str());
    let what = format!("{}: {}", life.tool().unwrap_or("?"), command.unwrap_or(what));
    let mark = if *exact { "" } else { " (arguments shortened or redacted)" };
    let mut text = String::new();
    let line = format!("{when}  {before:>5} -> {:<5}  {what}{mark}", verdict.decision);
    writeln!(text, "{}", cut(&visible::question(&visible::line(&line)), 80))?;
    let why = format!("{}  {}", " ".repeat(11), verdict.reason());
    writeln!(text, "{}", cut(&visible::question(&visible::line(&why)), 80))?;
    print_text(&text)
}

fn summary(count: &Count) -> anyhow::Result<String> {
    let mut text = String::new();
    let calls = |number: usize| match number {
        1 => "1 call".to_owned(),
        many => format!("{many} calls"),
    };
    if count.judged == 0 && count.left_out == 0 {
        return Ok("No past call to decide again.\n".to_owned());
    }
    let different = match count.different {
        0 => "none comes out differently".to_owned(),
        1 => "1 comes out differently".to_owned(),
        many => format!("{many} come out differently"),
    };
    writeln!(text, "{} decided again, {different}.", calls(count.judged))?;
    if count.inexact > 0 {
        writeln!(
            text,
            "{}: arguments were shortened or redacted in the ledger, so the answer may be off.",
            calls(count.inexact)
        )?;
    }
    if count.left_out > 0 {
        writeln!(
            text,
            "{} left out: the folder or the tool is not there any more.",
            calls(count.left_out)
        )?;
    }
    Ok(text)
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}
