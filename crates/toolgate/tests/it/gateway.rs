//! Other servers behind the gate: their tools under the same rules as any other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::core::approval::Answer;
use toolgate_store::approvals::Desk;

use crate::harness::{Toolgate, json_lines};
use crate::mcp_client::{Client, text};
use crate::workshop::eventually;

/// A program that is built with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().unwrap();
    let program = built.join("examples").join(name);
    assert!(program.exists(), "`cargo build -p toolgate-mcp --examples` builds {program:?}");
    program
}

/// `[servers.NAME]` with a program that is built with the tests.
pub(crate) fn server(name: &str, program: &str, args: &[&str], more: &str) -> String {
    let program = example(program);
    format!("[servers.{name}]\ncommand = {program:?}\nargs = {args:?}\n{more}\n")
}

/// A workspace with these settings of the user.
pub(crate) fn configured(config: &str) -> Toolgate {
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    fs::write(toolgate.home("config.toml"), config).unwrap();
    toolgate
}

/// One server that behaves so.
pub(crate) fn behind(ways: &[&str], more: &str) -> Toolgate {
    configured(&server("other", "hostile", ways, more))
}

/// Answers the question that waits, in another process.
pub(crate) fn answer_elsewhere(toolgate: &Toolgate, answer: &Answer) -> Value {
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let mut found = None;
    eventually("nothing is asked", || {
        found = desk.pending().unwrap().pop();
        found.is_some()
    });
    let open = found.unwrap();
    desk.answer(open.request.id, answer, "a test").unwrap();
    serde_json::to_value(&open.request).unwrap()
}

pub(crate) fn names(client: &mut Client) -> Vec<String> {
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_of_a_server_are_listed_beside_others_and_ask() {
    // A client is asked about tools of servers only where its answers are trusted.
    let toolgate = behind(&[], "");
    let config = toolgate.home("config.toml");
    let trusting = "[approvals]\nelicitation = \"trust\"\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + trusting).unwrap();
    let mut client = Client::connect_as(&toolgate, &[], &json!({ "elicitation": {} }));
    let listed = names(&mut client);
    assert!(listed.contains(&"mcp__other__echo".to_owned()), "{listed:?}");
    assert!(listed.contains(&"read_file".to_owned()), "{listed:?}");
    let params = json!({ "name": "mcp__other__echo", "arguments": { "text": "hi" } });
    let id = client.request("tools/call", &params);
    let question = client.next_of("elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    insta::assert_snapshot!(message);
    let accept = json!({ "action": "accept", "content": { "decision": "session" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept }));
    assert_eq!(text(&client.answer(id)["result"]), r#"{"text":"hi"}"#);
    // What was granted holds for the session.
    assert_eq!(text(&client.call("mcp__other__echo", &json!({}))), "{}");
}

#[test]
fn without_anybody_to_ask_a_call_says_how_to_allow_it() {
    let toolgate = behind(&[], "");
    let mut client = Client::connect(&toolgate, &["--wait-for-approval=1"]);
    let refused = client.call("mcp__other__echo", &json!({}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("ApprovalTimeout"), "{refused}");
    assert!(refused["content"][1]["text"].as_str().unwrap().contains("toolgate approvals"));
}

#[test]
fn a_trusted_server_runs_and_single_tools_are_decided_by_themselves() {
    let toolgate =
        behind(&["shadows"], "trust = true\n[servers.other.tools]\nread_file = \"deny\"");
    let ran = toolgate.run(["call", "mcp__other__echo", r#"{"text":"hi"}"#]);
    ran.success().stdout("{\"text\":\"hi\"}\n");
    let refused = toolgate.run(["call", "mcp__other__read_file", "{}"]);
    refused.code(3);
}

#[test]
fn arguments_are_checked_before_a_server_sees_them() {
    let toolgate = behind(&[], "trust = true");
    let wrong = toolgate.run(["call", "mcp__other__echo", r#"{"text":5}"#]).code(2);
    let said = String::from_utf8_lossy(&wrong.get_output().stderr).into_owned();
    assert!(said.contains("`text` must be a string"), "{said}");
}

#[test]
fn calls_are_in_the_ledger_with_the_server() {
    let toolgate = behind(&[], "trust = true");
    toolgate.run(["call", "mcp__other__echo", "{}"]).success();
    let shown = toolgate.run(["--json", "audit", "--tool", "mcp__other__echo"]).success();
    let entries = json_lines(&shown);
    assert!(!entries.is_empty());
    toolgate.run(["audit", "verify"]).success();
}

#[test]
fn only_the_tools_that_are_wanted_are_offered() {
    let more = "enabled_tools = [\"tool-1\", \"tool-2\"]\ndisabled_tools = [\"tool-2\"]";
    let toolgate = behind(&["many=5"], more);
    let mut client = Client::connect(&toolgate, &[]);
    let of_it = |name: &String| name.starts_with("mcp__other__");
    let listed: Vec<_> = names(&mut client).into_iter().filter(of_it).collect();
    assert_eq!(listed, ["mcp__other__tool-1"]);
    let unknown = client.ask("tools/call", &json!({ "name": "mcp__other__tool-2" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn in_front_of_one_server_its_tools_go_by_their_own_names_and_rules_still_know_it() {
    let toolgate = configured(&server("other", "hostile", &["shadows"], ""));
    let policy = "[permissions]\nallow = [\"mcp__other__echo\", \"Read\"]\n";
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/mine.toml"), policy).unwrap();
    let mut client = Client::start_with(&toolgate, &["--wait-for-approval=1"], &["--no-prefix"]);
    client.initialize("2025-11-25", &json!({}));
    assert_eq!(names(&mut client), ["echo", "read_file"]);
    assert_eq!(text(&client.call("echo", &json!({ "text": "hi" }))), r#"{"text":"hi"}"#);
    // A permission for our own tool is none for a server's of the same name.
    let asked = client.call("read_file", &json!({}));
    assert!(text(&asked).contains("ApprovalTimeout"), "{asked}");
}

#[test]
fn standing_in_front_of_one_server_needs_exactly_one() {
    let two = server("one", "hostile", &[], "") + &server("two", "hostile", &[], "");
    for (config, count) in [(String::new(), "0"), (two, "2")] {
        let refused = configured(&config).run(["mcp", "--no-prefix"]).code(2);
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(said.contains(&format!("{count} are enabled")), "{said}");
    }
}

#[test]
fn servers_of_a_folder_are_used_once_it_is_trusted() {
    let toolgate = Toolgate::new();
    let program = example("hostile");
    let servers = json!({ "mcpServers": { "own": { "command": program, "trust": true } } });
    toolgate.write(".mcp.json", servers.to_string());
    let unused = toolgate.run(["--mode", "yolo", "call", "mcp__own__echo", "{}"]).failure();
    let said = String::from_utf8_lossy(&unused.get_output().stderr).into_owned();
    assert!(said.contains("not trusted"), "{said}");
    toolgate.run(["trust", "add"]).success();
    // It says itself that it is trusted, which counts for nothing.
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let id = client.begin("mcp__own__echo", &json!({}));
    answer_elsewhere(&toolgate, &Answer::Once);
    assert_eq!(client.answer(id)["result"]["isError"], false);
    toolgate.run(["--mode", "yolo", "call", "mcp__own__echo", "{}"]).success();
    toolgate.run(["call", "mcp__own__echo", "{}"]).code(4);
}

#[test]
fn servers_that_a_folder_names_later_are_not_started_until_somebody_looked() {
    let toolgate = Toolgate::with_files(&[("sub/a.txt", "x")]);
    toolgate.run(["trust", "add"]).success();
    let program = example("hostile");
    let servers = json!({ "mcpServers": { "own": { "command": program } } });
    for folder in ["", "sub/"] {
        // As a command that may write in the workspace does.
        toolgate.write(&format!("{folder}.mcp.json"), servers.to_string());
        let cwd = toolgate.path(folder);
        let flags = ["--mode", "yolo", "--cwd", cwd.to_str().unwrap()];
        let call = || {
            let mut command = toolgate.command();
            command.args(flags).args(["call", "mcp__own__echo", "{}"]);
            command.output().unwrap()
        };
        let unused = call();
        let said = String::from_utf8_lossy(&unused.stderr).into_owned();
        assert!(!unused.status.success() && said.contains("toolgate trust review"), "{said}");
        toolgate.run(["trust", "add", cwd.to_str().unwrap()]).success();
        // The first call of each tool of such a server is a person's to see.
        let said = String::from_utf8_lossy(&call().stderr).into_owned();
        assert!(said.contains("was never used before"), "{said}");
    }
}

#[test]
fn a_rule_for_one_folders_server_is_none_for_anothers() {
    let program = example("hostile");
    let policy = "[permissions]\nallow = [\"mcp__own__echo\"]\n";
    let toolgate = Toolgate::new();
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/mine.toml"), policy).unwrap();
    let servers = json!({ "mcpServers": { "own": { "command": program, "args": ["shadows"] } } });
    toolgate.write(".mcp.json", servers.to_string());
    toolgate.run(["trust", "add"]).success();
    toolgate.run(["call", "mcp__own__echo", "{}"]).code(4);
}

#[test]
fn a_denied_server_is_asked_for_nothing_at_all() {
    let toolgate = configured(&server("all", "everything", &["--legacy"], ""));
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/mine.toml"), "[permissions]\ndeny = [\"mcp__all\"]\n")
        .unwrap();
    let mut client = Client::connect(&toolgate, &[]);
    let prompt = json!({ "type": "ref/prompt", "name": "mcp__all__test_prompt_with_arguments" });
    let params = json!({ "ref": prompt, "argument": { "name": "arg1", "value": "x" } });
    for (method, params) in [
        ("completion/complete", params),
        ("resources/read", json!({ "uri": "test://static-text" })),
        ("prompts/get", json!({ "name": "mcp__all__test_simple_prompt" })),
    ] {
        let refused = client.ask(method, &params);
        assert!(refused.to_string().contains("denied by policy"), "{method}: {refused}");
    }
}

#[test]
fn what_carries_data_to_a_server_asks_and_what_it_offers_is_read() {
    let toolgate = configured(&server("all", "everything", &["--legacy"], ""));
    let mut client = Client::connect(&toolgate, &["--wait-for-approval=1"]);
    let read = client.ask("resources/read", &json!({ "uri": "test://static-text" }));
    assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    let other = client.ask("resources/read", &json!({ "uri": "test://template/my-secrets/data" }));
    assert!(other["error"]["data"]["type"] == "ApprovalTimeout", "{other}");
}

#[test]
fn a_question_of_a_server_reaches_the_client_with_its_name() {
    let toolgate = behind(&["asks"], "trust = true");
    let mut client = Client::connect_as(&toolgate, &[], &json!({ "elicitation": {} }));
    let params = json!({ "name": "mcp__other__echo", "arguments": {} });
    let id = client.request("tools/call", &params);
    let question = client.next_of("elicitation/create");
    assert_eq!(question["params"]["message"], "The server `other` asks: Sure?");
    let accept = json!({ "action": "accept", "content": { "sure": true } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept }));
    let answer = client.answer(id);
    let said = text(&answer["result"]);
    assert!(said.contains(r#""sure":true"#) && said.contains("accept"), "{said}");
}

#[test]
fn a_question_of_a_server_is_answered_by_a_person_elsewhere() {
    let toolgate = behind(&["asks"], "trust = true");
    let mut client = Client::connect(&toolgate, &[]);
    let call = |client: &mut Client| client.begin("mcp__other__echo", &json!({}));
    let id = call(&mut client);
    let args = json!({ "answer": { "sure": true } });
    let asked = answer_elsewhere(&toolgate, &Answer::Edit { args });
    assert_eq!(asked["tool"], "mcp__other__elicitation");
    assert!(asked["description"].as_str().unwrap().contains("`other`"), "{asked}");
    // What was changed is shown once more.
    answer_elsewhere(&toolgate, &Answer::Once);
    let said = client.answer(id);
    assert!(text(&said["result"]).contains(r#""sure":true"#), "{said}");
    let id = call(&mut client);
    answer_elsewhere(&toolgate, &Answer::Deny { note: None });
    let said = client.answer(id);
    assert!(text(&said["result"]).contains("decline"), "{said}");
}

#[test]
fn progress_of_a_server_reaches_the_client_in_its_own_numbers() {
    let toolgate = behind(&["progresses=3"], "trust = true");
    let mut client = Client::connect(&toolgate, &[]);
    let id = client.begin("mcp__other__echo", &json!({}));
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(client.next_of("notifications/progress")["params"].clone());
    }
    client.answer(id);
    assert_eq!(told[1]["message"], "going on", "{told:?}");
    assert_eq!(told[2]["progress"], 2.0, "{told:?}");
}

#[test]
fn nothing_of_a_server_is_left_when_toolgate_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    for (end, file) in [("close", "one"), ("kill", "two")] {
        let file = folder.path().join(file);
        let grandchild = format!("grandchild={}", file.display());
        let toolgate = behind(&[&grandchild, "ignores-end"], "trust = true");
        let mut client = Client::connect(&toolgate, &[]);
        client.call("mcp__other__echo", &json!({}));
        let id: i32 = fs::read_to_string(&file).unwrap().parse().unwrap();
        let is_there = || Path::new(&format!("/proc/{id}/stat")).exists();
        assert!(is_there());
        match end {
            "close" => client.close(),
            _ => client.child.kill().unwrap(),
        }
        client.ended();
        eventually("something is left", || !is_there());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_confined_server_writes_nowhere_else() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("written");
    let writes = format!("writes={}", file.display());
    let written = |more: &str| {
        let toolgate = behind(&[&writes], &format!("trust = true\n{more}"));
        toolgate.run(["call", "mcp__other__write", r#"{"a":1}"#]).success();
        file.exists()
    };
    assert!(!written("sandbox = \"read_only\""));
    assert!(!written("sandbox = \"workspace_write\""));
    assert!(written(""));
}
