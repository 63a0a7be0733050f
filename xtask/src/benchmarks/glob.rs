//! `glob` and `ls` against fd, ripgrep and ls.

use std::fs::{self, File};

use anyhow::Result;
use serde_json::json;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};

const LIMIT: f64 = 1.0;

/// Files in the folder that `ls` lists.
const CROWD: usize = 20_000;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("glob by extension", |lab| {
            let fd = ["--glob", "*.c", "--type", "f"];
            faster_of_two(lab, "**/*.c", &fd, &["--files", "-g", "*.c"])
        }),
        Benchmark::new("glob everything", |lab| {
            faster_of_two(lab, "**/*", &["--type", "f"], &["--files"])
        }),
        Benchmark::new("ls crowded folder", crowded_folder),
    ]
}

/// A listing of the tree, against fd or ripgrep, whichever is faster.
fn faster_of_two(lab: &Lab, pattern: &str, fd_args: &[&str], ripgrep_args: &[&str]) -> Result<Row> {
    let tree = lab.kernel()?;
    let ours = lab.call(tree, "glob", &json!({"pattern": pattern}));
    let mut fd = lab.program(lab.fd()?, tree);
    fd.args(fd_args);
    let mut ripgrep = lab.program(lab.ripgrep()?, tree);
    ripgrep.args(ripgrep_args);

    let commands = vec![lab::shown(&ours), lab::shown(&fd), lab::shown(&ripgrep)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![
            Side::command("fd", fd, Accepted::Success),
            Side::command("rg", ripgrep, Accepted::Success),
        ],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT).with_commands(commands))
}

fn crowded_folder(lab: &Lab) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    for number in 0..CROWD {
        File::create(folder.path().join(format!("file-{number:05}.txt")))?;
    }
    // Both sides see the name the folder really has.
    let folder_path = fs::canonicalize(folder.path())?;
    let ours = lab.call(&folder_path, "ls", &json!({"path": "."}));
    let mut peer = lab.program("ls", &folder_path);
    peer.arg("-la");

    let commands = vec![lab::shown(&ours), lab::shown(&peer)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::command("ls", peer, Accepted::Success)],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT).with_commands(commands))
}
