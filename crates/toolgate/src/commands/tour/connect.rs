//! A client starts this program as a server, and greets it.

use super::notes::Notes;
use super::stage::Stage;
use super::visit::SERVE;

pub(super) const NAME: &str = "connect";
pub(super) const ABOUT: &str = "a client starts this program as its MCP server";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    notes.command(format!("toolgate {}", SERVE.join(" ")));
    let visit = stage.connect().await?;
    let host = visit.guest.host()?;
    let tools = visit.guest.tools().await?;
    notes.answer(&format!(
        "{} {}, MCP {}, {} tools",
        host.name,
        host.version,
        host.protocol,
        tools.len()
    ));
    let wanted = ["edit_file", "grep", "read_file", "shell", "write_file"];
    let offered = wanted.iter().all(|tool| tools.iter().any(|name| name == tool));
    notes.check("it offers what the tour needs", offered)
}
