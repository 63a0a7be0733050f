//! Claude Code.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::forms::{self, Driven};
use super::scene::{Scene, Server, bearing};
use super::wire::SERVER;
use crate::mcp_client;

const CLAUDE: Client = Client { headless, answer: Some("cancel") };

fn headless(scene: &Scene, server: &Server) -> Command {
    let mut claude = claude(scene, server);
    // The flags before it take any number of words.
    claude.args(["--", "go"]);
    claude
}

/// Claude Code without a terminal, which calls the tools of the server unasked.
fn claude(scene: &Scene, server: &Server) -> Command {
    let server = server.either(
        |program| json!({ "command": program }),
        |url, token| json!({ "type": "http", "url": url, "headers": bearing(token) }),
    );
    scene.settings("mcp.json", &json!({ "mcpServers": { SERVER: server } }));
    let mut claude = scene.client("claude");
    claude
        .env("ANTHROPIC_BASE_URL", scene.model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        // Every tool is offered from the start.
        .env("ENABLE_TOOL_SEARCH", "false")
        .args(["--print", "--strict-mcp-config", "--allowedTools", "mcp__toolgate", "--mcp-config"])
        .arg(scene.home("mcp.json"));
    claude
}

#[test]
fn reads_edits_and_runs() {
    checks::reads_edits_and_runs(&CLAUDE);
}

#[test]
fn reads_over_http() {
    checks::reads_over_http(&CLAUDE);
}

/// Claude Code as its SDK starts it.
fn drive(scene: &Scene) -> Driven {
    let mut claude = claude(scene, &scene.program());
    claude.args(["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    let mut messages = mcp_client::Client::over(claude);
    let prompt = json!({ "role": "user", "content": "go" });
    messages.send(&json!({ "type": "user", "message": prompt }));
    Driven {
        messages,
        form: |messages| {
            let request = messages.next(|message| message["request"]["subtype"] == "elicitation");
            let question = request["request"]["message"].as_str().unwrap().to_owned();
            (request["request_id"].clone(), question)
        },
        answer: |id, answer| {
            let response = json!({ "subtype": "success", "request_id": id, "response": answer });
            json!({ "type": "control_response", "response": response })
        },
        end: |messages| {
            messages.next(|message| message["type"] == "result");
        },
    }
}

#[test]
fn its_forms_count() {
    forms::count(drive);
}
