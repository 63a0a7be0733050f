//! Long results, and results with more in them than text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::harness::{
    Toolgate, call_args, finish, json_lines, lines, llm_content, set_mode, stderr, stdout,
};

/// More than `read_file` returns.
fn long_text() -> String {
    lines((1..=20_000).map(|number| format!("line {number}")))
}

fn read_long() -> Value {
    json!({ "path": "long.txt" })
}

/// Where the note of a result says the whole is.
fn whole_of(printed: &str) -> PathBuf {
    let note = printed.lines().last().unwrap();
    let (_, path) = note.split_once("the whole is in ").unwrap();
    PathBuf::from(path.strip_suffix(']').unwrap())
}

#[test]
fn the_whole_of_a_long_result_is_kept_beside_the_start_of_it() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let printed = stdout(&toolgate.call("read_file", &read_long()).success());
    let (kept, note) = printed.rsplit_once("\n[").unwrap();
    assert!(kept.len() <= 100_000 && kept.len() > 99_000);
    assert!(long_text().starts_with(kept) && kept.ends_with('\n'));
    let omitted = long_text().len() - kept.len();
    assert!(note.starts_with(&format!("Output truncated: {omitted} characters (")), "{note}");
    assert_eq!(fs::read_to_string(whole_of(&printed)).unwrap(), long_text());
}

#[test]
fn the_whole_is_named_after_the_call_and_nobody_else_may_read_it() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let outcome = toolgate.outcome(&[], "read_file", &read_long());
    let id = outcome["call_id"].as_str().unwrap();
    let whole = toolgate.home(&format!("results/{id}.txt"));
    assert_eq!(outcome["result"]["truncated"]["whole"], json!(whole));
    assert_eq!(fs::read_to_string(&whole).unwrap(), long_text());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&whole), mode(&toolgate.home("results"))), (0o600, 0o700));
}

#[test]
fn a_short_result_leaves_no_file() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    toolgate.call("read_file", &json!({ "path": "a.txt" })).success();
    assert!(!toolgate.home("results").exists());
}

#[test]
fn compact_keeps_five_kilobytes_of_a_file_over_ten() {
    let text: String = long_text().chars().take(11_000).collect();
    let short: String = text.chars().take(10_240).collect();
    let toolgate = Toolgate::with_files(&[("long.txt", &text), ("short.txt", &short)]);
    toolgate.call("read_file", &read_long()).success().stdout(format!("{text}\n"));
    let done = toolgate.call_with(&["--results", "compact"], "read_file", &read_long());
    let printed = stdout(&done.success());
    let kept = printed.rsplit_once("\n[").unwrap().0;
    assert!(kept.len() <= 5 * 1024 && kept.len() > 5_000 && text.starts_with(kept));
    assert_eq!(fs::read_to_string(whole_of(&printed)).unwrap(), text);
    let read_short = json!({ "path": "short.txt" });
    let done = toolgate.call_with(&["--results", "compact"], "read_file", &read_short);
    assert_eq!(stdout(&done).trim_end(), short.trim_end());
}

#[test]
fn compact_keeps_500_entries_of_a_listing_over_1000() {
    let toolgate = Toolgate::new();
    for number in 0..1_200 {
        toolgate.write(&format!("{number:04}"), "");
    }
    let list = json!({ "path": "." });
    let done = toolgate.call_with(&["--results", "compact"], "ls", &list).success();
    let printed = stdout(&done);
    assert_eq!(printed.matches("\n- ").count() + 1, 500);
    assert!(printed.contains("[Output truncated: 700 more entries omitted; the whole is in "));
    let whole = fs::read_to_string(whole_of(&printed)).unwrap();
    assert_eq!(whole, stdout(&toolgate.call("ls", &list)));
}

#[test]
fn compact_keeps_50_matches_of_over_100() {
    let toolgate = Toolgate::with_files(&[("a.txt", &"a word\n".repeat(150))]);
    let search = json!({ "pattern": "word" });
    let done = toolgate.call_with(&["--results", "compact"], "grep", &search).success();
    let printed = stdout(&done);
    assert_eq!(printed.matches("a.txt:").count(), 50);
    assert!(printed.contains("[Output truncated: 100 more matches omitted; the whole is in "));
    let whole = fs::read_to_string(whole_of(&printed)).unwrap();
    assert_eq!(whole, stdout(&toolgate.call("grep", &search)));
}

#[test]
fn no_id_leaves_the_folder_of_results() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let long = "x".repeat(1_000);
    let ids =
        ["../../x", "/tmp/x", "..", ".", "", "a/b", "a\0b", "-rf", long.as_str(), "same", "same"];
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "id": id, "tool": "read_file", "args": read_long() }))
        .collect();
    let names = |folder: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let around = toolgate.home("..");
    let before = names(&around);
    let outcomes = json_lines(&toolgate.batch(&[], &calls).success());
    for (outcome, id) in outcomes.iter().zip(ids) {
        let whole = Path::new(outcome["result"]["truncated"]["whole"].as_str().unwrap());
        assert_eq!(whole.parent(), Some(toolgate.home("results").as_path()), "{id}");
        assert_eq!(fs::read_to_string(whole).unwrap(), long_text());
    }
    assert_eq!(names(&around), before);
    let own = |name: &&std::ffi::OsString| !name.to_string_lossy().starts_with("state.db");
    let others = names(&toolgate.home("")).iter().filter(own).cloned().collect::<Vec<_>>();
    assert_eq!(others, ["ledger.head", "results", "runs"]);
    assert_eq!(names(&toolgate.home("results")).len(), ids.len());
}

/// The start of the result is there, and a note says why the whole is not.
fn assert_only_the_start_is_there(printed: &str, reason: &str) {
    assert!(printed.starts_with("line 1\nline 2\n"));
    let note = printed.lines().last().unwrap();
    let expected = format!(" omitted. The whole could not be kept: {reason}");
    assert!(note.starts_with("[Output truncated: ") && note.contains(&expected), "{note}");
}

/// Nothing ran, and a person is told why and what to do.
fn assert_nothing_ran(done: Assert, reason: &str) {
    let done = done.code(1);
    assert_eq!(stdout(&done), "");
    let printed = stderr(&done);
    assert!(printed.starts_with("error: no call runs unrecorded: cannot "), "{printed}");
    assert!(printed.contains(reason) && printed.contains("`TOOLGATE_HOME`"), "{printed}");
}

#[test]
fn nothing_runs_with_a_home_that_is_no_folder() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let mut command = toolgate.command();
    command.env("TOOLGATE_HOME", toolgate.path("long.txt"));
    let done = finish(command, call_args(&[], "read_file", &read_long()), Vec::new());
    assert_nothing_ran(done, "Not a directory");
}

#[test]
fn nothing_runs_with_a_home_that_may_not_be_written() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let command = toolgate.command_without_privileges();
    set_mode(&toolgate.home(""), 0o555);
    let done = finish(command, call_args(&[], "read_file", &read_long()), Vec::new());
    assert_nothing_ran(done, "read-only");
    set_mode(&toolgate.home(""), 0o755);
}

/// A command whose home is a disk of 1 MB, where the system lets us make one.
fn command_with_a_small_home(toolgate: &Toolgate, after: &str) -> Option<Command> {
    let in_a_shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_toolgate"));
        command.current_dir(toolgate.path("")).env("TOOLGATE_HOME", toolgate.home(""));
        command
    };
    let mount = "mount -t tmpfs -o size=1m none \"$TOOLGATE_HOME\"";
    let possible = in_a_shell(mount).output().is_ok_and(|output| output.status.success());
    possible.then(|| in_a_shell(&format!("{mount} && \"$@\"; {after}")))
}

/// Less and more than is buffered, so that the last or an earlier write fails.
fn texts_for_a_full_disk() -> [String; 2] {
    let larger = |bytes: usize| long_text().repeat(bytes / long_text().len() + 1);
    [larger(1024 * 1024), larger(4 * 1024 * 1024)]
}

#[test]
fn a_full_disk_does_not_lose_the_result() {
    for text in texts_for_a_full_disk() {
        let toolgate = Toolgate::with_files(&[("long.txt", &text)]);
        let Some(command) = command_with_a_small_home(&toolgate, "true") else {
            return;
        };
        let done = finish(command, call_args(&[], "read_file", &read_long()), Vec::new());
        assert_only_the_start_is_there(&stdout(&done.success()), "No space left on device");
    }
}

#[test]
fn a_full_disk_is_not_kept_full() {
    for text in texts_for_a_full_disk() {
        let toolgate = Toolgate::with_files(&[("long.txt", &text)]);
        let after = "ls -A \"$TOOLGATE_HOME/results\" >&2";
        let Some(command) = command_with_a_small_home(&toolgate, after) else {
            return;
        };
        let done = finish(command, call_args(&[], "read_file", &read_long()), Vec::new());
        assert_eq!(stderr(&done), "", "half a result was left behind");
    }
}

#[test]
fn an_empty_home_means_the_usual_folder() {
    let toolgate = Toolgate::with_files(&[("long.txt", &long_text())]);
    let whole = |command: Command| {
        let done = finish(command, call_args(&[], "read_file", &read_long()), Vec::new());
        whole_of(&stdout(&done.success()))
    };
    let mut command = toolgate.command();
    command.env("TOOLGATE_HOME", "");
    assert!(whole(command).starts_with(toolgate.outside(".local/state/toolgate/results")));
    let mut command = toolgate.command();
    command.env_remove("TOOLGATE_HOME").env("XDG_STATE_HOME", toolgate.outside("state"));
    assert!(whole(command).starts_with(toolgate.outside("state/toolgate/results")));
}

/// Nothing that a terminal would obey.
fn assert_harmless(text: &str) {
    let obeyed = text.chars().find(|letter| letter.is_control() && !"\n\t".contains(*letter));
    assert_eq!(obeyed, None, "{text:?}");
}

#[test]
fn escapes_in_contents_are_shown() {
    let odd = "\u{1b}[31mred\u{1b}[0m\u{7}\u{8}\u{9b}2J\u{1b}]0;title\u{7}\rover\u{7f}\n";
    let shown = r"\x1b[31mred\x1b[0m\x07\x08\x9b2J\x1b]0;title\x07\rover\x7f";
    let toolgate = Toolgate::with_files(&[("a.txt", odd)]);
    let calls = [
        ("read_file", json!({ "path": "a.txt" })),
        ("read_many_files", json!({ "paths": ["a.txt"] })),
        ("grep", json!({ "pattern": "red" })),
    ];
    for (tool, args) in calls {
        let printed = stdout(&toolgate.call(tool, &args).success());
        assert_harmless(&printed);
        assert!(printed.contains(shown), "{tool}: {printed}");
        assert_eq!(llm_content(&toolgate.outcome(&[], tool, &args)), printed);
    }
}

#[test]
fn escapes_in_the_whole_of_a_long_result_are_shown_too() {
    let toolgate = Toolgate::with_files(&[("long.txt", &"\u{1b}[31mred\n".repeat(20_000))]);
    let printed = stdout(&toolgate.call("read_file", &read_long()).success());
    assert_harmless(&printed);
    assert_harmless(&fs::read_to_string(whole_of(&printed)).unwrap());
}

#[test]
fn escapes_in_names_are_shown() {
    let toolgate = Toolgate::new();
    let name = "\u{1b}[31mred\nline\ttab.txt";
    let shown = r"\x1b[31mred\nline\ttab.txt";
    toolgate.write(name, "a word\n");
    let edit = json!({ "path": name, "edits": [{ "target": "word", "replacement": "w" }] });
    let calls = [
        ("ls", json!({ "path": "." })),
        ("glob", json!({ "pattern": "*.txt" })),
        ("grep", json!({ "pattern": "word" })),
        ("read_many_files", json!({ "paths": ["*.txt"] })),
        ("write_file", json!({ "path": name, "content": "a word\n", "overwrite": true })),
        ("edit_file", edit),
    ];
    for (tool, args) in calls {
        let done = toolgate.call_with(&["--mode", "yolo"], tool, &args).success();
        assert_harmless(&stdout(&done));
        assert!(stdout(&done).contains(shown), "{tool}: {}", stdout(&done));
    }
}

#[test]
fn names_that_are_no_text_are_shown() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.path("").join(OsStr::from_bytes(b"odd\xff.txt")), "a word\n").unwrap();
    for (tool, args) in [
        ("ls", json!({ "path": "." })),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "word" })),
    ] {
        toolgate.call(tool, &args).success().stdout(contains(r"odd\xff.txt"));
    }
}

#[test]
fn escapes_in_errors_are_shown() {
    let toolgate = Toolgate::new();
    let odd = "\u{1b}[31mred\n";
    let calls = [
        ("read_file", json!({ "path": odd })),
        ("read_file", json!({ "path": "a", odd: 1 })),
        ("grep", json!({ "pattern": "x", "directory": odd })),
        ("glob", json!({ "pattern": format!("{odd}[") })),
        ("write_file", json!({ "path": odd, "content": "" })),
        (odd, json!({})),
    ];
    for (tool, args) in calls {
        let done = toolgate.call(tool, &args).failure();
        assert_harmless(&stderr(&done));
        done.stderr(contains(r"\x1b[31mred").or(contains("it changes files")));
        let outcome = toolgate.outcome(&[], tool, &args);
        assert_harmless(outcome["tool"].as_str().unwrap());
        assert_harmless(outcome["result"]["error"]["message"].as_str().unwrap());
        assert_harmless(llm_content(&outcome));
    }
}
