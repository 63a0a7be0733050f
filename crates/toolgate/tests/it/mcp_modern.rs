//! `toolgate mcp` for clients without a handshake, where every request stands for itself.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::core::approval::Answer;
use toolgate_store::approvals::Desk;

use crate::harness::Toolgate;
use crate::mcp_approvals::read_the_question;
use crate::mcp_client::{Client, text};
use crate::workshop::eventually;

/// What every request says about its client.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Asks as a client that can do this.
fn ask(client: &mut Client, capabilities: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta(capabilities);
    client.ask(method, &params)
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn write(path: &str) -> Value {
    json!({ "name": "write_file", "arguments": { "path": path, "content": "hello\n" } })
}

/// The same call again, with what was asked for.
fn again(call: &Value, state: &Value, answer: &Value) -> Value {
    let mut call = call.clone();
    call["requestState"] = state.clone();
    call["inputResponses"] = json!({ "approval": answer });
    call
}

fn accept(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

fn call(client: &mut Client, params: Value) -> Value {
    ask(client, &forms(), "tools/call", params)
}

/// Makes a call that asks; the state it gives.
#[track_caller]
fn asked(client: &mut Client, params: &Value) -> Value {
    let answer = call(client, params.clone());
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["requestState"].clone()
}

#[test]
fn a_client_finds_out_who_serves() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let found = ask(&mut client, &json!({}), "server/discover", json!({}))["result"].clone();
    let root = toolgate.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let filters = [(root.as_str(), "WORKSPACE"), ("\"version\": \".*\"", "\"version\": \"…\"")];
    insta::with_settings!({ filters => filters }, {
        insta::assert_json_snapshot!(found);
    });
    let listed = ask(&mut client, &json!({}), "tools/list", json!({}))["result"].clone();
    assert_eq!(listed["resultType"], "complete");
    assert!(listed["ttlMs"].is_number(), "{listed}");
    assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "read_file"));
}

#[test]
fn calls_need_no_handshake_and_share_a_session() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    let mut client = Client::start(&toolgate, &["--mode", "accept_edits"]);
    let edit = json!({
        "name": "edit_file",
        "arguments": { "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] },
    });
    let unread = call(&mut client, edit.clone());
    assert!(text(&unread["result"]).starts_with("Error (NotRead)"), "{unread}");
    let read = json!({ "name": "read_file", "arguments": { "path": "a.txt" } });
    assert_eq!(text(&call(&mut client, read)["result"]), "old\n");
    assert_eq!(call(&mut client, edit)["result"]["isError"], false);
}

#[test]
fn a_result_of_text_is_that_text_alone() {
    let text = "\tlet path = \"C:\\\\dir\";\n";
    let toolgate = Toolgate::with_files(&[("a.rs", text)]);
    let mut client = Client::start(&toolgate, &[]);
    let read = json!({ "name": "read_file", "arguments": { "path": "a.rs" } });
    let content = json!([{ "type": "text", "text": text }]);
    // A client that can be asked takes another way than one that cannot.
    for capabilities in [json!({}), forms()] {
        let result = ask(&mut client, &capabilities, "tools/call", read.clone())["result"].clone();
        assert_eq!(
            result,
            json!({ "resultType": "complete", "content": content, "isError": false })
        );
    }
    let listed = ask(&mut client, &json!({}), "tools/list", json!({}))["result"].clone();
    for tool in listed["tools"].as_array().unwrap() {
        assert!(tool["outputSchema"].is_null(), "{tool}");
    }
}

#[test]
fn a_request_must_say_who_asks_in_a_version_that_is_known() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let bare = client.ask("tools/list", &json!({}));
    assert_eq!(bare["error"]["code"], -32602, "{bare}");
    let mut unknown = meta(&json!({}));
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
    let unknown = client.ask("tools/list", &json!({ "_meta": unknown }));
    let known = unknown["error"]["data"]["supported"].as_array().unwrap();
    assert!(known.contains(&json!("2026-07-28")), "{unknown}");
    // What is gone from the protocol is gone.
    let ping = ask(&mut client, &json!({}), "tools/list", json!({}));
    assert!(ping["error"].is_null(), "{ping}");
    let ping = ask(&mut client, &json!({}), "ping", json!({}));
    assert_eq!(ping["error"]["code"], -32601, "{ping}");
}

#[test]
fn a_question_is_answered_by_calling_again() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let first = call(&mut client, params.clone())["result"].clone();
    insta::assert_json_snapshot!(first, { ".requestState" => "…" });
    assert!(!toolgate.path("a.txt").exists());
    let done = call(&mut client, again(&params, &first["requestState"], &accept("once")));
    assert_eq!(text(&done["result"]), "Created a.txt (1 line, 6 bytes)");
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(toolgate.read("a.txt").unwrap(), "hello\n");
}

#[test]
fn a_no_is_a_no_here_too() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let refusals = [json!({ "action": "decline" }), accept("deny"), accept("surely")];
    let states: Vec<_> = refusals.iter().map(|_| asked(&mut client, &params)).collect();
    read_the_question();
    for (refusal, state) in refusals.into_iter().zip(states) {
        let refused = call(&mut client, again(&params, &state, &refusal));
        assert!(text(&refused["result"]).starts_with("Error (ApprovalDenied)"), "{refused}");
    }
    assert!(!toolgate.path("a.txt").exists());
}

#[test]
fn a_question_that_nobody_read_stays_open_elsewhere() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    for (file, given) in [
        ("a.txt", json!({ "action": "cancel" })),
        ("b.txt", json!({ "action": "decline" })),
        ("c.txt", accept("deny")),
    ] {
        let params = write(file);
        let state = asked(&mut client, &params);
        let mut params = again(&params, &state, &given);
        params["_meta"] = meta(&forms());
        params["_meta"]["progressToken"] = json!(file);
        let id = client.request("tools/call", &params);
        // The client hears that somebody else is waited for.
        let told = client.next_of("notifications/progress")["params"].clone();
        assert_eq!(told["progressToken"], file);
        let open = desk.pending().unwrap().pop().unwrap();
        let how = format!("toolgate approvals approve {}", open.request.id);
        assert!(told["message"].as_str().unwrap().ends_with(&how), "{told}");
        desk.answer(open.request.id, &Answer::Once, "a test").unwrap();
        let done = client.answer(id);
        assert_eq!(done["result"]["isError"], false, "{given}: {done}");
        assert!(toolgate.path(file).exists());
    }
}

#[test]
fn where_only_a_client_without_a_person_answers_it_is_said_how_to_allow_it() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("config.toml"), "[approvals]\nwait = 1\n").unwrap();
    let mut client = Client::start(&toolgate, &[]);
    for given in [json!({ "action": "cancel" }), json!({ "action": "decline" })] {
        let params = write("a.txt");
        let state = asked(&mut client, &params);
        let late = call(&mut client, again(&params, &state, &given))["result"].clone();
        assert!(text(&late).starts_with("Error (ApprovalTimeout)"), "{given}: {late}");
        let how = late["content"][1]["text"].as_str().unwrap();
        assert!(how.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{how}");
    }
    assert!(!toolgate.path("a.txt").exists());
}

#[test]
fn a_state_is_good_once_for_the_call_it_was_given_for() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let yes = accept("once");
    let refused = |client: &mut Client, params: &Value, state: &Value| {
        let answer = call(client, again(params, state, &yes));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    };
    let state = asked(&mut client, &params);
    // For another call it is worth nothing, nor when it was changed.
    refused(&mut client, &write("b.txt"), &state);
    let text = state.as_str().unwrap();
    for place in [5, text.len() / 2, text.len() - 2] {
        let mut forged = text.as_bytes().to_vec();
        forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
        refused(&mut client, &params, &json!(String::from_utf8(forged).unwrap()));
    }
    refused(&mut client, &params, &json!("made up"));
    assert_eq!(call(&mut client, again(&params, &state, &yes))["result"]["isError"], false);
    fs::remove_file(toolgate.path("a.txt")).unwrap();
    refused(&mut client, &params, &state);
    // Another process has another key.
    let state = asked(&mut client, &params);
    let mut another = Client::start(&toolgate, &[]);
    refused(&mut another, &params, &state);
    assert!(!toolgate.path("a.txt").exists() && !toolgate.path("b.txt").exists());
}

#[test]
fn who_calls_again_without_an_answer_is_asked_again() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let state = asked(&mut client, &params);
    let mut bare = params.clone();
    bare["requestState"] = state.clone();
    let new = asked(&mut client, &bare);
    assert_ne!(new, state);
    let done = call(&mut client, again(&params, &new, &accept("once")));
    assert_eq!(done["result"]["isError"], false, "{done}");
}

#[test]
fn somebody_elsewhere_may_answer_meanwhile() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let state = asked(&mut client, &params);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let open = desk.pending().unwrap().pop().unwrap();
    desk.answer(open.request.id, &Answer::Once, "a test").unwrap();
    eventually("it does not run", || toolgate.path("a.txt").exists());
    // A no that comes too late changes nothing, and what happened is told.
    let late = call(&mut client, again(&params, &state, &accept("deny")));
    assert_eq!(text(&late["result"]), "Created a.txt (1 line, 6 bytes)");
}

#[test]
fn a_call_nobody_comes_back_for_is_given_up() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("config.toml"), "[approvals]\nwait = 1\n").unwrap();
    let mut client = Client::start(&toolgate, &[]);
    let params = write("a.txt");
    let state = asked(&mut client, &params);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    eventually("it waits for ever", || desk.pending().unwrap().is_empty());
    // The store sees it before the server does.
    std::thread::sleep(Duration::from_secs(1));
    let late = call(&mut client, again(&params, &state, &accept("once")));
    assert!(text(&late["result"]).starts_with("Error (ApprovalTimeout)"), "{late}");
    // What waits when the connection ends is taken back.
    asked(&mut client, &params);
    client.close();
    assert!(client.ended().success());
    assert!(desk.pending().unwrap().is_empty());
    assert!(!toolgate.path("a.txt").exists());
}

#[test]
fn a_client_that_cannot_be_asked_waits_for_others() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let mut params = write("a.txt");
    params["_meta"] = meta(&json!({}));
    params["_meta"]["progressToken"] = json!(7);
    let id = client.request("tools/call", &params);
    let told = client.next_of("notifications/progress");
    assert_eq!(told["params"]["progressToken"], 7);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let open = desk.pending().unwrap().pop().unwrap();
    desk.answer(open.request.id, &Answer::Once, "a test").unwrap();
    assert_eq!(client.answer(id)["result"]["isError"], false);
}

#[test]
fn both_eras_are_served_on_one_stream() {
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    // A client that looks first, and then shakes hands after all.
    let mut client = Client::start(&toolgate, &[]);
    ask(&mut client, &json!({}), "server/discover", json!({}));
    client.initialize("2025-11-25", &forms());
    let read = json!({ "name": "read_file", "arguments": { "path": "a.txt" } });
    let legacy = client.ask("tools/call", &read)["result"].clone();
    assert!(legacy["resultType"].is_null(), "{legacy}");
    let modern = call(&mut client, read)["result"].clone();
    assert_eq!(modern["resultType"], "complete");
    assert_eq!(text(&legacy), text(&modern));
    // Each is asked in its own way.
    asked(&mut client, &write("b.txt"));
    let id = client.request("tools/call", &write("c.txt"));
    let question = client.next_of("elicitation/create");
    let yes = accept("once");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(client.answer(id)["result"]["isError"], false);
}

#[test]
fn a_subscription_is_acknowledged_and_ends_when_it_is_cancelled() {
    let toolgate = Toolgate::new();
    let mut client = Client::start(&toolgate, &[]);
    let filter = json!({ "toolsListChanged": true, "promptsListChanged": true });
    let params = json!({ "notifications": filter, "_meta": meta(&json!({})) });
    let id = client.request("subscriptions/listen", &params);
    let known = client.next_of("notifications/subscriptions/acknowledged");
    // There are no prompts to listen to.
    assert_eq!(known["params"]["notifications"], json!({ "toolsListChanged": true }), "{known}");
    assert_eq!(known["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    client.notify("notifications/cancelled", &json!({ "requestId": id }));
    let listed = ask(&mut client, &json!({}), "tools/list", json!({}));
    assert!(listed["error"].is_null(), "{listed}");
    let rest = client.rest(Duration::from_millis(50));
    assert!(rest.iter().all(|message| message["id"] != id), "{rest:?}");
}
