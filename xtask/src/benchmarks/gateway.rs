//! What it costs to stand between a client and a server: ours beside a fastmcp proxy.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Side};
use super::lab::{self, Lab};
use super::mcp_client::{self, Session};
use crate::peers::mcp;
use crate::process;

const LIMIT: f64 = 0.15;
const MOST: Duration = Duration::from_micros(300);
const CALLS: usize = 200;
/// Called on the server behind.
const TOOL: &str = "read_text_file";

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![Benchmark::new("mcp gateway, beside a fastmcp proxy", gateway)]
}

/// The same server, spoken to in three ways.
struct Ways {
    direct: Command,
    through_toolgate: Command,
    through_fastmcp: Command,
}

fn gateway(lab: &Lab) -> Result<Row> {
    if !has_gateway(lab)? {
        return Ok(Row::skipped("this `toolgate mcp` has no `--no-prefix`, so no gateway"));
    }
    let Some(python) = mcp::PYTHON.for_benchmarks(&lab.workspace)? else {
        return Ok(Row::skipped("fastmcp cannot be installed from PyPI"));
    };
    let scratch = tempfile::tempdir()?;
    let root = fs::canonicalize(scratch.path())?;
    let folder = root.join("files");
    fs::create_dir(&folder)?;
    fs::write(folder.join("note.txt"), "A small file, as most are.\n".repeat(38))?;
    let ways = Ways {
        direct: direct(lab, &folder)?,
        through_toolgate: through_toolgate(lab, &root, &folder)?,
        through_fastmcp: through_fastmcp(lab, &root, &folder, &python)?,
    };
    compare(ways, &folder.join("note.txt"), lab.rounds)
}

fn has_gateway(lab: &Lab) -> Result<bool> {
    let help = process::capture(Command::new(&lab.toolgate).args(["mcp", "--help"]))?;
    Ok(help.contains("--no-prefix"))
}

/// What each way adds to a call, in one run.
fn compare(ways: Ways, file: &Path, rounds: u32) -> Result<Row> {
    let Ways { mut direct, mut through_toolgate, mut through_fastmcp } = ways;
    let proxy = "fastmcp run proxy.json".to_owned();
    let commands = vec![lab::shown(&through_toolgate), proxy, lab::shown(&direct)];
    let call = |id| mcp_client::call_line(id, TOOL, &json!({ "path": file }));
    let calls: Vec<_> = (1..=CALLS).map(call).collect();
    let mut bare = Session::begin(&mut direct)?;
    let mut ours = Session::begin(&mut through_toolgate)?;
    let mut peer = Session::begin(&mut through_fastmcp)?;
    let [bare_time, our_time, peer_time] = harness::medians(
        [
            Side::new("direct", || bare.median_of(&calls)),
            Side::new("toolgate", || ours.median_of(&calls)),
            Side::new("fastmcp proxy", || peer.median_of(&calls)),
        ],
        rounds,
    )?;
    for session in [bare, ours, peer] {
        session.end()?;
    }
    let (adds, peer_adds) =
        (our_time.saturating_sub(bare_time), peer_time.saturating_sub(bare_time));
    let within = format!("at most {} µs", MOST.as_micros());
    Ok(Row::versus(adds, peer_adds, "fastmcp proxy", LIMIT)
        .checked(within, adds <= MOST)
        .with_commands(commands))
}

fn direct(lab: &Lab, folder: &Path) -> Result<Command> {
    let mut server = lab.program(lab.mcp_filesystem()?, folder);
    server.arg(folder);
    Ok(server)
}

/// A home of its own, with the one server in its settings. It is trusted, so that a tool which says
/// that it only reads is recorded as one.
fn through_toolgate(lab: &Lab, root: &Path, folder: &Path) -> Result<Command> {
    let home = root.join("home");
    fs::create_dir(&home)?;
    let (command, argument) = (json!(lab.mcp_filesystem()?), json!(folder));
    let config =
        format!("[servers.files]\ncommand = {command}\nargs = [{argument}]\ntrust = true\n");
    fs::write(home.join("config.toml"), config)?;
    let mut gateway = lab.toolgate(folder);
    gateway.env("TOOLGATE_HOME", home).args(["mcp", "--no-prefix"]);
    Ok(gateway)
}

fn through_fastmcp(lab: &Lab, root: &Path, folder: &Path, python: &Path) -> Result<Command> {
    let config = root.join("proxy.json");
    let server = json!({ "command": lab.mcp_filesystem()?, "args": [folder] });
    fs::write(&config, json!({ "mcpServers": { "files": server } }).to_string())?;
    let mut proxy = lab.program("python3", folder);
    proxy.env("PYTHONPATH", python).args(["-m", "fastmcp.cli", "run", "--no-banner"]);
    proxy.arg("--log-level=ERROR").arg(&config);
    Ok(proxy)
}
