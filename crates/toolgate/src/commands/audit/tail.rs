//! `toolgate audit tail`: what happened last.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use toolgate_store::{Audit, Filter, Order, Record};

use super::filter::FilterArgs;
use super::row;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};

const LIMIT: usize = 20;

/// How often what follows is looked for.
const PACE: Duration = Duration::from_millis(200);

/// List the last calls
///
/// A line for each call. With --json a line for each entry of the ledger:
/// {"seq","at","session","call","kind","tool","body","hash"}.
#[derive(Debug, clap::Args)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// How many calls to list, 20 when left out; with --json how many entries
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// Go on with what happens from now on; calls are listed when they end
    #[arg(long, short)]
    follow: bool,
}

impl TailArgs {
    /// Flags in front of another subcommand would be ignored.
    pub(super) fn refuse_before_subcommand(&self) -> Result<(), UsageError> {
        if self.filter.is_open() && self.limit.is_none() && !self.follow {
            return Ok(());
        }
        Err(UsageError("put the flags of `toolgate audit` behind the subcommand".to_owned()))
    }
}

pub(crate) fn run(global: &GlobalArgs, args: &TailArgs) -> anyhow::Result<ExitCode> {
    let folder = home::state()?;
    let filter = args.filter.resolve()?;
    let limit = args.limit.unwrap_or(LIMIT);
    let audit = Audit::open(&folder)?;
    let last = match &audit {
        Some(audit) => Some(audit.head()?.seq()),
        None => None,
    };
    match &audit {
        Some(audit) if global.json => print_entries(audit, &filter, limit)?,
        Some(audit) => print_calls(audit, &filter, limit, &folder)?,
        None if global.json => {}
        None => print_text(&empty(&folder))?,
    }
    if args.follow {
        let after = i64::try_from(last.unwrap_or_default()).unwrap_or(i64::MAX);
        follow(global, &folder, Filter { after: Some(after), ..filter })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said where nothing was ever recorded.
pub(super) fn empty(folder: &Path) -> String {
    let folder = toolgate_core::visible::path(folder);
    format!("Nothing is recorded in {folder} yet; `toolgate call` is a way to begin.")
}

fn print_entries(audit: &Audit, filter: &Filter, limit: usize) -> anyhow::Result<()> {
    let mut entries =
        audit.entries(filter, Order::NewestFirst).take(limit).collect::<Result<Vec<_>, _>>()?;
    entries.reverse();
    entries.iter().try_for_each(print_json)
}

fn print_calls(audit: &Audit, filter: &Filter, limit: usize, folder: &Path) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for entry in audit.entries(filter, Order::NewestFirst) {
        if rows.len() >= limit {
            break;
        }
        let entry = entry?;
        match &entry.call {
            None => rows.push(row::of_entry(&entry)),
            Some(call) if seen.insert((entry.session.clone(), call.clone())) => {
                rows.push(row::of_call(&audit.life(&entry.session, call)?));
            }
            Some(_) => {}
        }
    }
    if rows.is_empty() && limit > 0 {
        let nothing = match audit.head()?.seq() {
            0 => empty(folder),
            _ => "Nothing that was recorded is like that.".to_owned(),
        };
        return print_text(&nothing);
    }
    rows.push(row::titles());
    rows.reverse();
    print_text(&rows.concat())
}

/// Prints what happens until nobody reads it any more.
fn follow(global: &GlobalArgs, folder: &Path, mut filter: Filter) -> anyhow::Result<()> {
    let mut audit = None;
    loop {
        thread::sleep(PACE);
        if audit.is_none() {
            audit = Audit::open(folder)?;
        }
        let Some(audit) = &audit else { continue };
        for entry in audit.entries(&filter.clone(), Order::OldestFirst) {
            let entry = entry?;
            filter.after = Some(entry.seq);
            let line = if global.json {
                Some(serde_json::to_string(&entry)? + "\n")
            } else {
                followed(audit, &entry)?
            };
            let Some(line) = line else { continue };
            let mut stdout = std::io::stdout().lock();
            if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
                return Ok(());
            }
        }
    }
}

fn followed(audit: &Audit, entry: &Record) -> anyhow::Result<Option<String>> {
    Ok(match &entry.call {
        None => Some(row::of_entry(entry)),
        Some(call) if entry.kind.is_end() => Some(row::of_call(&audit.life(&entry.session, call)?)),
        Some(_) => None,
    })
}
