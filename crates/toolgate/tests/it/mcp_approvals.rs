//! What the policy asks about, when an MCP client calls.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::core::approval::Answer;
use toolgate_store::approvals::{Desk, OpenRequest};

use crate::harness::{Toolgate, json_lines};
use crate::mcp_client::{Client, text};
use crate::workshop::eventually;

/// What a client says that can show forms.
fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "hello\n" })
}

/// Settings of the user.
fn configured(text: &str) -> Toolgate {
    let toolgate = Toolgate::with_files(&[("old.txt", "old\n")]);
    fs::write(toolgate.home("config.toml"), text).unwrap();
    toolgate
}

/// What waits for an answer in any process.
fn waiting(toolgate: &Toolgate) -> OpenRequest {
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let mut found = None;
    eventually("nothing is asked", || {
        found = desk.pending().unwrap().pop();
        found.is_some()
    });
    found.unwrap()
}

fn approve(toolgate: &Toolgate) {
    let open = waiting(toolgate);
    Desk::open(&toolgate.home(""))
        .unwrap()
        .answer(open.request.id, &Answer::Once, "a test")
        .unwrap();
}

/// Waits until a refusal counts as one of a person.
pub(crate) fn read_the_question() {
    std::thread::sleep(Duration::from_millis(1_100));
}

/// Answers the question that comes, as fast as only a program does.
fn answer(client: &mut Client, answer: &Value) -> Value {
    let question = client.next_of("elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    question["params"].clone()
}

/// Refuses what the question that comes is about, as slowly as a person does.
fn refuse(client: &mut Client) {
    let question = client.next_of("elicitation/create");
    read_the_question();
    let refusal = json!({ "action": "decline" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": refusal }));
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn a_client_that_shows_forms_is_asked() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let params = json!({ "name": "write_file", "arguments": write("a.txt") });
    let id = client.request("tools/call", &params);
    let question = answer(&mut client, &accept(&json!({ "decision": "once" })));
    insta::assert_json_snapshot!(question, { "._meta" => "…" });
    assert_eq!(text(&client.answer(id)["result"]), "Created a.txt (1 line, 6 bytes)");
    assert_eq!(toolgate.read("a.txt").unwrap(), "hello\n");
    // Once is once.
    let again =
        client.request("tools/call", &json!({ "name": "write_file", "arguments": write("b.txt") }));
    refuse(&mut client);
    let refused = client.answer(again);
    assert!(text(&refused["result"]).starts_with("Error (ApprovalDenied)"), "{refused}");
    client.close();
    client.ended();
    let entries = json_lines(&toolgate.run(["audit", "--json"]).success());
    let by: Vec<_> = entries
        .iter()
        .filter(|entry| entry["kind"] == "approval")
        .map(|entry| (entry["body"]["by"].clone(), entry["body"]["answer"].clone()))
        .collect();
    assert_eq!(
        by,
        [(json!("an MCP client"), json!("once")), (json!("an MCP client"), json!("deny"))]
    );
}

#[test]
fn an_answer_for_the_session_holds_for_calls_like_it() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let call = |path: &str| json!({ "name": "write_file", "arguments": { "path": path, "content": "x", "overwrite": true } });
    let id = client.request("tools/call", &call("a.txt"));
    let question = answer(&mut client, &accept(&json!({ "decision": "session" })));
    assert!(question["message"].as_str().unwrap().contains("`session` also allows"));
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert_eq!(client.ask("tools/call", &call("a.txt"))["result"]["isError"], false);
    let other = client.request("tools/call", &call("elsewhere/b.txt"));
    refuse(&mut client);
    let refused = client.answer(other);
    assert!(text(&refused["result"]).starts_with("Error (ApprovalDenied)"), "{refused}");
}

#[test]
fn whatever_does_not_clearly_say_yes_is_a_no() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &json!({ "elicitation": { "form": {} } }));
    let answers = [
        (
            accept(&json!({ "decision": "deny", "note": "use b.txt" })),
            "a person refused: use b.txt",
        ),
        (json!({ "action": "decline" }), "a person refused"),
        (accept(&json!({})), "did not say what was decided"),
        (accept(&json!({ "decision": "always" })), "did not say what was decided"),
        (accept(&json!({ "decision": true })), "did not say what was decided"),
        (json!({ "action": "accept" }), "did not say what was decided"),
    ];
    let asked: Vec<_> = answers
        .iter()
        .map(|_| {
            let params = json!({ "name": "write_file", "arguments": write("a.txt") });
            let id = client.request("tools/call", &params);
            (id, client.next_of("elicitation/create")["id"].clone())
        })
        .collect();
    read_the_question();
    for ((given, told), (id, question)) in answers.into_iter().zip(asked) {
        client.send(&json!({ "jsonrpc": "2.0", "id": question, "result": given }));
        let result = client.answer(id)["result"].clone();
        assert!(text(&result).contains(told), "{given}: {result}");
    }
    assert!(!toolgate.path("a.txt").exists());
}

/// Answers of clients that nobody sits in front of, given at once.
fn answers_of_nobody() -> [Value; 4] {
    [
        json!({ "action": "cancel" }),
        json!({ "action": "decline" }),
        accept(&json!({ "decision": "deny" })),
        accept(&json!({})),
    ]
}

#[test]
fn a_question_that_nobody_read_stays_open_elsewhere() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    for (number, given) in answers_of_nobody().into_iter().enumerate() {
        let file = format!("{number}.txt");
        let id = client.begin("write_file", &write(&file));
        answer(&mut client, &given);
        approve(&toolgate);
        let result = client.answer(id)["result"].clone();
        assert_eq!(result["isError"], false, "{given}: {result}");
        assert!(toolgate.path(&file).exists());
    }
    // A form that is closed is never an answer, however long it was open.
    let id = client.begin("write_file", &write("late.txt"));
    let question = client.next_of("elicitation/create");
    read_the_question();
    let closed = json!({ "action": "cancel" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": closed }));
    approve(&toolgate);
    assert_eq!(client.answer(id)["result"]["isError"], false);
    client.close();
    client.ended();
    let entries = json_lines(&toolgate.run(["audit", "--json"]).success());
    let by = entries.iter().filter(|entry| entry["kind"] == "approval");
    for entry in by {
        assert_eq!(entry["body"]["by"], "another terminal", "{entry}");
    }
}

#[test]
fn a_refusal_elsewhere_counts_though_the_client_has_nobody() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let id = client.begin("write_file", &write("a.txt"));
    answer(&mut client, &json!({ "action": "cancel" }));
    let open = waiting(&toolgate);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    desk.answer(open.request.id, &Answer::deny("not today"), "a test").unwrap();
    let result = client.answer(id)["result"].clone();
    assert!(text(&result).contains("a person refused: not today"), "{result}");
    assert!(!toolgate.path("a.txt").exists());
}

#[test]
fn where_only_a_client_without_a_person_answers_it_is_said_how_to_allow_it() {
    let toolgate = configured("[approvals]\nwait = 1\n");
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    for given in answers_of_nobody() {
        let id = client.begin("write_file", &write("a.txt"));
        answer(&mut client, &given);
        let result = client.answer(id)["result"].clone();
        assert!(text(&result).starts_with("Error (ApprovalTimeout)"), "{given}: {result}");
        let how = result["content"][1]["text"].as_str().unwrap();
        assert!(how.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{how}");
    }
    assert!(!toolgate.path("a.txt").exists());
}

/// Calls that a client is not asked about wait for a person elsewhere.
#[track_caller]
fn waits_elsewhere(toolgate: &Toolgate, capabilities: &Value, tool: &str, args: &Value) {
    let mut client = Client::connect_as(toolgate, &[], capabilities);
    let id = client.begin(tool, args);
    let told = client.next_of("notifications/progress");
    let request = waiting(toolgate).request;
    let message = told["params"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        format!(
            "waiting for an answer to `{}`; at a terminal: toolgate approvals approve {}",
            request.description, request.id
        )
    );
    approve(toolgate);
    let answered = client.answer(id);
    assert_eq!(answered["result"]["isError"], false, "{answered}");
    let rest = client.rest(Duration::from_millis(50));
    assert!(rest.iter().all(|message| message["method"] != "elicitation/create"), "{rest:?}");
}

#[test]
fn a_client_that_shows_no_forms_is_not_asked() {
    let toolgate = Toolgate::new();
    waits_elsewhere(&toolgate, &json!({}), "write_file", &write("a.txt"));
    let toolgate = Toolgate::new();
    let urls = json!({ "elicitation": { "url": {} } });
    waits_elsewhere(&toolgate, &urls, "write_file", &write("a.txt"));
}

#[test]
fn a_client_is_not_asked_about_what_cannot_be_taken_back() {
    let old = json!({ "path": "old.txt" });
    let toolgate = configured("");
    waits_elsewhere(&toolgate, &forms(), "delete_file", &old);
    let toolgate = configured("");
    waits_elsewhere(&toolgate, &forms(), "shell", &json!({ "command": "touch made.txt" }));
    // Whoever writes this decides what git runs.
    let toolgate = configured("");
    fs::create_dir_all(toolgate.path(".git/hooks")).unwrap();
    waits_elsewhere(&toolgate, &forms(), "write_file", &write(".git/hooks/pre-commit"));
    let toolgate = configured("");
    let outside = toolgate.outside("a.txt");
    waits_elsewhere(&toolgate, &forms(), "write_file", &write(outside.to_str().unwrap()));
}

#[test]
fn the_owner_says_what_an_answer_is_worth() {
    let toolgate = configured("[approvals]\nelicitation = \"trust\"\n");
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let params = json!({ "name": "delete_file", "arguments": { "path": "old.txt" } });
    let id = client.request("tools/call", &params);
    answer(&mut client, &accept(&json!({ "decision": "once" })));
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert!(!toolgate.path("old.txt").exists());

    let toolgate = configured("[approvals]\nelicitation = \"never\"\n");
    waits_elsewhere(&toolgate, &forms(), "write_file", &write("a.txt"));

    let toolgate = configured("[approvals]\nelicitation = \"always\"\n");
    let failed = toolgate.run(["mcp"]).failure().code(2);
    let said = crate::harness::stderr(&failed);
    assert!(said.contains("unknown variant `always`"), "{said}");
}

#[test]
fn a_question_that_is_answered_elsewhere_goes_away() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let params = json!({ "name": "write_file", "arguments": write("a.txt") });
    let id = client.request("tools/call", &params);
    let question = client.next_of("elicitation/create");
    approve(&toolgate);
    assert_eq!(client.answer(id)["result"]["isError"], false);
    let cancelled = client.next_of("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    // Whoever comes too late changes nothing.
    let late = json!({ "action": "decline" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": late }));
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_client_that_cannot_answer_leaves_it_to_others() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let params = json!({ "name": "write_file", "arguments": write("a.txt") });
    let id = client.request("tools/call", &params);
    let question = client.next_of("elicitation/create");
    let error = json!({ "code": -32601, "message": "what?" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    approve(&toolgate);
    assert_eq!(client.answer(id)["result"]["isError"], false);
}

#[test]
fn a_cancelled_call_takes_its_question_back() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect_as(&toolgate, &[], &forms());
    let params = json!({ "name": "write_file", "arguments": write("a.txt") });
    let id = client.request("tools/call", &params);
    let question = client.next_of("elicitation/create");
    waiting(&toolgate);
    client.notify("notifications/cancelled", &json!({ "requestId": id }));
    let cancelled = client.next_of("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    eventually("the question stays", || desk.pending().unwrap().is_empty());
    let yes = accept(&json!({ "decision": "once" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    assert!(!toolgate.path("a.txt").exists());
}

#[test]
fn where_nobody_answers_it_is_said_how_to_allow_it() {
    let toolgate = configured("[approvals]\nwait = 1\n");
    let mut client = Client::connect(&toolgate, &[]);
    let late = client.call("write_file", &write("a.txt"));
    assert_eq!(late["isError"], true);
    assert!(text(&late).starts_with("Error (ApprovalTimeout)"), "{late}");
    let how = late["content"][1]["text"].as_str().unwrap();
    assert!(how.contains("`toolgate approvals watch`"), "{late}");
    assert!(how.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{late}");
    assert!(!toolgate.path("a.txt").exists());

    let mut client = Client::connect_as(&toolgate, &["--non-interactive"], &forms());
    let nobody = client.call("write_file", &write("a.txt"));
    assert!(text(&nobody).starts_with("Error (ApprovalRequired)"), "{nobody}");
    let how = nobody["content"][1]["text"].as_str().unwrap();
    assert!(how.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{nobody}");
    // For some commands there is no rule that says what it allows.
    let nobody = client.call("shell", &json!({ "command": "sudo rm -rf old.txt" }));
    let how = nobody["content"][1]["text"].as_str().unwrap();
    assert!(how.contains("--mode") && !how.contains("policy allow"), "{nobody}");
    assert!(!toolgate.path("a.txt").exists());
}
