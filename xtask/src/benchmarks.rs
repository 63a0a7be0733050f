//! Our speed and a peer's, measured in turn on the same machine, in one run.
//!
//! Each benchmark module lists its benchmarks; [`harness`] times, [`lab`] holds the
//! programs and the tree, [`report`] is what is written down.

mod batch;
mod everyday;
mod files;
mod fixtures;
mod gateway;
mod glob;
mod grep;
mod overhead;
mod policy;
mod records;
mod server;
mod shell;

mod answering;
mod benchmark;
mod harness;
mod lab;
mod machine;
mod mcp_client;
mod own;
mod report;

use anyhow::{Result, ensure};

pub(crate) use self::report::Report;

use self::benchmark::{Benchmark, Row};
use self::lab::Lab;
use self::report::Section;
use crate::workspace::Workspace;

/// The names of all benchmarks, in order.
pub(crate) fn names() -> Vec<&'static str> {
    sections()
        .iter()
        .flat_map(|(_, benchmarks)| benchmarks)
        .map(|benchmark| benchmark.name)
        .collect()
}

/// Runs the benchmarks whose name contains one of `wanted`, or all of them.
pub(crate) fn run(workspace: &Workspace, wanted: &[String], rounds: u32) -> Result<Report> {
    let chosen = choose(sections(), wanted);
    ensure!(!chosen.is_empty(), "no benchmark is named so: see `--list`");
    let lab = Lab::set_up(workspace, rounds)?;
    let mut finished = Vec::new();
    for (title, benchmarks) in chosen {
        let rows = benchmarks.iter().map(|one| run_one(one, &lab)).collect();
        finished.push(Section { title, rows });
    }
    Ok(Report { facts: machine::describe(&lab)?, sections: finished })
}

type Titled = (&'static str, Vec<Benchmark>);

fn sections() -> Vec<Titled> {
    vec![
        ("Search in the kernel's source", grep::benchmarks()),
        ("Listing", glob::benchmarks()),
        ("Large files", files::benchmarks()),
        ("Overhead", overhead::benchmarks()),
        ("Many small calls", batch::benchmarks()),
        ("Policy", policy::benchmarks()),
        ("Approvals and ledger", records::benchmarks()),
        ("Commands", shell::benchmarks()),
        ("Everyday commands", everyday::benchmarks()),
        ("MCP server", server::benchmarks()),
        ("MCP gateway", gateway::benchmarks()),
    ]
}

fn choose(sections: Vec<Titled>, wanted: &[String]) -> Vec<Titled> {
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    sections
        .into_iter()
        .map(|(title, mut benchmarks)| {
            benchmarks.retain(|benchmark| is_wanted(benchmark.name));
            (title, benchmarks)
        })
        .filter(|(_, benchmarks)| !benchmarks.is_empty())
        .collect()
}

/// A benchmark that cannot run counts as missed; the others still run.
fn run_one(benchmark: &Benchmark, lab: &Lab) -> Row {
    eprintln!("{}…", benchmark.name);
    let row = (benchmark.run)(lab).unwrap_or_else(|error| {
        eprintln!("{}: {error:#}", benchmark.name);
        Row::not_measured()
    });
    eprintln!("{}: {}", benchmark.name, row.brief());
    row.named(benchmark.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names = names();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_part_of_the_name_chooses() {
        let chosen = choose(sections(), &["grep literal".to_owned()]);
        assert_eq!(chosen.len(), 1);
        assert!(chosen[0].1.iter().all(|one| one.name.contains("grep literal")));
        assert!(choose(sections(), &["no such".to_owned()]).is_empty());
        assert_eq!(choose(sections(), &[]).len(), sections().len());
    }
}
