//! `toolgate policy explain`: why a call is decided as it is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use toolgate_core::visible;
use toolgate_policy::Level;
use toolgate_policy::explain::{Considered, Explained, Explanation};
use toolgate_policy::rule::Mismatch;

use super::facts::{self, Known};
use super::world::{levels, reach, world};
use crate::app::App;
use crate::output::{print_pretty_json, print_text};

/// More rules about one thing than this do not fit a screen.
const MOST_RULES: usize = 5;
/// More things than this do not either.
const MOST_ASKED: usize = 4;

const USAGE: &str = "\
toolgate policy explain [OPTIONS] <TOOL> [JSON]
       toolgate policy explain [OPTIONS] -- <CMD>...";

/// Show every rule considered for a call, and the final word
///
/// Nothing is run. A command line can stand after -- instead of a tool and JSON,
/// as for `toolgate sh`.
#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE)]
pub(crate) struct ExplainArgs {
    /// Tool to explain, e.g. shell
    #[arg(required_unless_present = "command")]
    tool: Option<String>,
    /// Arguments of the call as a JSON object, or - to read them from standard input
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
    /// Command to explain: one word is a whole line, several are a program and its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["tool", "arguments"])]
    command: Vec<String>,
    /// Decide as if so much of the sandbox were there
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<Level>,
}

pub(crate) fn run(app: &App, args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let (tool, arguments) =
        facts::given(args.tool.as_deref(), args.arguments.as_deref(), &args.command)?;
    let facts = match facts::of(app, &tool, arguments)? {
        Known::Facts(facts) => facts,
        Known::Refused(reason) => {
            print_text(&format!("deny: the tool itself refuses it: {reason}"))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let explanation = app.rules.engine().explain(&facts, &world(app, args.level));
    if app.output.json {
        print_pretty_json(&explanation)?;
    } else {
        print_text(&shown(&explanation)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(explanation: &Explanation) -> Result<String, std::fmt::Error> {
    let Explanation { verdict, asked } = explanation;
    let mut text = String::new();
    writeln!(text, "{}: {}", verdict.decision, visible::line(verdict.reason()))?;
    for reason in verdict.reasons.iter().skip(1) {
        writeln!(text, "   also: {}", visible::line(reason))?;
    }
    writeln!(text, "\nmode {}, risk {}", verdict.mode, verdict.risk)?;
    if let (Some(reach), Some(level)) = (reach(verdict), verdict.level) {
        writeln!(text, "{reach}\nsandbox level {level}")?;
    }
    if let Some(rule) = &verdict.rule {
        writeln!(
            text,
            "rule {} with priority {}",
            visible::line(&rule.to_string()),
            rule.priority
        )?;
    }
    if !verdict.floors.is_empty() {
        let kinds: BTreeSet<&str> = verdict.floors.iter().map(|floor| floor.kind.name()).collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        writeln!(text, "floors that no ordinary rule lowers: {}", kinds.join(", "))?;
    }
    for risk in verdict.risks.iter().filter(|risk| !verdict.reasons.contains(&risk.message)) {
        writeln!(text, "danger, {}: {}", risk.severity, visible::line(&risk.message))?;
    }
    for explained in asked.iter().take(MOST_ASKED) {
        push_asked(&mut text, explained)?;
    }
    if asked.len() > MOST_ASKED {
        let more = asked.len() - MOST_ASKED;
        writeln!(text, "\nand {more} more things; --json shows all")?;
    }
    if let Some(judged) = &verdict.judged {
        writeln!(text, "\nwould run: {}", visible::line(judged))?;
    }
    Ok(text)
}

/// What each rule had to say about one thing: those that match, then near misses.
fn push_asked(text: &mut String, explained: &Explained) -> std::fmt::Result {
    writeln!(text, "\n{}", visible::line(&explained.about))?;
    let matching = explained.rules.iter().filter(|rule| rule.mismatch.is_none());
    let other_mode = Mismatch::Mode.to_string();
    let missing = explained
        .rules
        .iter()
        .filter(|rule| rule.mismatch.as_ref().is_some_and(|mismatch| *mismatch != other_mode));
    let mut left = explained.rules.len();
    for (number, considered) in matching.chain(missing).take(MOST_RULES).enumerate() {
        left -= 1;
        let Considered { rule, decision, mismatch } = considered;
        let verdict = match mismatch {
            None if number == 0 => "decides".to_owned(),
            None => "matches, but is weaker".to_owned(),
            Some(why) => format!("does not match: {why}"),
        };
        let rule_text = rule.to_string();
        let rule_text = visible::line(&rule_text);
        writeln!(text, "  {:<6} {decision:<5} {rule_text} {verdict}", rule.priority.to_string())?;
    }
    if explained.rules.is_empty() {
        writeln!(text, "  no rule is about it, so it asks")?;
    }
    if left > 0 {
        writeln!(text, "  and {left} more that do not match")?;
    }
    Ok(())
}
