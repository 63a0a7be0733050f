//! `toolgate audit stats`: what happened, in numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use toolgate_core::visible;
use toolgate_store::{Audit, Stats};

use super::filter::FilterArgs;
use super::{row, tail};
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};

/// How wide a line may be.
const WIDTH: usize = 80;

/// Count calls, decisions, approvals and what was asked about most
#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(global: &GlobalArgs, args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let folder = home::state()?;
    let filter = args.filter.resolve()?;
    let stats = match Audit::open(&folder)? {
        Some(audit) => audit.stats(&filter)?,
        None => Stats::default(),
    };
    if global.json {
        print_json(&stats)?;
    } else if stats == Stats::default() && args.filter.is_open() {
        print_text(&tail::empty(&folder))?;
    } else {
        print_text(&visible::question(&render(&stats)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn render(stats: &Stats) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "Calls        {}", stats.calls)?;
    section(&mut text, "Decisions", &stats.decisions)?;
    section(&mut text, "Ended", &stats.ends)?;
    writeln!(text, "Failures     {}", stats.failures)?;
    writeln!(text, "Interrupted  {}", stats.interrupted)?;
    section(&mut text, "Approvals", &stats.approvals)?;
    if let Some(waiting) = stats.waiting {
        writeln!(
            text,
            "Waiting      median {}, at most {}",
            seconds(waiting.median_ms),
            seconds(waiting.max_ms)
        )?;
    }
    if !stats.tools.is_empty() {
        text.push_str("\nCalls by tool\n");
        let mut tools: Vec<_> = stats.tools.iter().collect();
        tools.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
        for (tool, calls) in tools {
            writeln!(text, "  {calls:>6}  {}", row::cut(&visible::line(tool), WIDTH - 10))?;
        }
    }
    if !stats.asked.is_empty() {
        text.push_str("\nAsked about most, and a rule that would have answered\n");
        for asked in &stats.asked {
            let about = format!("{}: {}", asked.tool, asked.about);
            let about = row::cut(&visible::line(&about), WIDTH - 10);
            writeln!(text, "  {:>6}  {about}", asked.times)?;
            if let Some(rule) = &asked.rule {
                writeln!(text, "          {}", visible::line(rule))?;
            }
        }
    }
    Ok(text)
}

fn section(text: &mut String, name: &str, counts: &BTreeMap<String, u64>) -> std::fmt::Result {
    let each: Vec<_> =
        counts.iter().map(|(what, count)| format!("{} {count}", visible::line(what))).collect();
    if each.is_empty() { Ok(()) } else { writeln!(text, "{name:<12} {}", each.join(", ")) }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}
