//! Many small reads in one process, against an MCP server for files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use regex::Regex;
use serde_json::json;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use super::mcp_client;
use crate::process;

const LIMIT: f64 = 1.0;
const READS: usize = 2_000;
const OUTSTANDING: usize = 64;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![Benchmark::new("batch of small reads", small_reads)]
}

fn small_reads(lab: &Lab) -> Result<Row> {
    let scratch = tempfile::tempdir()?;
    let folder = fs::canonicalize(scratch.path())?.join("files");
    write_files(&folder)?;
    let lines = scratch.path().join("calls.jsonl");
    fs::write(&lines, batch_lines())?;
    let mut ours = lab.toolgate(&folder);
    ours.arg("batch").arg(&lines).env("TOOLGATE_MAX_TOOL_CONCURRENCY", OUTSTANDING.to_string());
    let mut server = lab.program(lab.mcp_filesystem()?, &folder);
    server.arg(&folder);

    let answered = files_in(&process::capture(&mut ours)?);
    let commands = vec![without_scratch(&ours, &lines), lab::shown(&server)];
    let calls = server_calls(&folder);
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::new("rust-mcp-filesystem", || {
            mcp_client::time_calls(&mut server, &calls, OUTSTANDING)
        })],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT)
        .checked(format!("{answered} files read"), answered == READS)
        .with_commands(commands))
}

fn write_files(folder: &Path) -> Result<()> {
    fs::create_dir(folder)?;
    for number in 0..READS {
        let text = format!("Note {number}: a small file, as most are.\n").repeat(8);
        fs::write(folder.join(file_name(number)), text)?;
    }
    Ok(())
}

/// How many different files an output quotes.
fn files_in(output: &str) -> usize {
    let first_words = Regex::new(r"Note (\d+):").expect("the pattern is fixed and valid");
    let found: BTreeSet<&str> = first_words.find_iter(output).map(|found| found.as_str()).collect();
    found.len()
}

fn file_name(number: usize) -> String {
    format!("f{number}.txt")
}

fn batch_lines() -> String {
    let mut lines = String::new();
    for number in 0..READS {
        let args = json!({"path": file_name(number)});
        let line = json!({"id": number.to_string(), "tool": "read_file", "args": args});
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    lines
}

fn server_calls(folder: &Path) -> Vec<String> {
    (0..READS)
        .map(|number| {
            let args = json!({"path": folder.join(file_name(number))});
            mcp_client::call_line(number + 1, "read_text_file", &args)
        })
        .collect()
}

fn without_scratch(command: &Command, lines: &Path) -> String {
    lab::shown(command).replace(&*lines.to_string_lossy(), "calls.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_file_once() {
        assert_eq!(files_in("Note 1: a\nNote 1: a\nNote 22: b"), 2);
    }

    #[test]
    fn both_sides_read_the_same_files() {
        let lines = batch_lines();
        let calls = server_calls(Path::new("/files"));
        assert_eq!(lines.lines().count(), calls.len());
        assert!(lines.starts_with(r#"{"id":"0","tool":"read_file","args":{"path":"f0.txt"}}"#));
        assert!(calls[0].contains(r#""arguments":{"path":"/files/f0.txt"}"#));
    }
}
