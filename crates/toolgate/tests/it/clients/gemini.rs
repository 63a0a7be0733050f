//! Gemini CLI.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::scene::{Scene, Server, bearing};
use super::wire::SERVER;

const GEMINI: Client = Client { headless, answer: None };

fn headless(scene: &Scene, server: &Server) -> Command {
    let server = server.either(
        |program| json!({ "command": program, "timeout": 330_000, "trust": true }),
        |url, token| {
            let headers = bearing(token);
            json!({ "httpUrl": url, "headers": headers, "timeout": 330_000, "trust": true })
        },
    );
    scene.settings(
        ".gemini/settings.json",
        &json!({
            "mcpServers": { SERVER: server },
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
            // Headless, it hides its own tools that would ask, and those of servers with the same
            // names: `write_file`, `web_fetch`, `write_todos`.
            "tools": { "core": [format!("mcp_{SERVER}_*")] },
        }),
    );
    let mut gemini = scene.client("gemini");
    gemini
        .env("GOOGLE_GEMINI_BASE_URL", scene.model.url())
        .env("GEMINI_API_KEY", "dummy")
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        // Without a model, it asks one which to take.
        .args(["--model", "gemini-2.5-flash", "--prompt", "go"]);
    gemini
}

#[test]
fn reads_edits_and_runs() {
    checks::reads_edits_and_runs(&GEMINI);
}

#[test]
fn reads_over_http() {
    checks::reads_over_http(&GEMINI);
}
