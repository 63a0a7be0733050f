//! `toolgate tour`, from its first line to the empty folder it leaves.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Toolgate, finish, send_signal, stderr, stdout};
use crate::workshop::eventually;

/// Where the tour makes its folder.
fn place(toolgate: &Toolgate) -> PathBuf {
    toolgate.outside("tmp")
}

fn ready() -> Toolgate {
    let toolgate = Toolgate::new();
    fs::create_dir(place(&toolgate)).unwrap();
    toolgate
}

fn command(toolgate: &Toolgate) -> std::process::Command {
    let mut command = toolgate.command();
    command.env("TMPDIR", place(toolgate)).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
    command
}

/// Nothing is left, and nothing of the user's was touched.
fn assert_nothing_is_left(toolgate: &Toolgate) {
    for folder in [place(toolgate), toolgate.home(""), toolgate.path("")] {
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(Result::unwrap).collect();
        assert!(left.is_empty(), "{left:?}");
    }
    eventually("a process goes on", || !anybody_works_in(&place(toolgate)));
}

fn anybody_works_in(folder: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut folders = processes.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    folders.any(|cwd| cwd.starts_with(folder))
}

#[test]
fn every_step_does_what_it_says() {
    let toolgate = ready();
    let done = finish(command(&toolgate), ["tour"], Vec::new()).success();
    assert_eq!(stderr(&done), "");
    assert_nothing_is_left(&toolgate);
    let printed = stdout(&done);
    assert!(printed.contains("All 7 steps did what they say"), "{printed}");
    // Elsewhere less can be said about the sandbox.
    if !printed.contains("by namespaces") {
        return;
    }
    assert_is_in_the_readme(&printed);
    let scratch = format!("{}/toolgate-tour-\\w+", place(&toolgate).display());
    insta::with_settings!({ filters => [
        (scratch.as_str(), "SCRATCH"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[call]"),
        (r"\d\d-\d\d \d\d:\d\d  [0-9a-f]{12}", "[when]       [call]      "),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[when]"),
        (r"Head: \d+:[0-9a-f]{64}", "Head: [head]"),
        (r"\d+ tools", "[many] tools"),
        (r"Create /\S+", "Create /…"),
        (r"in \d+\.\d s", "in [time]"),
    ] }, { insta::assert_snapshot!(printed) });
}

/// The README shows the tour in short: each line of it is one that was printed.
fn assert_is_in_the_readme(printed: &str) {
    let readme = include_str!("../../../../README.md");
    let (_, shown) = readme.split_once("$ cargo run --release -- tour\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let mut rest = printed;
    for line in shown.lines().filter(|line| *line != "…" && !line.starts_with("All 7")) {
        let line = format!("{line}\n");
        let (_, after) = rest.split_once(&line).unwrap_or_else(|| panic!("not printed: {line}"));
        rest = after;
    }
}

#[test]
fn programs_get_the_whole_of_it_in_time() {
    let toolgate = ready();
    let mut command = command(&toolgate);
    // Settings and rules of the user, which would break it, take no part.
    fs::write(toolgate.outside("broken"), "").unwrap();
    command.env("TOOLGATE_HOME", toolgate.outside("broken"));
    let done = finish(command, ["tour", "--json"], Vec::new()).success();
    let report: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(report["passed"], true);
    assert!(report["duration_ms"].as_u64().unwrap() < 10_000, "{report}");
    let steps = report["steps"].as_array().unwrap();
    let names: Vec<_> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(names, ["connect", "search", "edit", "command", "attack", "undo", "ledger"]);
    for step in steps {
        assert_eq!(step["passed"], true, "{step}");
        let lines = step["lines"].as_array().unwrap();
        assert!(lines.iter().any(|line| line["checked"]["holds"] == true), "{step}");
    }
    assert_nothing_is_left(&toolgate);
}

#[test]
fn a_step_that_fails_fails_the_tour() {
    let toolgate = ready();
    // The server cannot keep records: no file may have more than a few kilobytes.
    let script = "ulimit -f 8; exec \"$0\" \"$@\"";
    let mut command = toolgate.wrapped("/bin/sh", &["-c", script]);
    command.env("TMPDIR", place(&toolgate));
    let done = finish(command, ["tour"], Vec::new()).code(1);
    let printed = stdout(&done);
    assert!(printed.contains("\nStep `connect` failed: the server did not answer"), "{printed}");
    assert!(printed.contains("The tour ends here. `toolgate doctor` shows"), "{printed}");
    assert!(!printed.contains("2. search") && !printed.contains("All "), "{printed}");
    assert_nothing_is_left(&toolgate);
}

#[test]
fn without_a_place_for_it_there_is_no_tour() {
    let toolgate = Toolgate::new();
    let done = finish(command(&toolgate), ["tour", "--json"], Vec::new()).code(1);
    let said = stderr(&done);
    assert!(said.contains("cannot make a folder in"), "{said}");
    assert!(said.contains("set `TMPDIR` to one that can be written to"), "{said}");
    assert_eq!(stdout(&done), "");
}

#[test]
fn nothing_is_left_when_it_is_interrupted() {
    for signal in [Signal::INT, Signal::TERM] {
        let toolgate = ready();
        let mut command = command(&toolgate);
        let mut child = command.arg("tour").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The next step waits for a person for a second.
        lines.find(|line| line.as_ref().unwrap().starts_with("4. command")).unwrap().unwrap();
        send_signal(&child, signal);
        let rest: Vec<_> = lines.map(Result::unwrap).collect();
        assert!(!rest.iter().any(|line| line.starts_with("All ")), "{rest:?}");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_nothing_is_left(&toolgate);
    }
}
