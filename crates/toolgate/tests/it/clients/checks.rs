//! Checks that every client passes.

use std::fs;
use std::process::Command;
use std::thread;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toolgate_store::approvals::Desk;
use toolgate_testing::repeats;

use super::model::Script;
use super::scene::{Scene, Server};
use crate::harness::{Toolgate, finish, json_lines, stdout};
use crate::mcp_http::Served;
use crate::workshop::eventually;

/// A file that is easily garbled on its way to a model.
const ODD: &str = "name\t\"Zoë\"\tC:\\new\\table\\\n\
    {\"key\": \"va\\\"l\\\\ue\\n\", 'single': `tick`, \"\\u0041\": \"&amp; <b>\"}\n\
    – “quoted” 日本語 🦀 naïve\u{a0}é e\u{301}\u{2028}%s $HOME ${x} #{y}\n\
    \n\t\ttrailing  \n";

const TOKEN: &str = "a-token-that-nobody-guesses";

/// A client, headless.
#[derive(Debug)]
pub(super) struct Client {
    /// Writes the settings of the client and returns the command that gives it a prompt.
    pub(super) headless: fn(&Scene, &Server) -> Command,
    /// The answer that it gives to a form by itself; `None` if it does not say it has forms.
    pub(super) answer: Option<&'static str>,
}

/// Checks that files arrive as they are, that an edit waits for another terminal whatever the
/// client answers by itself, and that the output of a failed command arrives as it is.
pub(super) fn reads_edits_and_runs(client: &Client) {
    let files = odd_files();
    let count = files.len();
    let mut script: Script =
        (0..count).map(|number| ("read_file", json!({ "path": name(number) }))).collect();
    let edit = json!({ "target": mark(0), "replacement": "edited" });
    script.push(("edit_file", json!({ "path": name(0), "edits": [edit] })));
    script.push(("shell", json!({ "command": "echo \"a\\\"$((6*7))\"; ls missing 2>/dev/null" })));
    let Some(scene) = Scene::new(script) else { return };
    write(&scene.toolgate, &files);
    let mut command = (client.headless)(&scene, &scene.program());
    let said = thread::scope(|scope| {
        let running = scope.spawn(|| run(&mut command));
        approve_elsewhere(&scene, client, || running.is_finished());
        running.join().unwrap()
    });

    let request = scene.model.request_after(count);
    assert_eq!(request.tools(), tools(&scene.toolgate), "{said}");
    for (number, file) in files.iter().enumerate() {
        let result = request.result(number);
        assert!(result.contains(file), "{file:?} is not in {result:?}");
        assert_eq!(request.count(&mark(number)), 1, "{file:?} arrives once");
    }
    let edited = files[0].replace(&mark(0), "edited");
    assert_eq!(scene.toolgate.read(&name(0)).unwrap(), edited, "{said}");
    let result = scene.model.request_after(count + 2).result(count + 1);
    assert!(result.contains("Exit code: 2\n\na\"42\n"), "{result}");
    assert_eq!(approvers(&scene.toolgate), ["another terminal"]);
    assert_eq!(scene.sent().contains("\"elicitation\""), client.answer.is_some());
    scene.server_ended();
}

/// Checks that every tool is offered and that files arrive as they are over HTTP.
pub(super) fn reads_over_http(client: &Client) {
    let script = vec![("read_file", json!({ "path": name(0) }))];
    let Some(scene) = Scene::new(script) else { return };
    let file = odd_file(0, ODD);
    write(&scene.toolgate, std::slice::from_ref(&file));
    let token = scene.toolgate.home("token");
    fs::write(&token, TOKEN).unwrap();
    let token = ["--token-file", token.to_str().unwrap()];
    let served = Served::start(&scene.toolgate, &[], &token);
    let server = Server::Address { url: served.url(), token: TOKEN };
    let said = run(&mut (client.headless)(&scene, &server));
    let request = scene.model.request_after(1);
    assert_eq!(request.tools(), tools(&scene.toolgate), "{said}");
    assert!(request.result(0).contains(&file), "{said}: {request:?}");
    assert_eq!(request.count(&mark(0)), 1, "{said}");
}

/// Returns who answered questions, in order.
pub(super) fn approvers(toolgate: &Toolgate) -> Vec<String> {
    let entries = json_lines(&toolgate.run(["audit", "--json"]).success());
    let approvals = entries.iter().filter(|entry| entry["kind"] == "approval");
    approvals.map(|entry| entry["body"]["by"].as_str().unwrap().to_owned()).collect()
}

/// Approves the question at another terminal, after the client has given its own answer.
fn approve_elsewhere(scene: &Scene, client: &Client, is_over: impl Fn() -> bool) {
    let answer = client.answer.map(|answer| format!("\"action\":\"{answer}\""));
    let mut desk = Desk::open(&scene.toolgate.home("")).unwrap();
    let mut question = None;
    eventually("the client asks and gives its own answer", || {
        question = desk.pending().unwrap().pop();
        let is_answered =
            || answer.as_ref().is_none_or(|answer| scene.sent().contains(answer.as_str()));
        is_over() || question.is_some() && is_answered()
    });
    // A client that is over tells why when it is joined.
    if let Some(question) = question {
        let id = question.request.id.to_string();
        scene.toolgate.run(["approvals", "approve", &id]).success();
    }
}

/// Runs a client to its end; what it printed.
fn run(command: &mut Command) -> String {
    let done = finish(std::mem::replace(command, Command::new("")), [""; 0], Vec::new());
    let output = done.get_output();
    let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let said = format!("{out}\n{err}");
    assert!(output.status.success(), "{}: {said}", output.status);
    said
}

/// The names of the server's tools, sorted.
fn tools(toolgate: &Toolgate) -> Vec<String> {
    let schemas = toolgate.run(["tools", "schema", "--format", "mcp"]).success();
    let schemas: Vec<Value> = serde_json::from_str(&stdout(&schemas)).unwrap();
    let mut names: Vec<_> =
        schemas.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn write(toolgate: &Toolgate, files: &[String]) {
    for (number, file) in files.iter().enumerate() {
        toolgate.write(&name(number), file);
    }
}

fn name(number: usize) -> String {
    format!("odd{number}.txt")
}

/// A text that only this file contains, and that no quoting changes.
fn mark(number: usize) -> String {
    format!("mark {number:03} of an odd file")
}

fn odd_file(number: usize, text: &str) -> String {
    format!("{}\n{text}", mark(number))
}

/// The odd file, and others at random where tests may take long.
fn odd_files() -> Vec<String> {
    let mut runner = TestRunner::default();
    let text = "[\\PC\t\n\"'\\\\]{0,600}";
    let random = (1..repeats(1, 20)).map(|_| text.new_tree(&mut runner).unwrap().current());
    let texts = std::iter::once(ODD.to_owned()).chain(random);
    texts.enumerate().map(|(number, text)| odd_file(number, &text)).collect()
}
