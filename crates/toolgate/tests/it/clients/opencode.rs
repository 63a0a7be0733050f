//! opencode.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::scene::{Scene, Server, bearing};
use super::wire::SERVER;

const OPENCODE: Client = Client { headless, answer: None };

fn headless(scene: &Scene, server: &Server) -> Command {
    let server = server.either(
        |program| json!({ "type": "local", "command": [program], "timeout": 330_000 }),
        |url, token| {
            let headers = bearing(token);
            json!({ "type": "remote", "url": url, "headers": headers, "timeout": 330_000 })
        },
    );
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{}/v1", scene.model.url()), "apiKey": "dummy" },
        "models": { "model": { "limit": { "context": 100_000, "output": 10_000 } } },
    });
    scene.settings(
        ".config/opencode/opencode.json",
        &json!({
            "mcp": { SERVER: server },
            "model": "scripted/model",
            "small_model": "scripted/model",
            "provider": { "scripted": provider },
            "autoupdate": false,
            "share": "disabled",
            "snapshot": false,
        }),
    );
    let mut opencode = scene.client("opencode");
    opencode.env("OPENCODE_DISABLE_MODELS_FETCH", "1").args(["run", "go"]);
    opencode
}

#[test]
fn reads_edits_and_runs() {
    checks::reads_edits_and_runs(&OPENCODE);
}

#[test]
fn reads_over_http() {
    checks::reads_over_http(&OPENCODE);
}
