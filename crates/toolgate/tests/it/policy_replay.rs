//! `toolgate policy replay`: past calls under other rules.

use serde_json::json;
use toolgate_core::ledger::EntryKind;

use crate::audit::Recorder;
use crate::harness::{Toolgate, json_lines, stdout};

const POLICY: &str = r#"
[[rule]]
name = "builds"
tool = "shell"
command = ["npm run *"]
decision = "allow"
priority = 300

[[rule]]
tool = "write_file"
decision = "deny"
priority = 300
"#;

fn example() -> Toolgate {
    let toolgate = Toolgate::with_files(&[("team.toml", POLICY), ("a.txt", "a\n")]);
    let recorder = Recorder::new(&toolgate);
    let decide = |call: &str, decision: &str| {
        recorder.note(call, EntryKind::Decided, json!({ "decision": decision }));
        recorder.note(call, EntryKind::Completed, json!({}));
    };
    recorder.requested(&toolgate, "one", "shell", &json!({"command": "npm run build"}));
    decide("one", "ask");
    recorder.requested(&toolgate, "two", "read_file", &json!({"path": "a.txt"}));
    decide("two", "allow");
    let args = json!({"path": "b.txt", "content": "x".repeat(10_000)});
    recorder.requested(&toolgate, "three", "write_file", &args);
    decide("three", "allow");
    recorder.requested(&toolgate, "four", "no_such_tool", &json!({}));
    decide("four", "ask");
    toolgate
}

#[test]
fn only_what_comes_out_differently_is_listed() {
    let toolgate = example();
    let replay = ["policy", "replay", "--policy", "team.toml"];
    let printed = stdout(&toolgate.run(replay).success());
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d\d-\d\d \d\d:\d\d", "[moment]");
    settings.bind(|| insta::assert_snapshot!("policy_replay", printed));

    let lines = json_lines(&toolgate.run(replay.iter().chain(&["--json"])).success());
    let found: Vec<_> = lines
        .iter()
        .map(|line| json!([line["call"], line["before"], line["now"], line["exact"]]))
        .collect();
    assert_eq!(
        found,
        [json!(["one", "ask", "allow", true]), json!(["three", "allow", "deny", false])]
    );
}

#[test]
fn nothing_recorded_is_nothing_different() {
    let toolgate = Toolgate::with_files(&[("team.toml", POLICY)]);
    let replay = ["policy", "replay", "--policy", "team.toml", "--since", "1d"];
    assert_eq!(stdout(&toolgate.run(replay).success()), "No past call to decide again.\n");
}
