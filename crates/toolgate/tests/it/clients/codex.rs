//! Codex.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::forms::{self, Driven};
use super::scene::{Scene, Server};
use super::wire::SERVER;
use crate::mcp_client;

const CODEX: Client = Client { headless, answer: Some("decline") };

/// Codex with its own sandbox, which the server does not run in.
fn headless(scene: &Scene, server: &Server) -> Command {
    let mut codex = codex(scene, server);
    codex.args(["exec", "--skip-git-repo-check", "--sandbox", "read-only", "go"]);
    codex
}

/// Codex, which calls the tools of the server unasked.
fn codex(scene: &Scene, server: &Server) -> Command {
    let mut codex = scene.client("codex");
    let server = server.either(
        |program| format!("command = {program:?}"),
        |url, token| {
            codex.env("TOOLGATE_TOKEN", token);
            format!("url = {url:?}\nbearer_token_env_var = 'TOOLGATE_TOKEN'")
        },
    );
    let model = scene.model.url();
    scene.settings_text(
        ".codex/config.toml",
        &format!(
            "model = 'scripted'\n\
             model_provider = 'scripted'\n\
             check_for_update_on_startup = false\n\
             analytics.enabled = false\n\
             [model_providers.scripted]\n\
             name = 'scripted'\n\
             base_url = '{model}/v1'\n\
             env_key = 'SCRIPTED_KEY'\n\
             wire_api = 'responses'\n\
             [mcp_servers.{SERVER}]\n\
             {server}\n\
             tool_timeout_sec = 330\n\
             default_tools_approval_mode = 'approve'\n"
        ),
    );
    codex.env("SCRIPTED_KEY", "dummy");
    codex
}

#[test]
fn reads_edits_and_runs() {
    checks::reads_edits_and_runs(&CODEX);
}

#[test]
fn reads_over_http() {
    checks::reads_over_http(&CODEX);
}

/// Codex as editors start it.
fn drive(scene: &Scene) -> Driven {
    let mut codex = codex(scene, &scene.program());
    codex.arg("app-server");
    let mut messages = mcp_client::Client::over(codex);
    let about = json!({ "name": "test", "version": "1" });
    messages.ask("initialize", &json!({ "clientInfo": about }));
    messages.notify("initialized", &json!({}));
    let rules = json!({ "approvalPolicy": "on-request", "sandbox": "read-only" });
    let thread = messages.ask("thread/start", &rules)["result"]["thread"]["id"].clone();
    let prompt = json!({ "type": "text", "text": "go" });
    messages.ask("turn/start", &json!({ "threadId": thread, "input": [prompt] }));
    Driven {
        messages,
        form: |messages| {
            let request = messages.next_of("mcpServer/elicitation/request");
            let question = request["params"]["message"].as_str().unwrap().to_owned();
            (request["id"].clone(), question)
        },
        answer: |id, answer| json!({ "id": id, "result": answer }),
        end: |messages| {
            messages.next_of("turn/completed");
        },
    }
}

#[test]
fn its_forms_count() {
    forms::count(drive);
}
