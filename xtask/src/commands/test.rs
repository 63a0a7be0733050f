//! `cargo xtask test`: sets up peers, then runs every test, doc test and example.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use regex::Regex;

use crate::workspace::Workspace;
use crate::{peers, process};

/// Tells the interoperation tests which ripgrep to compare with.
const RIPGREP_VARIABLE: &str = "TOOLGATE_TEST_RG";
/// Tells the tests of ordinary work where pytest is.
const PYTEST_VARIABLE: &str = "TOOLGATE_TEST_PYTEST";
/// Tells the tests of notebooks where Jupyter's own library is.
const NBFORMAT_VARIABLE: &str = "TOOLGATE_TEST_NBFORMAT";

/// Run all tests, after setting up what they need
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TestArgs {
    /// Passed on to the test runner, e.g. `-- grep` or `-- --no-capture`
    #[arg(last = true, value_name = "ARGS")]
    runner_args: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, args: &TestArgs) -> Result<()> {
    run_keeping_summary(workspace, args).map(|_| ())
}

/// Runs everything and returns the closing lines of the test runner.
pub(crate) fn run_keeping_summary(workspace: &Workspace, args: &TestArgs) -> Result<Vec<String>> {
    let needed = Needed {
        ripgrep: peers::ripgrep_for_tests(workspace),
        pytest: peers::pytest_for_tests(workspace),
        nbformat: peers::nbformat_for_tests(workspace),
        npm: peers::mcp::NPM.for_tests(workspace)?,
        python: peers::mcp::PYTHON.for_tests(workspace)?,
    };
    let summary = run_tests(workspace, &needed, &args.runner_args)?;
    run_doc_tests(workspace, &needed)?;
    run_example(workspace)?;
    Ok(summary)
}

/// What tests need besides this workspace; what is missing was said aloud.
struct Needed {
    ripgrep: Option<PathBuf>,
    pytest: Option<PathBuf>,
    nbformat: Option<PathBuf>,
    npm: Option<PathBuf>,
    python: Option<PathBuf>,
}

impl Needed {
    fn pass_to(&self, command: &mut Command) {
        let named = [
            (RIPGREP_VARIABLE, &self.ripgrep),
            (PYTEST_VARIABLE, &self.pytest),
            (NBFORMAT_VARIABLE, &self.nbformat),
            (peers::mcp::NPM.variable, &self.npm),
            (peers::mcp::PYTHON.variable, &self.python),
        ];
        for (variable, path) in named {
            match path {
                Some(path) => command.env(variable, path),
                None => command.env_remove(variable),
            };
        }
    }
}

fn run_tests(
    workspace: &Workspace,
    needed: &Needed,
    runner_args: &[String],
) -> Result<Vec<String>> {
    let mut tests = if process::succeeds(&mut workspace.cargo(["nextest", "--version"])) {
        workspace.cargo(["nextest", "run", "--workspace", "--locked"])
    } else {
        eprintln!("cargo-nextest is not installed: running `cargo test` instead");
        workspace.cargo(["test", "--workspace", "--locked"])
    };
    tests.args(runner_args);
    needed.pass_to(&mut tests);
    if io::stderr().is_terminal() {
        // The runner writes to a pipe and would go without colours.
        tests.env("CARGO_TERM_COLOR", "always");
    }
    let kept = process::run_keeping(&mut tests, is_closing_line)?;
    Ok(kept.iter().map(|line| without_colours(line)).collect())
}

fn run_doc_tests(workspace: &Workspace, needed: &Needed) -> Result<()> {
    let mut doc_tests = workspace.cargo(["test", "--workspace", "--doc", "--locked"]);
    needed.pass_to(&mut doc_tests);
    process::run(&mut doc_tests)
}

fn run_example(workspace: &Workspace) -> Result<()> {
    let mut example =
        workspace.cargo(["run", "--locked", "-p", "toolgate", "--example", "custom_tool"]);
    process::run(&mut example).context("the example `custom_tool` does not run")
}

/// Whether a line sums up a run, as nextest or libtest print it.
fn is_closing_line(line: &str) -> bool {
    let line = without_colours(line);
    line.starts_with("Summary [") || line.starts_with("test result:")
}

fn without_colours(line: &str) -> String {
    let escapes = Regex::new("\x1b\\[[0-9;]*m").expect("the pattern is fixed and valid");
    escapes.replace_all(line, "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_the_closing_lines_of_both_runners() {
        let nextest = "     Summary [   0.006s] 3 tests run: 3 passed, 0 skipped";
        assert!(is_closing_line(nextest));
        assert!(is_closing_line("test result: ok. 3 passed; 0 failed"));
        assert!(is_closing_line("\x1b[32;1m     Summary\x1b[0m [   0.006s] 3"));
        assert!(!is_closing_line("        PASS [   0.004s] xtask peers::tests::x"));
    }

    #[test]
    fn strips_colours_and_margins() {
        assert_eq!(without_colours("\x1b[32;1m   Summary\x1b[0m [ 1s]"), "Summary [ 1s]");
    }
}
