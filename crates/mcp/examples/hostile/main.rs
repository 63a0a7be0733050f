//! An MCP server that behaves badly, for tests: each argument is a way to.
//!
//! Without arguments it is a well-behaved server of the old manner, with one tool, `echo`. It also
//! serves as the helper that starts other programs for tests.
#![expect(clippy::disallowed_methods, reason = "it starts a program that must not outlive it")]
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

mod offered;
mod talk;

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use self::offered::tools;
use self::talk::{notify, request, say, say_raw};

/// The ways to behave that were asked for.
#[derive(Debug, Clone)]
struct Ways(Vec<String>);

impl Ways {
    fn has(&self, way: &str) -> bool {
        self.0.iter().any(|one| one == way)
    }

    /// What is written behind `way=`.
    fn value(&self, way: &str) -> Option<&str> {
        self.0.iter().find_map(|one| one.strip_prefix(way)?.strip_prefix('='))
    }
}

/// What is known while it runs.
#[derive(Debug, Default)]
struct State {
    lists: usize,
    calls: usize,
    greeted: bool,
    listening: Option<Value>,
    /// A call that waits for the answer to a question.
    waiting: Option<Value>,
}

fn main() -> ExitCode {
    toolgate_sandbox::helper::run_if_asked();
    let ways = Ways(std::env::args().skip(1).collect());
    let known = include_str!("ways.txt");
    for way in &ways.0 {
        let name = way.split('=').next().unwrap_or_default();
        if !known.lines().any(|line| line.split_whitespace().next() == Some(name)) {
            talk::complain(&format!("there is no way `{way}`; there are:\n{known}"));
            return ExitCode::from(2);
        }
    }
    begin(&ways);
    let mut state = State::default();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(code) = answer(&ways, &mut state, &message) {
            return code;
        }
    }
    if ways.has("ignores-end") {
        loop {
            thread::sleep(Duration::from_secs(1000));
        }
    }
    ExitCode::SUCCESS
}

/// What is done before anything is read.
fn begin(ways: &Ways) {
    if ways.has("greets") {
        say_raw("Welcome to the server!\n{\"this is\": no JSON\n\n[1, 2\nnull\n");
    }
    if ways.has("complains") {
        for line in 0..20_000 {
            talk::complain(&format!("complaint {line} \u{1b}[31m"));
        }
    }
    if let Some(file) = ways.value("grandchild") {
        use std::os::unix::process::CommandExt as _;
        let mut command = std::process::Command::new("sleep");
        let child = command.arg("1000").process_group(0).spawn();
        let id = child.map(|child| child.id()).unwrap_or_default();
        std::fs::write(file, id.to_string()).ok();
    }
    if ways.has("ignores-end") {
        thread::spawn(ignore_signals);
    }
    if ways.has("chatters") {
        thread::spawn(|| {
            loop {
                notify("notifications/message", &json!({"level": "info", "data": "x".repeat(500)}));
                notify("notifications/tools/list_changed", &json!({}));
                notify("notifications/unheard_of", &json!({"a": 1}));
            }
        });
    }
    if ways.has("floods") {
        thread::spawn(|| {
            for number in 0.. {
                request(&json!(format!("flood-{number}")), "elicitation/create", &json!({}));
                request(&json!(number), "ping", &json!({}));
            }
        });
    }
}

/// Answers a message; an exit code when it dies of it.
fn answer(ways: &Ways, state: &mut State, message: &Value) -> Option<ExitCode> {
    let id = message.get("id").cloned()?;
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        if let Some(call) = state.waiting.take() {
            let text = format!("the answer was {}", message["result"]);
            say(&call, Ok(json!({"content": [{"type": "text", "text": text}]})));
        }
        return None;
    };
    if ways.has("mute") {
        return None;
    }
    if !state.greeted && method != "initialize" && !ways.has("modern") {
        if ways.has("dies-of-discover") {
            return Some(ExitCode::from(9));
        }
        if ways.has("deaf-before-greeting") {
            return None;
        }
    }
    if ways.has("malformed") {
        say_raw("{\"jsonrpc\": \"2.0\", \"id\": }\n\u{0}\u{1}\n{\"jsonrpc\"\n");
    }
    match method {
        "initialize" if !ways.has("modern") => {
            state.greeted = true;
            let wanted = message["params"]["protocolVersion"].as_str().unwrap_or_default();
            let version = ways.value("version").unwrap_or(wanted);
            say(
                &id,
                Ok(json!({
                    "protocolVersion": version,
                    "serverInfo": {"name": "hostile", "version": "1"},
                    "capabilities": {"tools": {"listChanged": true}},
                })),
            );
        }
        "server/discover" if ways.has("modern") => {
            say(
                &id,
                Ok(json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {"listChanged": true}},
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "hostile", "version": "1"}},
                })),
            );
        }
        "subscriptions/listen" if ways.has("modern") => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            let params =
                json!({"_meta": meta, "notifications": message["params"]["notifications"]});
            notify("notifications/subscriptions/acknowledged", &params);
            state.listening = Some(id);
        }
        "tools/list" if ways.has("never-lists") => {}
        "tools/list" => list(ways, state, &id, &message["params"]),
        "tools/call" => return call(ways, state, &id, &message["params"]),
        _ => say(&id, Err(json!({"code": -32601, "message": "no such method"}))),
    }
    None
}

fn list(ways: &Ways, state: &mut State, id: &Value, params: &Value) {
    let mut result =
        json!({"tools": tools(ways, state.lists, state.calls), "resultType": "complete"});
    if ways.has("repeats-cursors") {
        result["nextCursor"] = json!("again");
    }
    if ways.has("endless-pages") {
        let page = params["cursor"].as_str().and_then(|page| page.parse().ok()).unwrap_or(0);
        result["nextCursor"] = json!((page + 1_u64).to_string());
    }
    say(id, Ok(result));
    state.lists += 1;
    if ways.has("changes") && state.lists == 1 {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": state.listening});
        notify("notifications/tools/list_changed", &json!({"_meta": meta}));
    }
}

fn call(ways: &Ways, state: &mut State, id: &Value, params: &Value) -> Option<ExitCode> {
    if ways.has("dies") {
        talk::complain("this is how I end");
        return Some(ExitCode::from(3));
    }
    if ways.has("leaks") {
        let secret = std::env::var("SECRET").unwrap_or_default();
        say(id, Err(json!({"code": -1, "message": format!("denied for {secret}")})));
        return None;
    }
    if ways.has("never-answers") {
        return None;
    }
    if ways.has("closes-output") {
        talk::close_output();
        loop {
            thread::sleep(Duration::from_secs(1000));
        }
    }
    if ways.has("wrong-ids") {
        let nobody = || Ok(json!({"content": [{"type": "text", "text": "not for you"}]}));
        say(&json!(999_999), nobody());
        say(&json!("some text"), nobody());
        say(&json!({"an": "object"}), nobody());
    }
    if let Some(steps) = ways.value("progresses") {
        for step in 0..steps.parse().unwrap_or(3) {
            thread::sleep(Duration::from_millis(200));
            let token = &params["_meta"]["progressToken"];
            let progress = json!({"progressToken": token, "progress": step, "message": "going on"});
            notify("notifications/progress", &progress);
        }
    }
    if ways.has("asks") && params.get("inputResponses").is_none() {
        let form = json!({"message": "Sure?", "requestedSchema": {
            "type": "object", "properties": {"sure": {"type": "boolean"}}
        }});
        if ways.has("modern") {
            say(
                id,
                Ok(json!({
                    "resultType": "input_required",
                    "inputRequests": {"sure": {"method": "elicitation/create", "params": form}},
                    "requestState": "the state",
                })),
            );
        } else {
            state.waiting = Some(id.clone());
            request(&json!("question"), "elicitation/create", &form);
        }
        return None;
    }
    if let Some(bytes) = ways.value("big") {
        talk::say_big(id, bytes.parse().unwrap_or(100_000_000));
        return None;
    }
    say(id, Ok(offered::result(ways, params)));
    state.calls += 1;
    if ways.has("changes-later") && state.calls == 1 {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": state.listening});
        notify("notifications/tools/list_changed", &json!({"_meta": meta}));
    }
    None
}

/// Does nothing when asked to end.
fn ignore_signals() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let kind = tokio::signal::unix::SignalKind::terminate();
        let Ok(mut signals) = tokio::signal::unix::signal(kind) else { return };
        while signals.recv().await.is_some() {}
    });
}
