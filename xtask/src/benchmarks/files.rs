//! `read_file` and `edit_file` of a large text against sed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::benchmark::{Benchmark, Row};
use super::fixtures;
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use crate::process;

const LIMIT: f64 = 0.7;
const FILE: &str = "big.txt";

/// What an edit replaces, and what with; the next edit does the reverse.
const TARGETS: [&str; 2] = ["needle-alpha-in-the-hay", "needle-bravo-in-the-hay"];

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("read_file near the end", read_near_end),
        Benchmark::new("edit_file in the middle", edit_in_middle),
    ]
}

fn read_near_end(lab: &Lab) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let text = fixtures::write_large_text(&folder.path().join(FILE), TARGETS[0])?;
    let (start, end) = (text.lines - 50, text.lines - 40);
    let args = json!({"path": FILE, "startLine": start, "endLine": end});
    let mut ours = lab.call(folder.path(), "read_file", &args);
    let mut peer = lab.program("sed", folder.path());
    peer.args(["-n", &format!("{start},{end}p"), FILE]);

    let same = shows_range(&mut ours, start, end)? && shows_range(&mut peer, start, end)?;
    let commands = vec![lab::shown(&ours), lab::shown(&peer)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::command("sed", peer, Accepted::Success)],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT)
        .checked(said(same, "same lines"), same)
        .with_commands(commands))
}

/// Whether a command prints both ends of a range of lines and nothing around it.
fn shows_range(command: &mut Command, start: usize, end: usize) -> Result<bool> {
    let output = process::capture(command)?;
    let shows = |line| output.contains(&fixtures::numbered(line));
    Ok(shows(start) && shows(end) && !shows(start - 1) && !shows(end + 1))
}

fn edit_in_middle(lab: &Lab) -> Result<Row> {
    let (our_folder, peer_folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for folder in [&our_folder, &peer_folder] {
        let middle = format!(" {}", TARGETS[0]);
        fixtures::write_large_text(&folder.path().join(FILE), &middle)?;
    }
    let commands = vec![
        lab::shown(&our_edit(lab, our_folder.path(), TARGETS)),
        lab::shown(&peer_edit(lab, peer_folder.path(), TARGETS)),
    ];
    let ours =
        Side::new("toolgate", back_and_forth(|targets| our_edit(lab, our_folder.path(), targets)));
    let peer =
        Side::new("sed -i", back_and_forth(|targets| peer_edit(lab, peer_folder.path(), targets)));
    let times = harness::compare(ours, vec![peer], lab.rounds)?;

    let same = fs::read(our_folder.path().join(FILE))? == fs::read(peer_folder.path().join(FILE))?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT)
        .checked(said(same, "same bytes"), same)
        .with_commands(commands))
}

/// Times an edit, and the next time its reverse, so that there is always one to make.
fn back_and_forth(edit: impl Fn([&str; 2]) -> Command) -> impl FnMut() -> Result<Duration> {
    let mut targets = TARGETS;
    move || {
        let took = harness::time(&mut edit(targets), Accepted::Success)?;
        targets.reverse();
        Ok(took)
    }
}

fn our_edit(lab: &Lab, folder: &Path, [target, replacement]: [&str; 2]) -> Command {
    let args = json!({
        "path": FILE,
        "edits": [{"target": target, "replacement": replacement}],
    });
    let mut command = lab.program(&lab.toolgate, folder);
    command.args(["--mode", "yolo", "--cwd"]).arg(folder);
    command.args(["call", "edit_file", &args.to_string()]);
    command
}

fn peer_edit(lab: &Lab, folder: &Path, [target, replacement]: [&str; 2]) -> Command {
    let mut command = lab.program("sed", folder);
    command.args(["-i", &format!("s/{target}/{replacement}/"), FILE]);
    command
}

fn said(same: bool, what: &str) -> String {
    if same { what.to_owned() } else { format!("not the {what}") }
}
