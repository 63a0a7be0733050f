//! What was measured on what: facts for the head of the report.

use std::fs;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};

use super::lab::Lab;
use crate::peers::clients::CLIENTS;
use crate::{peers, process};

/// Name and value of each fact, about programs that were used. Names no host, user or folder.
pub(super) fn describe(lab: &Lab) -> Result<Vec<(&'static str, String)>> {
    let mut facts = vec![
        ("Date", first_line(Command::new("date").args(["-u", "+%Y-%m-%d"]))?),
        ("Processor", processor()?),
        ("Memory", memory()?),
        ("System", system()?),
        ("Rounds", format!("{} timed after 2 to warm up", lab.rounds)),
        ("toolgate", version(Command::new(&lab.toolgate))?),
        ("sed", version(Command::new("sed"))?),
        ("ls", version(Command::new("ls"))?),
        ("cedar-policy", peers::policy_peer_version(&lab.workspace, "cedar-policy")?),
        ("regorus", peers::policy_peer_version(&lab.workspace, "regorus")?),
        ("gemini-cli-core", peers::GEMINI_VERSION.to_owned()),
        ("Claude Code", CLIENTS.version("@anthropic-ai/claude-code")?),
        ("codex", CLIENTS.version("@openai/codex")?),
        ("node", version(Command::new("node")).unwrap_or_else(|_| "not installed".to_owned())),
        ("rustc", version(Command::new("rustc"))?),
    ];
    let used = &lab.used;
    if let Some(kernel) = used.kernel.get() {
        facts.push(("Tree", format!("Linux {}, {} files", kernel.version, kernel.files)));
    }
    for (name, program) in [
        ("ripgrep", &used.ripgrep),
        ("fd", &used.fd),
        ("rust-mcp-filesystem", &used.mcp_filesystem),
    ] {
        if let Some(program) = program.get() {
            facts.push((name, version(Command::new(program))?));
        }
    }
    Ok(facts)
}

fn processor() -> Result<String> {
    let cores = thread::available_parallelism()?;
    let info = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let model = value_of(&info, "model name").unwrap_or_else(|| "unknown model".to_owned());
    Ok(format!("{cores} cores, {model}"))
}

fn memory() -> Result<String> {
    let info = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let total = value_of(&info, "MemTotal").context("/proc/meminfo names no MemTotal")?;
    gibibytes(&total).with_context(|| format!("cannot read the size `{total}`"))
}

fn system() -> Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")
        .context("cannot read /proc/sys/kernel/osrelease")?;
    Ok(format!("Linux {}", release.trim()))
}

fn version(mut command: Command) -> Result<String> {
    first_line(command.arg("--version"))
}

fn first_line(command: &mut Command) -> Result<String> {
    let answer = process::capture(command)?;
    Ok(answer.lines().next().unwrap_or_default().trim().to_owned())
}

/// The value of `name: value`, as files below /proc have it.
fn value_of(info: &str, name: &str) -> Option<String> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

fn gibibytes(kibibytes: &str) -> Option<String> {
    let number: u64 = kibibytes.strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{} GiB", number / (1024 * 1024)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values_as_proc_has_them() {
        let info = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(value_of(info, "model name").as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(value_of(info, "flags"), None);
    }

    #[test]
    fn memory_is_in_whole_gibibytes() {
        assert_eq!(gibibytes("25165824 kB").as_deref(), Some("24 GiB"));
        assert_eq!(gibibytes("lots"), None);
    }
}
