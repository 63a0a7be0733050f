//! `grep` against ripgrep.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};

const LIMIT: f64 = 1.05;
const EARLY_STOP_LIMIT: f64 = 3.0;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("grep literal", |lab| {
            let args = json!({"pattern": "EXPORT_SYMBOL_GPL", "caseSensitive": true});
            whole_tree(lab, &args, &["EXPORT_SYMBOL_GPL"])
        }),
        Benchmark::new("grep case-insensitive", |lab| {
            let args = json!({"pattern": "copyright holder"});
            whole_tree(lab, &args, &["-i", "copyright holder"])
        }),
        Benchmark::new("grep regex", |lab| {
            let pattern = r"static\s+int\s+\w+_probe\(";
            let args = json!({"pattern": pattern, "caseSensitive": true});
            whole_tree(lab, &args, &[pattern])
        }),
        Benchmark::new("grep file-filtered", |lab| {
            let args =
                json!({"pattern": "mutex_lock", "filePattern": "*.h", "caseSensitive": true});
            whole_tree(lab, &args, &["-g", "*.h", "mutex_lock"])
        }),
        Benchmark::new("grep nothing found", |lab| {
            let args = json!({"pattern": "zzz_not_there_qqq", "caseSensitive": true});
            whole_tree(lab, &args, &["zzz_not_there_qqq"])
        }),
        Benchmark::new("grep early stop", early_stop),
    ]
}

/// A search for everything, which must also find what ripgrep finds.
fn whole_tree(lab: &Lab, args: &Value, ripgrep_args: &[&str]) -> Result<Row> {
    let tree = lab.kernel()?;
    let ours = lab.call(tree, "grep", args);
    let mut peer = lab.program(lab.ripgrep()?, tree);
    peer.arg("-n").args(ripgrep_args);

    let our_matches = count_matches(&lab.call_for_json(tree, "grep", args)?)?;
    let peer_matches = count_lines(&mut peer)?;
    let commands = vec![lab::shown(&ours), lab::shown(&peer)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::command("rg", peer, Accepted::SuccessOrNothingFound)],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, LIMIT)
        .checked(format!("{our_matches} and {peer_matches} matches"), our_matches == peer_matches)
        .with_commands(commands))
}

/// The first few matches, where the peer is stopped by a closed pipe.
fn early_stop(lab: &Lab) -> Result<Row> {
    let tree = lab.kernel()?;
    let args = json!({"pattern": "the", "caseSensitive": true, "maxResults": 10});
    let ours = lab.call(tree, "grep", &args);
    let mut peer = lab.program("sh", tree);
    peer.args(["-c", "rg -n the | head -n 10"]).env("PATH", lab.path_with_peers()?);

    let commands = vec![lab::shown(&ours), lab::shown(&peer)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::command("rg and head", peer, Accepted::Success)],
        lab.rounds,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, EARLY_STOP_LIMIT)
        .with_commands(commands))
}

/// Matches as the answer counts or lists them.
fn count_matches(answer: &Value) -> Result<usize> {
    let matches = answer
        .pointer("/result/structured/matches")
        .context("the answer has no `.result.structured.matches`")?;
    match matches {
        Value::Array(list) => Ok(list.len()),
        other => other
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .with_context(|| format!("`.result.structured.matches` is `{other}`")),
    }
}

fn count_lines(search: &mut Command) -> Result<usize> {
    let output = search.stdin(std::process::Stdio::null()).output()?;
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "`{}`: {}",
        lab::shown(search),
        output.status
    );
    Ok(output.stdout.split_inclusive(|&byte| byte == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_matches_however_they_are_given() {
        let answer = |matches: Value| json!({"result": {"structured": {"matches": matches}}});
        assert_eq!(count_matches(&answer(json!(7))).unwrap(), 7);
        assert_eq!(count_matches(&answer(json!(["a", "b"]))).unwrap(), 2);
        assert!(count_matches(&answer(json!("many"))).is_err());
        assert!(count_matches(&json!({})).is_err());
    }

    #[test]
    fn counts_lines_and_takes_no_match_for_none() {
        let mut two = Command::new("printf");
        two.arg("a\nb\n");
        assert_eq!(count_lines(&mut two).unwrap(), 2);
        assert_eq!(count_lines(&mut Command::new("false")).unwrap(), 0);
    }
}
