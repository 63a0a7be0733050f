//! Servers that behave badly, behind the gate: each has a defined and safe outcome.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::core::approval::Answer;

use crate::gateway::{answer_elsewhere, behind, configured, names, server};
use crate::mcp_client::{Client, text};
use crate::mcp_http::{Served, Session};
use crate::workshop::{PATIENCE, eventually};

const ECHO: &str = "mcp__other__echo";

/// What a call of a trusted server that behaves so comes to.
fn called(ways: &[&str]) -> Value {
    called_within(60, ways)
}

/// The same, where the server has so many seconds to answer.
fn called_within(timeout: u32, ways: &[&str]) -> Value {
    let toolgate = behind(ways, &format!("trust = true\ntimeout = {timeout}"));
    Client::connect(&toolgate, &[]).call(ECHO, &json!({ "text": "hi" }))
}

fn failed(ways: &[&str]) -> String {
    let result = called_within(2, ways);
    assert_eq!(result["isError"], true, "{result}");
    text(&result).to_owned()
}

#[test]
fn a_server_that_prints_before_the_handshake_or_breaks_json_works() {
    for way in ["greets", "malformed", "complains", "wrong-ids", "deaf-before-greeting"] {
        assert_eq!(text(&called(&[way])), r#"{"text":"hi"}"#, "{way}");
    }
}

#[test]
fn endless_talk_holds_nobody_up_and_costs_no_memory() {
    for way in ["chatters", "floods"] {
        let toolgate = behind(&[way], "trust = true\ntimeout = 100");
        let mut client = Client::connect(&toolgate, &[]);
        client.call(ECHO, &json!({}));
        let before = resident(client.child.id());
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(text(&client.call(ECHO, &json!({ "text": "hi" }))), r#"{"text":"hi"}"#, "{way}");
        let grown = resident(client.child.id()).saturating_sub(before);
        assert!(grown < 30_000, "{way}: {grown} KB");
    }
}

/// How many kilobytes a process holds.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_result_of_100_megabytes_is_refused_and_the_server_goes_on() {
    let toolgate = behind(&["big=100000000"], "trust = true");
    let mut client = Client::connect(&toolgate, &[]);
    for _ in 0..2 {
        let result = client.call(ECHO, &json!({}));
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("larger than 64 MB"), "{}", text(&result));
    }
}

#[test]
fn content_of_unknown_kinds_is_left_out_and_the_rest_stays() {
    let result = called(&["odd-content"]);
    let texts: Vec<&str> = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    assert!(texts.contains(&r#"{"text":"hi"}"#), "{texts:?}");
    assert!(texts.contains(&"with more"), "{texts:?}");
    assert!(texts[0].contains("`hologram` was left out"), "{texts:?}");
    assert_eq!(result["structuredContent"], json!({ "a": 1 }));
}

#[test]
fn results_keep_their_metadata_but_for_that_of_the_protocol() {
    let result = called(&["odd-content"]);
    assert_eq!(result["_meta"], json!({ "x/y": [1] }));
    let blocks = result["content"].as_array().unwrap();
    let with = |text: &str| blocks.iter().find(|block| block["text"] == text).unwrap();
    assert_eq!(
        *with("with notes"),
        json!({
            "type": "text", "text": "with notes",
            "annotations": { "audience": ["user"] }, "_meta": { "x/y": 1 },
        })
    );
    assert_eq!(*with("with more"), json!({ "type": "text", "text": "with more" }));
}

#[test]
fn tools_keep_what_only_older_revisions_say_about_them() {
    for (settings, kept) in [("trust = true", json!({ "kept": true })), ("", Value::Null)] {
        let toolgate = behind(&[], settings);
        let mut client = Client::connect(&toolgate, &[]);
        let over_streams = client.ask("tools/list", &json!({}))["result"].clone();
        let served = Served::start(&toolgate, &[], &[]);
        let over_http = Session::begin(&served).ask("tools/list", &json!({}));
        for listed in [over_streams, over_http] {
            let tools = listed["tools"].as_array().unwrap();
            let echo = tools.iter().find(|tool| tool["name"] == ECHO).unwrap();
            assert_eq!(echo["execution"], json!({ "taskSupport": "optional" }), "{echo}");
            assert_eq!(echo["unheardOf"], kept, "{echo}");
            assert!(tools.iter().any(|tool| tool["name"] == "read_file"), "{listed}");
        }
    }
}

#[test]
fn a_server_that_dies_fails_its_call_and_is_started_again() {
    let toolgate = behind(&["dies"], "trust = true");
    let mut client = Client::connect(&toolgate, &[]);
    for _ in 0..3 {
        let result = client.call(ECHO, &json!({}));
        assert_eq!(result["isError"], true);
        let said = text(&result);
        assert!(said.contains("McpError"), "{said}");
        assert!(said.contains("exit code 3") && said.contains("this is how I end"), "{said}");
    }
    assert!(names(&mut client).contains(&ECHO.to_owned()));
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let begun = Instant::now();
    assert!(failed(&["never-answers"]).contains("no sign of life for 2 s"));
    assert!(begun.elapsed() < PATIENCE);
    // It may still hold its output elsewhere, so that nobody can tell but by waiting.
    let closed = failed(&["closes-output"]);
    assert!(closed.contains("no sign of life") || closed.contains("closed its output"), "{closed}");
}

#[test]
fn progress_gives_a_call_more_time_up_to_a_ceiling() {
    let toolgate = behind(&["progresses=25"], "trust = true\ntimeout = 4");
    let result = Client::connect(&toolgate, &[]).call(ECHO, &json!({ "text": "hi" }));
    assert_eq!(text(&result), r#"{"text":"hi"}"#);
    let toolgate = behind(&["progresses=50"], "trust = true\ntimeout = 2\nmax_timeout = 2");
    let result = Client::connect(&toolgate, &[]).call(ECHO, &json!({}));
    assert!(text(&result).contains("no result within 2 s"), "{result}");
}

#[test]
fn a_tool_that_is_said_to_do_something_else_is_asked_about_and_the_difference_is_shown() {
    let toolgate = behind(&["changes-later"], "trust = true");
    let weather = "mcp__other__weather";
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    client.call(weather, &json!({}));
    client.next_of("notifications/tools/list_changed");
    let changed = |client: &mut Client| {
        let listed = client.ask("tools/list", &json!({}));
        listed.to_string().contains("send all your files along")
    };
    eventually("the change is not listed", || changed(&mut client));
    let id = client.begin(weather, &json!({}));
    let asked = answer_elsewhere(&toolgate, &Answer::Deny { note: None });
    insta::assert_snapshot!(asked["preview"]["text"].as_str().unwrap());
    assert!(asked["reasons"].to_string().contains("something else"), "{asked}");
    assert!(asked["proposals"].is_null(), "a rule must not answer it: {asked}");
    assert_eq!(client.answer(id)["result"]["isError"], true);
    // Once somebody looked at it and let it run, it is what the tool is.
    let id = client.begin(weather, &json!({}));
    answer_elsewhere(&toolgate, &Answer::Once);
    assert_eq!(client.answer(id)["result"]["isError"], false);
    client.call(weather, &json!({}));
}

#[test]
fn what_a_tool_was_is_remembered_between_runs() {
    let toolgate = behind(&["changes"], "trust = true");
    let program = "mcp__other__weather";
    // The description changes right after the first list, so either may be the first that is used.
    let mut client = Client::connect(&toolgate, &[]);
    client.next_of("notifications/tools/list_changed");
    let listed = |client: &mut Client| client.ask("tools/list", &json!({})).to_string();
    eventually("the change is not listed", || listed(&mut client).contains("IMPORTANT"));
    assert_eq!(client.call(program, &json!({}))["isError"], false);
    drop(client);
    // Another run sees the first description again, which is not what was used.
    let outcome = toolgate.run(["--json", "call", program, "{}"]);
    let output = outcome.get_output().clone();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    if result["result"]["error"].is_null() {
        // The list was changed in time, so that it is what it was.
        return;
    }
    assert_eq!(result["result"]["error"]["type"], "ApprovalRequired", "{result}");
}

#[test]
fn a_claim_to_be_harmless_counts_for_nothing_until_a_server_is_trusted() {
    let toolgate = behind(&["claims-read-only"], "");
    let mut client = Client::connect(&toolgate, &["--wait-for-approval=1"]);
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let look = tools.iter().find(|tool| tool["name"] == "mcp__other__look").unwrap();
    assert_eq!(look["annotations"]["readOnlyHint"], false);
    let refused = client.call("mcp__other__look", &json!({}));
    assert!(text(&refused).contains("ApprovalTimeout"), "{refused}");
    toolgate.run(["--mode", "plan", "call", "mcp__other__look", "{}"]).failure();
}

#[test]
fn a_tool_named_like_another_stands_beside_it() {
    let config = server("one", "hostile", &["shadows"], "trust = true")
        + &server("two", "hostile", &["shadows"], "");
    let toolgate = configured(&config);
    let mut client = Client::connect(&toolgate, &["--wait-for-approval=1"]);
    let listed = names(&mut client);
    for name in ["read_file", "mcp__one__read_file", "mcp__two__read_file"] {
        assert!(listed.contains(&name.to_owned()), "{listed:?}");
    }
    assert!(text(&client.call("read_file", &json!({ "path": "a.txt" }))).contains("hello"));
    assert_eq!(client.call("mcp__one__read_file", &json!({}))["isError"], false);
    assert_eq!(client.call("mcp__two__read_file", &json!({}))["isError"], true);
}

#[test]
fn tools_with_odd_names_or_broken_schemas_are_left_out_alone() {
    let toolgate = behind(&["odd-names", "broken-schema"], "trust = true");
    let shown = toolgate.run(["servers", "test"]).success();
    let shown = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    insta::assert_snapshot!(shown);
}

#[test]
fn lists_without_an_end_end() {
    for way in ["repeats-cursors", "endless-pages"] {
        assert_eq!(text(&called(&[way])), r#"{"text":"hi"}"#, "{way}");
    }
}

#[test]
fn a_schema_that_takes_for_ever_holds_nobody_up() {
    let toolgate = behind(&["bombs"], "");
    let mut client = Client::connect(&toolgate, &[]);
    let begun = Instant::now();
    let listed = names(&mut client);
    // A pattern that is too large is left out at once.
    assert!(listed.contains(&"mcp__other__doubling".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"mcp__other__pattern".to_owned()), "{listed:?}");
    for _ in 0..3 {
        let refused = client.call("mcp__other__doubling", &json!({ "x": 5 }));
        assert!(text(&refused).contains("takes too long to check"), "{refused}");
    }
    assert!(client.ask("ping", &json!({}))["result"].is_object());
    assert!(begun.elapsed() < PATIENCE);
    client.close();
    client.ended();
}

#[test]
fn a_server_that_never_lists_its_tools_is_told_of() {
    let toolgate = behind(&["never-lists"], "start_timeout = 2");
    let mut client = Client::connect(&toolgate, &[]);
    let begun = Instant::now();
    let refused = client.call(ECHO, &json!({}));
    assert!(text(&refused).contains("did not list its tools within 2 s"), "{refused}");
    assert!(begun.elapsed() < PATIENCE);
}

#[test]
fn what_a_server_was_given_does_not_come_back() {
    let toolgate = behind(&["leaks"], "trust = true\nenv = { SECRET = \"k3y-of-mine\" }");
    let refused = toolgate.run(["call", ECHO, "{}"]).code(1);
    let said = crate::harness::stderr(&refused);
    assert!(said.contains("denied for [secret]") && !said.contains("k3y-of-mine"), "{said}");
}

#[test]
fn what_the_owners_files_deny_or_ask_about_holds_for_a_trusted_server() {
    for (decision, code) in [("deny", 3), ("ask", 4)] {
        let toolgate = behind(&[], "trust = true\n[servers.other.tools]\necho = \"allow\"");
        fs::create_dir_all(toolgate.home("policies")).unwrap();
        let rule = format!("[[rule]]\ntool = \"{ECHO}\"\ndecision = \"{decision}\"\n");
        fs::write(toolgate.home("policies/mine.toml"), rule).unwrap();
        toolgate.run(["call", ECHO, "{}"]).code(code);
    }
}
