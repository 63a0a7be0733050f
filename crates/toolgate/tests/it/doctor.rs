//! `toolgate doctor`: what works here, and how to fix what does not.

use std::fs;

use assert_cmd::assert::Assert;
use serde_json::{Value, json};
use toolgate_store::approvals::Desk;
use toolgate_testing::eventually;

use crate::harness::{Toolgate, finish, set_mode, stderr, stdout};

/// Runs it with a search path that is as it should be.
fn doctor(toolgate: &Toolgate, flags: &[&str]) -> Assert {
    doctor_with(toolgate, flags, &[("PATH", "/usr/bin:/bin")])
}

fn doctor_with(toolgate: &Toolgate, flags: &[&str], env: &[(&str, &str)]) -> Assert {
    let mut command = toolgate.command();
    command.envs(env.iter().copied());
    finish(command, [flags, &["doctor"]].concat(), Vec::new())
}

/// What is printed, without what differs from machine to machine.
fn shown(toolgate: &Toolgate, done: &Assert) -> String {
    assert_eq!(stderr(done), "");
    let printed = stdout(done);
    let (sandbox, rest) = printed.split_once("\n\nstore  ").unwrap();
    assert!(sandbox.starts_with("sandbox\n  "), "{sandbox}");
    let root = toolgate.home("");
    let root = root.parent().unwrap().to_str().unwrap();
    format!("store  {rest}").replace(root, "/W")
}

fn assert_shown(name: &str, toolgate: &Toolgate, done: &Assert) {
    let printed = shown(toolgate, done);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+\.\d [kMG]B", "SIZE");
    settings.add_filter(r"by `/[a-z/]*/(ba)?sh`", "by `SHELL`");
    // What the sandbox lacks on this machine is counted, too.
    settings.add_filter(r"(is|are) broken(, \d+ warnings?)?\.", "$1 broken, WARNINGS.");
    settings.bind(|| insta::assert_snapshot!(name, printed));
}

/// What `--json` says.
fn report(done: &Assert) -> Value {
    serde_json::from_str(&stdout(done)).unwrap()
}

/// The findings of a topic, each with its state.
fn findings(report: &Value, topic: &str) -> Vec<(String, String)> {
    let topics = report["topics"].as_array().unwrap();
    let topic = topics.iter().find(|found| found["topic"] == topic).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let findings = topic["findings"].as_array().unwrap();
    findings.iter().map(|finding| (text(finding, "state"), text(finding, "seen"))).collect()
}

#[test]
fn where_nothing_was_done_yet_nothing_is_broken() {
    let toolgate = Toolgate::new();
    let done = doctor(&toolgate, &[]).success();
    assert_shown("fresh", &toolgate, &done);
    assert!(!toolgate.home("state.db").exists(), "looking makes no store");
    assert!(!toolgate.home("trusted_folders.json").exists());
}

#[test]
fn where_work_was_done_nothing_is_broken() {
    let policy = "[permissions]\nallow = [\"Read\", \"Bash(ls *)\"]\n";
    let toolgate = Toolgate::with_files(&[(".toolgate/policies/team.toml", policy)]);
    fs::write(toolgate.home("config.toml"), "[ledger]\nredact = [\"tok_[a-z]+\"]\n").unwrap();
    let args = json!({ "path": "a.txt", "content": "x" });
    toolgate.call_with(&["--mode", "accept_edits"], "write_file", &args).success();
    toolgate.run(["trust", "add"]).success();
    assert_shown("used", &toolgate, &doctor(&toolgate, &[]).success());
}

#[test]
fn everything_broken_is_told_at_once() {
    let toolgate = Toolgate::with_files(&[(".toolgate/policies/team.toml", "")]);
    fs::write(toolgate.home("state.db"), "this is no database, and long enough to be read")
        .unwrap();
    fs::write(toolgate.home("config.toml"), "[ledger]\nredakt = []\n").unwrap();
    fs::create_dir(toolgate.home("policies")).unwrap();
    let rule = "[[rule]]\ntool = \"shell\"\ndecision = \"perhaps\"\n";
    fs::write(toolgate.home("policies/wrong.toml"), rule).unwrap();
    let rule = "[permissions]\nallow = [\"Reed\"]\n";
    fs::write(toolgate.home("policies/odd.toml"), rule).unwrap();
    set_mode(&toolgate.home("policies/odd.toml"), 0o666);
    let answers = json!({
        "/gone": "TRUST_FOLDER",
        "relative": "TRUST_FOLDER",
        toolgate.outside("").to_str().unwrap(): "SOMETIMES",
    });
    fs::write(toolgate.home("trusted_folders.json"), answers.to_string()).unwrap();
    let bin = toolgate.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::create_dir(toolgate.outside("shared")).unwrap();
    set_mode(&toolgate.outside("shared"), 0o777);
    let shared = toolgate.outside("shared");
    let path = format!(".:{}:{}:/usr/bin", bin.display(), shared.display());
    let env = [("PATH", path.as_str()), ("TOOLGATE_MAX_TOOL_CONCURRENCY", "many")];
    assert_shown("broken", &toolgate, &doctor_with(&toolgate, &[], &env).code(1));
}

#[test]
fn files_that_are_no_text_of_theirs_are_told_and_the_rest_is_looked_at() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("trusted_folders.json"), "{oops").unwrap();
    fs::create_dir(toolgate.home("config.toml")).unwrap();
    fs::write(toolgate.home("policies"), "not a folder").unwrap();
    let report = report(&doctor(&toolgate, &["--json"]).code(1));
    let broken = |topic: &str, words: &str| {
        let findings = findings(&report, topic);
        let found = |(state, seen): &(String, String)| state == "broken" && seen.contains(words);
        assert!(findings.iter().any(found), "{findings:?}");
    };
    broken("trust", "is not understood");
    broken("config", "cannot be read");
    assert_eq!(findings(&report, "store")[0].0, "ok");
}

#[test]
fn a_store_where_nothing_can_be_written_is_told() {
    let toolgate = Toolgate::new();
    let missing = toolgate.outside("file");
    fs::write(&missing, "").unwrap();
    let home = missing.join("home");
    let env = [("PATH", "/usr/bin"), ("TOOLGATE_HOME", home.to_str().unwrap())];
    let report = report(&doctor_with(&toolgate, &["--json"], &env).code(1));
    let (state, seen) = &findings(&report, "store")[0];
    assert_eq!(state, "broken");
    assert!(seen.contains("cannot be written to"), "{seen}");
}

#[test]
fn warnings_break_nothing() {
    let toolgate = Toolgate::with_files(&[(".toolgate/policies/team.toml", "")]);
    let report = report(&doctor_with(&toolgate, &["--json"], &[("PATH", "bin:/bin")]).success());
    assert_eq!(report["sound"], true);
    assert!(report["warnings"].as_u64().unwrap() >= 2);
    assert_eq!(findings(&report, "environment")[0].0, "warning");
    assert_eq!(findings(&report, "trust")[0].0, "warning");
}

#[test]
fn every_problem_says_what_it_means_and_what_to_do() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("config.toml"), "ledger = 1\n").unwrap();
    fs::write(toolgate.home("state.db"), "").unwrap();
    set_mode(&toolgate.home("state.db"), 0o644);
    let report = report(&doctor_with(&toolgate, &["--json"], &[("PATH", "")]).code(1));
    let level = report["sandbox"].as_str().unwrap();
    assert!(["none", "landlock", "namespaces"].contains(&level));
    let topics = report["topics"].as_array().unwrap();
    let findings = topics.iter().flat_map(|topic| topic["findings"].as_array().unwrap());
    let mut problems = 0;
    for finding in findings {
        assert!(finding["check"].is_string() && finding["seen"].is_string(), "{finding}");
        if finding["state"] != "ok" {
            problems += 1;
            assert!(finding["means"].is_string() && finding["fix"].is_string(), "{finding}");
        }
    }
    let counted = report["broken"].as_u64().unwrap() + report["warnings"].as_u64().unwrap();
    assert!(problems >= 2 && counted == problems);
}

#[test]
fn requests_that_wait_are_counted() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let mut call = toolgate.start(&["--wait-for-approval", "call", "write_file", &args]);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    eventually("nothing was asked", || !desk.pending().unwrap().is_empty());
    let report = report(&doctor(&toolgate, &["--json"]).success());
    let (state, seen) = &findings(&report, "approvals")[0];
    assert_eq!(state, "warning");
    assert!(seen.starts_with("1 request waits for an answer, the oldest for "), "{seen}");
    call.kill().unwrap();
    call.wait().unwrap();
}

#[test]
fn the_mode_in_force_is_told_with_who_set_it() {
    let toolgate = Toolgate::new();
    let mode = |flags: &[&str]| {
        let report = report(&doctor(&toolgate, &[flags, &["--json"]].concat()).success());
        findings(&report, "mode")[0].1.replace(&*toolgate.home("").to_string_lossy(), "HOME/")
    };
    assert_eq!(
        mode(&[]),
        "`default`, no policy file sets another: reading and the commands that the policy allows run, everything else asks"
    );
    fs::create_dir(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/a.toml"), "[permissions]\ndefault_mode = \"plan\"\n")
        .unwrap();
    // A workspace does not set it, trusted or not.
    toolgate.write(".toolgate/policies/b.toml", "[permissions]\ndefault_mode = \"yolo\"\n");
    toolgate.run(["trust", "add"]).success();
    assert!(mode(&[]).starts_with("`plan`, set by `HOME/policies/a.toml`: "), "{}", mode(&[]));
    assert!(mode(&["--mode", "ask"]).starts_with("`ask`, set by `--mode`: "));
}

/// A workspace that brings something of everything.
fn bringing() -> Toolgate {
    let config = "[mcp]\ntool_discovery_command = \"x\"\ntool_call_command = \"y\"\n[servers.files]\ncommand = \"z\"\n";
    Toolgate::with_files(&[
        (".toolgate/config.toml", config),
        (
            ".toolgate/policies/team.toml",
            "[permissions]\nallow = [\"Read\", \"Bash(make *)\"]\ndeny = [\"Bash(rm *)\"]\n",
        ),
        (
            ".mcp.json",
            r#"{"mcpServers": {"one": {"command": "a"}, "two": {"url": "https://x.example"}}}"#,
        ),
    ])
}

#[test]
fn what_the_workspace_brings_is_told_whether_it_is_used_or_not() {
    let toolgate = bringing();
    let seen = |toolgate: &Toolgate| -> Vec<String> {
        let report = report(&doctor(toolgate, &["--json"]).success());
        let told = findings(&report, "workspace").into_iter();
        told.map(|(state, seen)| format!("{state}: {seen}")).collect()
    };
    let files = [
        "ok: `.toolgate/config.toml`: 1 server (`files`), a command that declares tools",
        "ok: `.mcp.json`: 2 servers (`one`, `two`)",
    ];
    let policy = "ok: `.toolgate/policies/team.toml`: 3 rules (2 allow, 1 deny)";
    let not_trusted = "ok: nothing of this is used, because this folder is not trusted";
    assert_eq!(seen(&toolgate), [&files[..], &[policy, not_trusted]].concat());
    toolgate.run(["trust", "add", "--never"]).success();
    assert!(seen(&toolgate)[3].contains("because you said that this folder is not trusted"));
    toolgate.run(["trust", "add"]).success();
    // Its policies are told of where all policies are.
    let trusted = "ok: all this is used, because this folder is trusted";
    assert_eq!(seen(&toolgate), [&files[..], &[trusted]].concat());
    toolgate.write(".mcp.json", "{}");
    let changed = seen(&toolgate).pop().unwrap();
    assert!(
        changed.starts_with("warning: what this folder brings is not as you accepted it"),
        "{changed}"
    );
    let empty = Toolgate::new();
    assert_eq!(seen(&empty), ["ok: brings no settings of its own"]);
}

#[test]
fn mistakes_of_a_workspace_break_something_only_where_it_is_trusted() {
    let toolgate = Toolgate::with_files(&[
        (".toolgate/config.toml", "[mcp]\nallowd = []\n"),
        (".toolgate/policies/team.toml", "[permissions]\nalow = []\n"),
    ]);
    let told = report(&doctor(&toolgate, &["--json"]).success());
    let told = findings(&told, "workspace");
    assert!(
        told[0].1.starts_with(".toolgate/config.toml: line 2, column 1: unknown field `allowd`"),
        "{told:?}"
    );
    assert!(
        told[1].1.starts_with(".toolgate/policies/team.toml:2:1: unknown key `alow`"),
        "{told:?}"
    );
    assert_eq!((told[0].0.as_str(), told[1].0.as_str()), ("warning", "warning"));
    toolgate.run(["trust", "add"]).success();
    let told = report(&doctor(&toolgate, &["--json"]).code(1));
    assert_eq!(findings(&told, "workspace")[0].0, "broken");
    assert!(findings(&told, "policies").iter().any(|(state, _)| state == "broken"));
}
