//! `toolgate mcp` beside other MCP servers for files, over their pipes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use super::mcp_client::{self, Session};
use crate::peers::clients::CLIENTS;
use crate::peers::mcp;

const RUST_LIMIT: f64 = 1.0;
const NODE_LIMIT: f64 = 0.25;
const GREP_LIMIT: f64 = 0.5;
const SHELL_LIMIT: f64 = 1.0;
const START_LIMIT: f64 = 3.0;
const MEMORY_LIMIT: f64 = 20.0;

/// How many files are read in turn, and how often in a round.
const FILES: usize = 100;
const READS: usize = 400;
const AT_ONCE: usize = 32;
const READS_AT_ONCE: usize = 2_000;
const SEARCHES: usize = 20;
const COMMANDS: usize = 20;

/// The peer's name for the tool that ours calls `read_file`.
const PEER_TOOL: &str = "read_text_file";

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("mcp read 1 KB, beside rust-mcp-filesystem", |lab| {
            let folder = small_files()?;
            beside(lab, &folder, rust_server(lab, &folder.path)?, "rust-mcp-filesystem", RUST_LIMIT)
        }),
        Benchmark::new("mcp read 1 KB, beside server-filesystem", |lab| {
            let folder = small_files()?;
            match node_server(lab, &folder.path)? {
                Some(server) => beside(lab, &folder, server, "server-filesystem", NODE_LIMIT),
                None => Ok(Row::skipped("server-filesystem cannot be installed from npm")),
            }
        }),
        Benchmark::new("mcp read 1 KB, 32 in flight", in_flight),
        Benchmark::new("mcp grep, beside spawning rg", grep),
        Benchmark::new("mcp shell, beside Claude Code's Bash", shell),
        Benchmark::new("mcp start to tools/list", start),
        Benchmark::new("mcp idle memory", idle_memory),
    ]
}

/// Single reads in turn, over connections that stay open.
fn beside(
    lab: &Lab,
    folder: &Folder,
    mut server: Command,
    name: &'static str,
    limit: f64,
) -> Result<Row> {
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    // Whatever starts the peer, its name is what people know.
    let commands = vec![lab::shown(&ours), format!("{name} FOLDER")];
    let mut our_session = Session::begin(&mut ours)?;
    let mut peer_session = Session::begin(&mut server)?;
    let (our_calls, peer_calls) =
        (folder.calls("read_file", READS), folder.calls(PEER_TOOL, READS));
    let times = harness::compare(
        Side::new("toolgate", || our_session.median_of(&our_calls)),
        vec![Side::new(name, || peer_session.median_of(&peer_calls))],
        lab.rounds,
    )?;
    our_session.end()?;
    peer_session.end()?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, limit).with_commands(commands))
}

/// Many reads at once: the time of all of them, so that less is a higher rate.
fn in_flight(lab: &Lab) -> Result<Row> {
    let folder = small_files()?;
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    let mut server = rust_server(lab, &folder.path)?;
    let commands = vec![lab::shown(&ours), lab::shown(&server)];
    let mut our_session = Session::begin(&mut ours)?;
    let mut peer_session = Session::begin(&mut server)?;
    let our_calls = folder.calls("read_file", READS_AT_ONCE);
    let peer_calls = folder.calls(PEER_TOOL, READS_AT_ONCE);
    let times = harness::compare(
        Side::new("toolgate", || our_session.time_of(&our_calls, AT_ONCE)),
        vec![Side::new("rust-mcp-filesystem", || peer_session.time_of(&peer_calls, AT_ONCE))],
        lab.rounds,
    )?;
    our_session.end()?;
    peer_session.end()?;
    let reads = f64::from(u32::try_from(READS_AT_ONCE)?);
    let rate = |time: std::time::Duration| reads / time.as_secs_f64();
    let rates = format!("{:.0} and {:.0} reads a second", rate(times.ours), rate(times.peer));
    Ok(Row::versus(times.ours, times.peer, times.peer_name, RUST_LIMIT)
        .checked(rates, true)
        .with_commands(commands))
}

/// A search in a small project, as a tool of a server that runs and as a program that is started.
fn grep(lab: &Lab) -> Result<Row> {
    let folder = small_files()?;
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    let mut rg = lab.program(lab.ripgrep()?, &folder.path);
    rg.args(["-n", "Note 42:"]);
    let commands = vec![lab::shown(&ours), lab::shown(&rg)];
    let mut session = Session::begin(&mut ours)?;
    let args = json!({ "pattern": "Note 42:", "caseSensitive": true });
    let calls: Vec<_> = (1..=SEARCHES).map(|id| mcp_client::call_line(id, "grep", &args)).collect();
    let answer = session.ask(&mcp_client::call_line(SEARCHES + 1, "grep", &args))?;
    let found = answer.contains("f42.txt");
    let times = harness::compare(
        Side::new("toolgate", || session.median_of(&calls)),
        vec![Side::command("rg", rg, Accepted::Success)],
        lab.rounds,
    )?;
    session.end()?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, GREP_LIMIT)
        .checked("the file is found".to_owned(), found)
        .with_commands(commands))
}

/// A command of a session that has run one before, beside another server that runs commands.
fn shell(lab: &Lab) -> Result<Row> {
    let Some(clients) = CLIENTS.for_benchmarks(&lab.workspace)? else {
        return Ok(Row::skipped("Claude Code cannot be installed from npm"));
    };
    let folder = small_files()?;
    let home = tempfile::tempdir()?;
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    let mut claude = lab.program(clients.join("claude"), &folder.path);
    claude.args(["mcp", "serve"]).env("HOME", home.path()).env_remove("CLAUDE_CONFIG_DIR");
    for variable in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER"] {
        claude.env(variable, "1");
    }
    let commands = vec![lab::shown(&ours), lab::shown(&claude)];
    let mut our_session = Session::begin(&mut ours)?;
    let mut peer_session = Session::begin(&mut claude)?;
    let args = json!({ "command": "echo a$((6*7))" });
    let calls = |tool: &str| -> Vec<_> {
        (1..=COMMANDS).map(|id| mcp_client::call_line(id, tool, &args)).collect()
    };
    let (our_calls, peer_calls) = (calls("shell"), calls("Bash"));
    let mut printed = true;
    for (session, calls) in [(&mut our_session, &our_calls), (&mut peer_session, &peer_calls)] {
        for first in calls.iter().take(1) {
            printed &= session.ask(first)?.contains("a42");
        }
    }
    let times = harness::compare(
        Side::new("toolgate", || our_session.median_of(&our_calls)),
        vec![Side::new("Claude Code", || peer_session.median_of(&peer_calls))],
        lab.rounds,
    )?;
    our_session.end()?;
    peer_session.end()?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, SHELL_LIMIT)
        .checked("both print a42".to_owned(), printed)
        .with_commands(commands))
}

/// From the start of the process to the list of its tools.
fn start(lab: &Lab) -> Result<Row> {
    let folder = small_files()?;
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    let mut server = rust_server(lab, &folder.path)?;
    let commands = vec![lab::shown(&ours), lab::shown(&server)];
    let times = harness::compare(
        Side::new("toolgate", || mcp_client::time_start(&mut ours)),
        vec![Side::new("rust-mcp-filesystem", || mcp_client::time_start(&mut server))],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, START_LIMIT).with_commands(commands))
}

/// What a server holds that has listed its tools and waits.
fn idle_memory(lab: &Lab) -> Result<Row> {
    let folder = small_files()?;
    let mut ours = lab.toolgate(&folder.path);
    ours.arg("mcp");
    let commands = vec![lab::shown(&ours)];
    let mut session = Session::begin(&mut ours)?;
    let kilobytes = session.memory_at_rest()? / 1_000;
    session.end()?;
    let megabytes = f64::from(u32::try_from(kilobytes)?) / 1_000.0;
    Ok(Row::at_most(megabytes, MEMORY_LIMIT, "MB").with_commands(commands))
}

/// A folder with small files.
struct Folder {
    path: PathBuf,
    _scratch: TempDir,
}

/// Files of 1 KB each.
fn small_files() -> Result<Folder> {
    let scratch = tempfile::tempdir()?;
    let path = fs::canonicalize(scratch.path())?.join("files");
    fs::create_dir(&path)?;
    for number in 0..FILES {
        let mut text = format!("Note {number}: a small file, as most are.\n").repeat(40);
        text.truncate(1023);
        fs::write(path.join(file_name(number)), text + "\n")?;
    }
    Ok(Folder { path, _scratch: scratch })
}

impl Folder {
    /// Reads of one file after the other.
    fn calls(&self, tool: &str, count: usize) -> Vec<String> {
        let call = |number: usize| {
            let args = json!({ "path": self.path.join(file_name(number % FILES)) });
            mcp_client::call_line(number + 1, tool, &args)
        };
        (0..count).map(call).collect()
    }
}

fn file_name(number: usize) -> String {
    format!("f{number}.txt")
}

fn rust_server(lab: &Lab, folder: &Path) -> Result<Command> {
    let mut server = lab.program(lab.mcp_filesystem()?, folder);
    server.arg(folder);
    Ok(server)
}

fn node_server(lab: &Lab, folder: &Path) -> Result<Option<Command>> {
    let Some(packages) = mcp::NPM.for_benchmarks(&lab.workspace)? else { return Ok(None) };
    let script = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    let mut server = lab.program(packages.join("node"), folder);
    server.arg(packages.join(script)).arg(folder);
    Ok(Some(server))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_kilobyte_and_calls_name_them_in_turn() {
        let folder = small_files().unwrap();
        let sizes: Vec<_> = fs::read_dir(&folder.path)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .collect();
        assert_eq!(sizes, [1024; FILES]);
        let calls = folder.calls("read_file", FILES + 1);
        assert!(calls[1].contains("/f1.txt\"") && calls[FILES].contains("/f0.txt\""));
    }
}
