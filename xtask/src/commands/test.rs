//! `cargo xtask test`: sets up peers, then runs every test, doc test and example.
//!
//! All of it runs, whatever fails. The last lines say what failed, and what was skipped and why.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;
use toolgate_testing::{SKIPPED_VARIABLE, SOAK_VARIABLE};

use crate::report::Report;
use crate::workspace::Workspace;
use crate::{peers, process};

/// Tells the interoperation tests which ripgrep to compare with.
const RIPGREP_VARIABLE: &str = "TOOLGATE_TEST_RG";

/// Run all tests, after setting up what they need
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TestArgs {
    /// Passed on to the test runner, e.g. `-- grep` or `-- --no-capture`
    #[arg(last = true, value_name = "ARGS")]
    runner_args: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, args: &TestArgs) -> Result<()> {
    run_all(workspace, args)?.finish()
}

/// Runs everything, whatever fails.
///
/// # Errors
///
/// If the tests cannot be started.
pub(crate) fn run_all(workspace: &Workspace, args: &TestArgs) -> Result<Report> {
    let mut report = Report::default();
    let setup = Setup::prepare(workspace, &mut report);
    run_tests(workspace, &setup, &args.runner_args, &mut report)?;
    run_doc_tests(workspace, &setup, &mut report)?;
    run_example(workspace, &mut report)?;
    report.add_skipped(&setup.read_skipped());
    Ok(report)
}

/// Runs the tests that `filter` selects, in the language of nextest's `-E`, as long as they can.
///
/// # Errors
///
/// If the tests cannot be started.
pub(crate) fn run_soaking(workspace: &Workspace, filter: &str) -> Result<Report> {
    let mut report = Report::default();
    let mut setup = Setup::prepare(workspace, &mut report);
    setup.soaks = true;
    run_tests(workspace, &setup, &["-E".to_owned(), filter.to_owned()], &mut report)?;
    report.add_skipped(&setup.read_skipped());
    Ok(report)
}

/// The variables that tests find their peers by, and a file for the names of skipped tests.
struct Setup {
    variables: Vec<(&'static str, Option<PathBuf>)>,
    skipped: PathBuf,
    /// Tests try more.
    soaks: bool,
}

impl Setup {
    fn prepare(workspace: &Workspace, report: &mut Report) -> Self {
        let mut variables = Vec::new();
        let mut add = |variable, tests: &str, installed: Result<PathBuf>| {
            if let Err(error) = &installed {
                eprintln!("\n*** SKIPPED: {tests}: {error:#} ***\n");
                report_missing(report, tests, &format!("{error:#}"));
            }
            variables.push((variable, installed.ok()));
        };
        let ripgrep = peers::ripgrep_for_tests(workspace);
        add(RIPGREP_VARIABLE, "the tests that compare with ripgrep", ripgrep);
        for packages in [
            &peers::PYTEST,
            &peers::NBFORMAT,
            &peers::mcp::NPM,
            &peers::mcp::PYTHON,
            &peers::clients::CLIENTS,
            &peers::everyday::NPM,
            &peers::everyday::PYTHON,
        ] {
            add(packages.variable, packages.tests, packages.install(workspace));
        }
        let skipped = workspace.target().join(format!("skipped-{}.txt", std::process::id()));
        Self { variables, skipped, soaks: false }
    }

    fn pass_to(&self, command: &mut Command) {
        for (variable, path) in &self.variables {
            match path {
                Some(path) => command.env(variable, path),
                None => command.env_remove(variable),
            };
        }
        command.env(SKIPPED_VARIABLE, &self.skipped);
        if self.soaks {
            command.env(SOAK_VARIABLE, "1");
        }
    }

    /// Returns what tests reported as skipped, and removes the file.
    fn read_skipped(&self) -> String {
        let lines = fs::read_to_string(&self.skipped).unwrap_or_default();
        fs::remove_file(&self.skipped).ok();
        lines
    }
}

/// In continuous integration, a peer that cannot be installed is a failure.
fn report_missing(report: &mut Report, tests: &str, reason: &str) {
    if process::is_ci() {
        report.failed.push(format!("{tests}, which must run in CI: {reason}"));
    } else {
        report.skip(tests, reason);
    }
}

fn run_tests(
    workspace: &Workspace,
    setup: &Setup,
    runner_args: &[String],
    report: &mut Report,
) -> Result<()> {
    let common = ["--workspace", "--locked", "--no-fail-fast"];
    let mut tests = if process::succeeds(&mut workspace.cargo(["nextest", "--version"])) {
        workspace.cargo(["nextest", "run"].iter().chain(&common))
    } else {
        eprintln!("cargo-nextest is not installed: running `cargo test` instead");
        // Doc tests come later, with nextest as well.
        let targets = ["--lib", "--bins", "--tests", "--examples"];
        workspace.cargo(["test"].iter().chain(&common).chain(&targets))
    };
    tests.args(runner_args);
    run_keeping_failures("tests", tests, setup, report)
}

fn run_doc_tests(workspace: &Workspace, setup: &Setup, report: &mut Report) -> Result<()> {
    let tests = workspace.cargo(["test", "--workspace", "--doc", "--locked", "--no-fail-fast"]);
    run_keeping_failures("doc tests", tests, setup, report)
}

/// Runs a test runner and adds its closing lines and the tests that failed to the report.
fn run_keeping_failures(
    what: &str,
    mut runner: Command,
    setup: &Setup,
    report: &mut Report,
) -> Result<()> {
    setup.pass_to(&mut runner);
    if io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none() {
        // The runner writes to a pipe and would go without colours.
        runner.env("CARGO_TERM_COLOR", "always");
    }
    let kept = process::run_keeping(&mut runner, |line| {
        is_closing_line(line) || failed_test(line).is_some()
    })?;
    let (closing, failed): (Vec<_>, Vec<_>) =
        kept.lines.iter().partition(|line| is_closing_line(line));
    report.closing.extend(closing.into_iter().map(|line| without_colours(line).trim().to_owned()));
    let mut failed: Vec<String> = failed.into_iter().filter_map(|line| failed_test(line)).collect();
    failed.sort();
    failed.dedup();
    if failed.is_empty() && !kept.status.success() {
        failed.push(format!("{what}: `{}` failed: {}", process::render(&runner), kept.status));
    }
    report.failed.extend(failed);
    Ok(())
}

fn run_example(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let mut example =
        workspace.cargo(["run", "--locked", "-p", "toolgate", "--example", "custom_tool"]);
    let kept = process::run_keeping(&mut example, |_| false)?;
    if !kept.status.success() {
        report.failed.push(format!("the example `custom_tool`: {}", kept.status));
    }
    Ok(())
}

/// Returns `true` if a line sums up a run, as nextest or libtest print it. Nextest indents what
/// a test printed, in which libtest sums up as well.
fn is_closing_line(line: &str) -> bool {
    let line = without_colours(line);
    let is_empty = line.starts_with("test result: ok. 0 passed;");
    line.trim_start().starts_with("Summary [") || line.starts_with("test result:") && !is_empty
}

/// Returns the test that a line of nextest or libtest reports as failed.
fn failed_test(line: &str) -> Option<String> {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        // `FAIL [   0.004s] (1/9) crate::it name`, where a signal may stand instead of `FAIL`.
        let nextest = r" +(?:FAIL|TIMEOUT|ABORT|SIG[A-Z]+|LEAK-FAIL|XFAIL)(?: \+ LEAK)? \[[^\]]*\](?: \([^)]*\))? (?<nextest>.+)";
        let libtest = r"test (?<libtest>.+) \.\.\. FAILED";
        // `-p crate --test it`, in the list with which cargo ends.
        let target = r" +`(?<target>-p \S+ --\S+.*)`";
        Regex::new(&format!("^(?:{nextest}|{libtest}|{target})$")).expect("it is fixed and valid")
    });
    let line = without_colours(line);
    let found = FAILED.captures(&line)?;
    let name = ["nextest", "libtest", "target"].iter().find_map(|name| found.name(name))?;
    Some(name.as_str().to_owned())
}

fn without_colours(line: &str) -> String {
    static ESCAPES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("\x1b\\[[0-9;]*m").expect("it is fixed and valid"));
    ESCAPES.replace_all(line, "").trim_end().to_owned()
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
        assert!(!is_closing_line("test result: ok. 0 passed; 0 failed"));
        assert!(is_closing_line("test result: FAILED. 0 passed; 1 failed"));
        // What a test printed, as nextest shows it.
        assert!(!is_closing_line("    test result: FAILED. 0 passed; 1 failed"));
    }

    #[test]
    fn recognises_failed_tests_of_both_runners() {
        for (line, name) in [
            ("        FAIL [   0.004s] (1/9) toolgate::it a::b", "toolgate::it a::b"),
            ("        FAIL [   0.004s] xtask a::b", "xtask a::b"),
            ("     SIGABRT [   1.204s] (  3/900) toolgate-mcp a", "toolgate-mcp a"),
            ("\x1b[31;1m   TIMEOUT\x1b[0m [ 60.0s] (─) core::it c", "core::it c"),
            ("test table::x ... FAILED", "table::x"),
            ("    `-p toolgate-sandbox --test it`", "-p toolgate-sandbox --test it"),
        ] {
            assert_eq!(failed_test(line).as_deref(), Some(name), "{line}");
        }
        for line in [
            "        PASS [   0.004s] (1/9) toolgate::it FAIL [",
            "test a ... ok",
            "test result: FAILED. 1 passed; 1 failed",
            "thread 'a' panicked: test b ... FAILED!",
            "    test a::b ... FAILED",
        ] {
            assert_eq!(failed_test(line), None, "{line}");
        }
    }

    #[test]
    fn strips_colours() {
        assert_eq!(without_colours("\x1b[32;1m   Summary\x1b[0m [ 1s]\n"), "   Summary [ 1s]");
    }
}
