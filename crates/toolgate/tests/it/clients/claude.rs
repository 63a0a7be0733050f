//! Claude Code.

use std::process::Command;

use serde_json::json;

use super::checks::{self, Client};
use super::scene::{Scene, Server};
use super::wire::SERVER;

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
        |url| json!({ "type": "http", "url": url }),
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
