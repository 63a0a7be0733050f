//! Tests that need a process of their own: to be measured, or to have fewer rights.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use toolgate_testing::skip;

/// Set to the name of the test in the child process that does its work.
const CHILD: &str = "TOOLGATE_TOOLS_TEST_ALONE";
/// The user without rights.
const NOBODY: u32 = 65_534;

/// Runs a test's work in a process of its own, where nothing else uses memory.
pub(crate) fn run_alone(test: &str, work: impl FnOnce()) {
    if is_child(test) {
        return work();
    }
    check(&child(test).output().unwrap());
}

/// Runs a test's work without the superuser's rights.
pub(crate) fn run_without_rights(test: &str, work: impl FnOnce()) {
    if is_child(test) || !rustix::process::geteuid().is_root() {
        return work();
    }
    match child(test).uid(NOBODY).gid(NOBODY).output() {
        Ok(output) => check(&output),
        Err(error) => {
            skip(format!("{test}: a process without root's rights cannot start: {error}"));
        }
    }
}

fn is_child(test: &str) -> bool {
    std::env::var_os(CHILD).is_some_and(|name| name == test)
}

fn child(test: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, test).current_dir("/");
    command
}

fn check(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "the child ran no test: {said}");
}

/// By how many megabytes the most memory ever used grows while something is done.
pub(crate) fn growth_in_megabytes(work: impl FnOnce()) -> u64 {
    let before = peak_kilobytes();
    work();
    (peak_kilobytes() - before) / 1024
}

fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}
