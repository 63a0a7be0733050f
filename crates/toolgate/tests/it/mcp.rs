//! `toolgate mcp`: what a client meets on standard input and output.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Toolgate, json_lines, send_signal, stdout};
use crate::mcp_client::{Client, text};
use crate::workshop::{PATIENCE, eventually, processes, unique_sleep};

fn names(client: &mut Client) -> Vec<String> {
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_handshake_says_who_serves_and_what_it_can_do() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let about = client.initialize("2025-11-25", &json!({}));
    let root = toolgate.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let filters = [(root.as_str(), "WORKSPACE")];
    insta::with_settings!({ filters => filters }, {
        insta::assert_json_snapshot!(about, { ".serverInfo.version" => "…" });
    });
}

#[test]
fn the_version_a_client_asks_for_is_spoken_where_it_is_known() {
    let toolgate = Toolgate::new();
    let negotiated = |asked: &str| {
        let about = Client::start(&toolgate, &[]).initialize(asked, &json!({}));
        about["protocolVersion"].as_str().unwrap().to_owned()
    };
    for known in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(negotiated(known), known);
    }
    // The revision after it has no handshake, so that an older one must be named.
    assert_eq!(negotiated("2026-07-28"), "2025-11-25");
    assert_eq!(negotiated("1999-01-01"), "2025-11-25");
}

#[test]
fn every_tool_is_listed_on_one_page_as_the_schemas_say() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &[]);
    let listed = client.ask("tools/list", &json!({}))["result"].clone();
    assert!(listed["nextCursor"].is_null());
    let schemas = toolgate.run(["tools", "schema", "--format", "mcp"]).success();
    let schemas: Value = serde_json::from_str(&stdout(&schemas)).unwrap();
    assert_eq!(listed["tools"], schemas);
    let listed = listed["tools"].as_array().unwrap();
    for tool in listed {
        assert!(!tool["title"].as_str().unwrap().is_empty(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let hints = |name: &str| {
        let tool = listed.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"].clone()
    };
    assert_eq!(hints("read_file")["readOnlyHint"], true);
    assert_eq!(hints("shell")["readOnlyHint"], false);
    assert_eq!(hints("shell")["destructiveHint"], true);
    assert_eq!(hints("write_file")["destructiveHint"], false);
}

#[test]
fn tools_go_by_the_names_of_a_dialect() {
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let mut client = Client::connect(&toolgate, &["--dialect", "claude"]);
    let names = names(&mut client);
    for name in ["Read", "Edit", "Bash", "Glob", "delete_file"] {
        assert!(names.iter().any(|listed| listed == name), "{name} in {names:?}");
    }
    assert!(names.is_sorted());
    let path = toolgate.path("a.txt");
    assert_eq!(text(&client.call("Read", &json!({ "file_path": path }))), "hello\n");
    let wrong = client.call("Read", &json!({ "path": path }));
    assert!(text(&wrong).contains("missing parameter `file_path`"), "{wrong}");
}

#[test]
fn tools_that_never_run_are_not_listed() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &["--exclude-tools", "Bash,delete_file"]);
    let names = names(&mut client);
    assert!(names.contains(&"read_file".to_owned()));
    assert!(!names.contains(&"shell".to_owned()) && !names.contains(&"delete_file".to_owned()));
    let result = client.call("shell", &json!({ "command": "ls" }));
    assert_eq!(result["isError"], true);
    assert!(text(&result).starts_with("Error (PolicyDenied)"), "{result}");
}

/// A file that looks different in JSON.
const ODD: &str = "fn main() {\n\tprintln!(\"C:\\\\dir\\t\");\n}\n";

/// A call of each tool whose result is text.
fn calls_for_text() -> [(&'static str, Value); 7] {
    [
        ("read_file", json!({ "path": "a.rs" })),
        ("read_many_files", json!({ "paths": ["a.rs"] })),
        ("grep", json!({ "pattern": "dir" })),
        ("glob", json!({ "pattern": "*.rs" })),
        ("ls", json!({ "path": "." })),
        ("shell", json!({ "command": "cat a.rs" })),
        ("write_todos", json!({ "action": "list" })),
    ]
}

#[test]
fn a_result_of_text_is_that_text_alone() {
    let toolgate = Toolgate::with_files(&[("a.rs", ODD)]);
    let mut client = Client::connect(&toolgate, &[]);
    assert_eq!(
        client.call("read_file", &json!({ "path": "a.rs" })),
        json!({ "content": [{ "type": "text", "text": ODD }], "isError": false })
    );
    for (tool, args) in calls_for_text() {
        let result = client.call(tool, &args);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let fields: Vec<_> = result.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["content", "isError"], "{tool}: {result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{tool}: {result}");
    }
}

#[test]
fn a_tool_whose_result_is_text_promises_nothing_else() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &[]);
    let listed = client.ask("tools/list", &json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert!(tool["outputSchema"].is_null(), "{tool}");
    }
}

#[test]
fn an_image_is_an_image() {
    let toolgate = Toolgate::new();
    let png = include_bytes!("../data/dot.png");
    toolgate.write("dot.png", png);
    let mut client = Client::connect(&toolgate, &[]);
    let result = client.call("read_file", &json!({ "path": "dot.png" }));
    assert_eq!(result["content"][1]["type"], "image", "{result}");
    assert_eq!(result["content"][1]["mimeType"], "image/png");
    assert!(result["structuredContent"].is_null(), "{result}");
}

#[test]
fn wrong_arguments_are_for_the_model_and_wrong_requests_for_the_client() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &[]);
    let result = client.call("read_file", &json!({ "pth": "a.txt" }));
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("did you mean `path`?"), "{result}");
    let mut error = |params: Value| client.ask("tools/call", &params)["error"].clone();
    let unknown = error(json!({ "name": "red_file" }));
    assert_eq!(unknown["code"], -32602);
    assert!(unknown["message"].as_str().unwrap().contains("did you mean `read_file`"));
    assert_eq!(error(json!({}))["code"], -32602);
    assert_eq!(error(json!({ "name": "ls", "arguments": ["."] }))["code"], -32602);
    assert_eq!(client.ask("tools/sing", &json!({}))["error"]["code"], -32601);
}

#[test]
fn what_is_no_message_is_answered_and_the_connection_goes_on() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    // Before the handshake, notifications and answers to nothing are passed over.
    client.notify("notifications/cancelled", &json!({ "requestId": 7 }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 3, "result": {} }));
    client.initialize("2025-11-25", &json!({}));
    let code =
        |client: &mut Client| client.next(|m| !m["error"].is_null())["error"]["code"].clone();
    client.send_line("{\"jsonrpc\":");
    assert_eq!(code(&mut client), -32700);
    client.send_line("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
    assert_eq!(code(&mut client), -32600);
    client.send_line(&"x".repeat(17 * 1024 * 1024));
    assert_eq!(code(&mut client), -32600);
    client.send_line("");
    client.notify("notifications/unheard_of", &json!({}));
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let sleep = unique_sleep();
    let id = client.begin("shell", &json!({ "command": format!("echo begun; {sleep}") }));
    client.next(|message| message["params"]["message"] == "begun");
    client.notify("notifications/cancelled", &json!({ "requestId": id, "reason": "enough" }));
    eventually("the command goes on", || processes(&sleep).is_empty());
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let rest = client.rest(Duration::from_millis(200));
    assert!(rest.iter().all(|message| message["id"] != id), "{rest:?}");
    client.close();
    client.ended();
    let entries = json_lines(&toolgate.run(["audit", "--json"]).success());
    assert_eq!(entries.last().unwrap()["kind"], "cancelled", "{entries:?}");
}

#[test]
fn progress_is_told_to_those_who_asked_for_it() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let waits = |name: &str| format!("until [ -e {name} ]; do sleep 0.02; done");
    let command = format!("echo one; {}; echo two; {}", waits("one"), waits("two"));
    let id = client.begin("shell", &json!({ "command": command }));
    let mut told: Vec<Value> = Vec::new();
    let mut next = |client: &mut Client, start: &str| {
        let says = |message: &Value| message["params"]["message"].as_str().map(str::to_owned);
        told.push(client.next(|message| says(message).is_some_and(|text| text.starts_with(start))));
    };
    next(&mut client, "one");
    toolgate.write("one", "");
    next(&mut client, "two");
    next(&mut client, "running, ");
    toolgate.write("two", "");
    let answer = client.answer(id);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let numbers: Vec<_> = told.iter().map(|m| m["params"]["progress"].as_f64().unwrap()).collect();
    assert!(numbers[0] < numbers[1], "{told:?}");
    assert!(told.iter().all(|message| message["params"]["progressToken"] == "how"), "{told:?}");
    client.rest(Duration::from_millis(100));

    client.call("shell", &json!({ "command": "echo one; sleep 0.3" }));
    assert_eq!(client.rest(Duration::from_millis(100)), [Value::Null; 0]);
}

#[test]
fn a_connection_is_a_session() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    let mut client = Client::connect(&toolgate, &["--mode", "accept_edits"]);
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] });
    let unread = client.call("edit_file", &edit);
    assert!(text(&unread).starts_with("Error (NotRead)"), "{unread}");
    client.call("read_file", &json!({ "path": "a.txt" }));
    assert_eq!(client.call("edit_file", &edit)["isError"], false);
    assert_eq!(toolgate.read("a.txt").unwrap(), "new\n");
    // What others change meanwhile is told once.
    fs::write(toolgate.path("a.txt"), "newer\n").unwrap();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let result = client.call("ls", &json!({ "path": "." }));
        if let Some(told) = result["content"][1]["text"].as_str() {
            assert!(told.contains("+newer"), "{told}");
            break;
        }
        assert!(Instant::now() < deadline, "nothing was told");
    }
    drop(client);
    let mut another = Client::connect(&toolgate, &["--mode", "accept_edits"]);
    let unread = another.call("edit_file", &edit);
    assert!(text(&unread).starts_with("Error (NotRead)"), "{unread}");
}

#[test]
fn a_joined_connection_goes_on_where_the_last_one_ended() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    let flags = ["--mode", "accept_edits", "--session", "mine"];
    let mut first = Client::connect(&toolgate, &flags);
    first.call("read_file", &json!({ "path": "a.txt" }));
    first.close();
    assert!(first.ended().success());
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] });
    let mut second = Client::connect(&toolgate, &flags);
    assert_eq!(second.call("edit_file", &edit)["isError"], false);
}

#[test]
fn the_end_of_input_ends_everything() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let sleep = unique_sleep();
    let background = json!({ "command": sleep, "background": true });
    assert_eq!(client.call("shell", &background)["isError"], false);
    eventually("the background command does not run", || !processes(&sleep).is_empty());
    // What was asked before is still answered.
    let id = client.request("tools/call", &json!({ "name": "ls", "arguments": { "path": "." } }));
    client.close();
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert!(client.ended().success());
    eventually("the background command goes on", || processes(&sleep).is_empty());
}

#[test]
fn a_last_message_needs_no_line_end() {
    let toolgate = Toolgate::new();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let done = toolgate.run_with_input(["mcp"], hello.to_string()).success();
    assert_eq!(json_lines(&done)[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(stdout(&toolgate.run(["mcp"]).success()), "");
}

#[test]
fn a_signal_ends_it_cleanly() {
    for signal in [Signal::TERM, Signal::INT] {
        let toolgate = Toolgate::new();
        let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
        let sleep = unique_sleep();
        client.begin("shell", &json!({ "command": format!("echo begun; {sleep}") }));
        client.next(|message| message["params"]["message"] == "begun");
        send_signal(&client.child, signal);
        assert!(client.ended().success());
        eventually("the command goes on", || processes(&sleep).is_empty());
    }
}

#[test]
fn what_is_logged_never_reaches_the_client() {
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    // Every line that comes is read as a message.
    let mut client = Client::connect(&toolgate, &["-vvv"]);
    client.call("read_file", &json!({ "path": "a.txt" }));
    client.call("shell", &json!({ "command": "ls" }));
    client.close();
    assert!(client.ended().success());
    client.rest(Duration::from_millis(10));
}

#[test]
fn folders_of_a_client_count_where_they_are_trusted() {
    let toolgate = Toolgate::new();
    for folder in ["trusted", "other"] {
        std::fs::create_dir(toolgate.outside(folder)).unwrap();
        std::fs::write(toolgate.outside(folder).join("a.txt"), "hello\n").unwrap();
    }
    let trusted = toolgate.outside("trusted");
    toolgate.run(["trust", "add", trusted.to_str().unwrap()]).success();
    let flags = ["--mode", "accept_edits", "--wait-for-approval=1"];
    let mut client = Client::connect_as(&toolgate, &flags, &json!({ "roots": {} }));
    let write = |client: &mut Client, folder: &str| {
        let path = toolgate.outside(folder).join("new.txt");
        let arguments = json!({ "path": path, "content": "x" });
        client.request("tools/call", &json!({ "name": "write_file", "arguments": arguments }))
    };
    let id = write(&mut client, "trusted");
    let asked = client.next_of("roots/list");
    let address = |folder: &str| format!("file://{}", toolgate.outside(folder).display());
    let roots =
        json!([{ "uri": address("trusted") }, { "uri": address("other") }, { "uri": "x:y" }]);
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
    assert_eq!(client.answer(id)["result"]["isError"], false);
    // Naming a folder is not owning it.
    let id = write(&mut client, "other");
    assert_eq!(client.answer(id)["result"]["isError"], true);
    assert!(!toolgate.outside("other/new.txt").exists());
}

#[test]
fn clients_that_quote_errors_get_their_text_alone() {
    let names = [
        ("test", json!(true)),
        ("gemini-cli-mcp-client", Value::Null),
        ("qwen-cli-mcp-client-toolgate", Value::Null),
    ];
    for (name, is_error) in names {
        let toolgate = Toolgate::new();
        let mut client = Client::start(&toolgate, &[]);
        let about = json!({ "name": name, "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
        client.ask("initialize", &params);
        client.notify("notifications/initialized", &json!({}));
        let result = client.call("read_file", &json!({ "path": "missing.txt" }));
        assert!(text(&result).starts_with("Error (FileNotFoundError)"), "{result}");
        assert_eq!(result["isError"], is_error, "{name}");
    }
}
