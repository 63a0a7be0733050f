//! Qwen Code.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::scene::{Scene, Server, bearing};
use super::wire::SERVER;

const QWEN: Client = Client { headless, answer: None };

fn headless(scene: &Scene, server: &Server) -> Command {
    let server = server.either(
        |program| json!({ "command": program, "timeout": 330_000, "trust": true }),
        |url, token| {
            let headers = bearing(token);
            json!({ "httpUrl": url, "headers": headers, "timeout": 330_000, "trust": true })
        },
    );
    scene.settings(
        ".qwen/settings.json",
        &json!({
            "mcpServers": { SERVER: server },
            "security": { "auth": { "selectedType": "openai" } },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
            "memory": { "enableManagedAutoMemory": false },
            // Every tool is offered from the start.
            "tools": { "toolSearch": { "enabled": false } },
        }),
    );
    let mut qwen = scene.client("qwen");
    qwen.env("OPENAI_BASE_URL", format!("{}/v1", scene.model.url()))
        .env("OPENAI_API_KEY", "dummy")
        .env("OPENAI_MODEL", "scripted")
        .args(["--prompt", "go"]);
    qwen
}

#[test]
fn reads_edits_and_runs() {
    checks::reads_edits_and_runs(&QWEN);
}

#[test]
fn reads_over_http() {
    checks::reads_over_http(&QWEN);
}
