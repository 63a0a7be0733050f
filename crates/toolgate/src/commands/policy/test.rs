//! `toolgate policy test`: expectations of a policy, checked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;
use toolgate_core::visible;
use toolgate_policy::{Decision, Level, Verdict};

use super::check;
use super::world::levels;
use crate::app::App;
use crate::exit::UsageError;
use crate::input;
use crate::output::{print_json, print_text};

/// Check a policy against files of expected decisions
///
/// A file holds cases such as
///
///   [[case]]
///   tool = "shell"
///   args = { command = "npm test && rm -rf /" }
///   expect = "ask"
///
/// where several decisions may be expected as a list.
///
/// Nothing is run. Ends with 0 when every case came out as expected, with 1
/// otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    /// Files with cases, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How much of the sandbox is there
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Namespaces, value_parser = levels())]
    level: Level,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(default)]
    case: Vec<toml::Spanned<Case>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Option<String>,
    tool: String,
    #[serde(default = "no_arguments")]
    args: Value,
    expect: Expected,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    One(Decision),
    Several(Vec<Decision>),
}

impl Expected {
    fn covers(&self, decision: Decision) -> bool {
        match self {
            Self::One(expected) => *expected == decision,
            Self::Several(expected) => expected.contains(&decision),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::One(expected) => expected.to_string(),
            Self::Several(expected) => {
                expected.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

pub(crate) fn run(app: &App, args: &TestArgs) -> anyhow::Result<ExitCode> {
    let mut passed = 0_usize;
    let mut failed = 0_usize;
    for file in &args.files {
        let text = input::file(file)?;
        for case in parse(file, &text)?.case {
            let line = text.get(..case.span().start).unwrap_or_default().lines().count() + 1;
            let case = case.into_inner();
            let verdict = check::verdict(app, &case.tool, case.args.clone(), Some(args.level))?;
            if case.expect.covers(verdict.decision) {
                passed += 1;
                continue;
            }
            failed += 1;
            report(app, file, line, &case, &verdict)?;
        }
    }
    if app.output.json {
        print_json(&serde_json::json!({ "passed": passed, "failed": failed }))?;
    } else {
        print_text(&format!("{passed} as expected, {failed} not"))?;
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn parse(file: &Path, text: &str) -> anyhow::Result<Cases> {
    let cases: Cases = toml::from_str(text).map_err(|error| {
        UsageError(format!("{}: {}", file.display(), error.to_string().trim_end()))
    })?;
    if cases.case.is_empty() {
        let message = format!("{}: there are no cases; write `[[case]]`", file.display());
        return Err(UsageError(message).into());
    }
    Ok(cases)
}

fn report(
    app: &App,
    file: &Path,
    line: usize,
    case: &Case,
    verdict: &Verdict,
) -> anyhow::Result<()> {
    let place = format!("{}:{line}", file.display());
    if app.output.json {
        return print_json(&serde_json::json!({
            "place": place, "name": case.name, "tool": case.tool, "args": case.args,
            "expected": case.expect.shown(), "verdict": verdict,
        }));
    }
    let mut text = String::new();
    let name = case.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
    writeln!(text, "{place}:{name}")?;
    writeln!(text, "  call      {} {}", case.tool, visible::line(&case.args.to_string()))?;
    writeln!(text, "- expected  {}", case.expect.shown())?;
    writeln!(text, "+ decided   {}: {}", verdict.decision, visible::line(verdict.reason()))?;
    if let Some(rule) = &verdict.rule {
        writeln!(text, "  by        rule {rule}")?;
    }
    print_text(&text)
}
