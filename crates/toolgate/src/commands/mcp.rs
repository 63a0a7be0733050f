//! `toolgate mcp`: the tools for any MCP client.

use std::process::ExitCode;
use std::sync::Arc;

use toolgate_core::visible;
use toolgate_mcp::server::{Server, ServerSettings, Sessions};

use crate::app::App;
use crate::global::GlobalArgs;

/// Serve the tools to an MCP client
///
/// Speaks on standard input and output until the client ends the connection,
/// which is one session. What the policy asks about is asked through the client
/// where that is trusted enough, and waits for `toolgate approvals` otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {}

pub(crate) fn run(global: &GlobalArgs, _args: &McpArgs) -> anyhow::Result<ExitCode> {
    let app = App::for_serving(global)?;
    let settings = ServerSettings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: visible::path(app.session.workspace().root()),
        dialect: global.dialect,
        hidden: global.exclude_tools.clone(),
        patience: app.patience,
    };
    let sessions = Sessions::one(Arc::clone(&app.session));
    let server = Server::new(app.gate.clone(), sessions, &app.elicitation, settings);
    app.block_on(server.serve_standard_streams(&app.cancellation))??;
    Ok(ExitCode::SUCCESS)
}
