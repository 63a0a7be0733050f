//! `cargo xtask ci`: everything that must hold before a change lands.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::commands::fmt::FmtArgs;
use crate::commands::{cycles, fmt, test};
use crate::process;
use crate::workspace::Workspace;

/// Run every check, stopping at the first that fails
#[derive(Debug, clap::Args)]
pub(crate) struct CiArgs {}

pub(crate) fn run(workspace: &Workspace, _args: &CiArgs) -> Result<()> {
    let mut finished: Vec<Finished> = Vec::new();
    for step in STEPS {
        let step = run_step(step, workspace);
        let has_failed = step.outcome.error.is_some();
        finished.push(step);
        if has_failed {
            break;
        }
    }
    println!("\n{}", render_summary(&finished));
    for step in &finished {
        print!("{}", step.outcome.closing);
    }
    match finished.into_iter().find_map(|step| step.outcome.error) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

struct Step {
    name: &'static str,
    /// What to type to run this step alone.
    alone: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
}

const STEPS: &[Step] = &[
    Step { name: "format", alone: "cargo xtask fmt --check", run: check_format },
    Step {
        name: "clippy",
        alone: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        run: check_lints,
    },
    Step { name: "cycles", alone: "cargo xtask cycles", run: check_cycles },
    Step { name: "test", alone: "cargo xtask test", run: run_tests },
    Step {
        name: "docs",
        alone: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked",
        run: build_docs,
    },
    Step {
        name: "deny",
        alone: "cargo deny --offline check licenses bans sources",
        run: check_dependencies,
    },
];

/// The result of a step.
#[derive(Default)]
struct Outcome {
    skipped: bool,
    /// Printed after the last step.
    closing: String,
    error: Option<anyhow::Error>,
}

struct Finished {
    name: &'static str,
    took: Duration,
    outcome: Outcome,
}

fn run_step(step: &Step, workspace: &Workspace) -> Finished {
    println!("\n=== {}: {}", step.name, step.alone);
    let start = Instant::now();
    let outcome = (step.run)(workspace);
    let mut outcome =
        outcome.unwrap_or_else(|error| Outcome { error: Some(error), ..Outcome::default() });
    let advice = format!("step `{}` failed; run it alone with `{}`", step.name, step.alone);
    outcome.error = outcome.error.map(|error| error.context(advice));
    let took = start.elapsed();
    println!("=== {}: {:.1} s", step.name, took.as_secs_f64());
    Finished { name: step.name, took, outcome }
}

fn check_format(workspace: &Workspace) -> Result<Outcome> {
    fmt::run(workspace, FmtArgs { check: true })?;
    Ok(Outcome::default())
}

fn check_lints(workspace: &Workspace) -> Result<Outcome> {
    let mut clippy = workspace.cargo(["clippy", "--workspace", "--all-targets", "--locked"]);
    process::run(clippy.args(["--", "-D", "warnings"]))?;
    Ok(Outcome::default())
}

fn check_cycles(workspace: &Workspace) -> Result<Outcome> {
    cycles::check(workspace)?;
    Ok(Outcome::default())
}

fn run_tests(workspace: &Workspace) -> Result<Outcome> {
    let report = test::run_all(workspace, &test::TestArgs::default())?;
    let failed = report.failed.len();
    let error = (failed > 0).then(|| anyhow!("{failed} failed"));
    Ok(Outcome { skipped: false, closing: format!("\n{report}"), error })
}

fn build_docs(workspace: &Workspace) -> Result<Outcome> {
    let mut docs = workspace.cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    process::run(docs.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::default())
}

fn check_dependencies(workspace: &Workspace) -> Result<Outcome> {
    if !process::succeeds(&mut workspace.cargo(["deny", "--version"])) {
        println!("\n*** skipped: cargo-deny is not installed (cargo install cargo-deny) ***\n");
        return Ok(Outcome { skipped: true, ..Outcome::default() });
    }
    let mut deny = workspace.cargo(["deny", "--offline", "check"]);
    process::run(deny.args(["licenses", "bans", "sources"]))?;
    Ok(Outcome::default())
}

fn render_summary(finished: &[Finished]) -> String {
    let mut lines = vec![format!("{:<10}{:>9}", "step", "seconds")];
    for step in finished {
        let seconds = step.took.as_secs_f64();
        let note = match &step.outcome {
            Outcome { error: Some(_), .. } => "  failed",
            Outcome { skipped: true, .. } => "  skipped",
            Outcome { .. } => "",
        };
        lines.push(format!("{:<10}{seconds:>9.1}{note}", step.name));
    }
    let total: Duration = finished.iter().map(|step| step.took).sum();
    lines.push(format!("{:<10}{:>9.1}", "total", total.as_secs_f64()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_lists_steps_in_order_and_marks_skipped_and_failed_ones() {
        let finished = [
            Finished {
                name: "format",
                took: Duration::from_millis(1200),
                outcome: Outcome::default(),
            },
            Finished {
                name: "deny",
                took: Duration::from_millis(40),
                outcome: Outcome { skipped: true, ..Outcome::default() },
            },
            Finished {
                name: "test",
                took: Duration::from_secs(2),
                outcome: Outcome { error: Some(anyhow!("1 failed")), ..Outcome::default() },
            },
        ];
        assert_eq!(
            render_summary(&finished),
            "step        seconds\n\
             format          1.2\n\
             deny            0.0  skipped\n\
             test            2.0  failed\n\
             total           3.2"
        );
    }
}
