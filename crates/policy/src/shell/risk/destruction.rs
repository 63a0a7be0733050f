//! What destroys: removed folders, overwritten disks, endless processes, lost records.

use super::call::{Call, variable};
use super::finding::{RiskKind, ShellRisk};
use super::places::{is_disk, is_log, is_root_or_home, is_workspace};

/// Programs that make or change file systems and partitions.
const PARTITIONERS: &[&str] = &[
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "cryptsetup",
    "mkswap",
    "lvremove",
    "vgremove",
    "pvremove",
];

/// Programs that take files away, or what is in them.
const REMOVERS: &[&str] = &["rm", "rmdir", "shred", "srm", "trash", "truncate", "unlink", "wipe"];

/// Whether a program, named without its folder, takes files away.
pub(crate) fn removes(name: &str) -> bool {
    REMOVERS.contains(&name)
}

/// Whether a program, named without its folder, writes past the file system.
pub(crate) fn writes_disks(name: &str) -> bool {
    const OTHERS: &[&str] = &["dd", "mke2fs", "wipefs", "badblocks", "blkdiscard", "hdparm"];
    PARTITIONERS.contains(&name)
        || OTHERS.contains(&name)
        || name == "mkfs"
        || name.starts_with("mkfs.")
}

/// Programs it is normal to pipe into themselves.
const FILTERS: &[&str] = &["cat", "tac", "rev", "sort", "tee", ""];

/// What a single command destroys.
pub(crate) fn of_call(call: &Call) -> Vec<ShellRisk> {
    let mut risks = Vec::new();
    risks.extend(removal(call));
    risks.extend(disk(call));
    risks.extend(records(call));
    risks
}

/// Functions that call themselves twice: `:(){ :|:& };:`.
pub(crate) fn of_line(calls: &[Call]) -> Option<ShellRisk> {
    let doubled = calls.windows(2).find_map(|pair| match pair {
        [left, right] if left.command.feeds_pipe && right.command.reads_pipe => {
            let alike = left.name == right.name
                && left.arguments.is_empty()
                && right.arguments.is_empty()
                && !FILTERS.contains(&left.name);
            alike.then_some(left.name)
        }
        _ => None,
    })?;
    let calls = calls.iter().filter(|call| call.name == doubled).count();
    (doubled == ":" || calls > 2).then(|| {
        ShellRisk::deny(RiskKind::ForkBomb, format!("`{doubled}` starts itself without end"))
    })
}

fn removal(call: &Call) -> Option<ShellRisk> {
    let removes = match call.name {
        "rm" => call.has_option("rR", &["--recursive", "--no-preserve-root"]),
        "find" => call.texts().any(|text| text == "-delete" || text == "rm"),
        "rmdir" | "shred" | "unlink" => true,
        "mv" => return moved_away(call),
        "chmod" | "chown" | "chgrp" => return rights_of_everything(call),
        _ => return None,
    };
    if !removes {
        return None;
    }
    if call.texts().any(|text| text == "--no-preserve-root") {
        return Some(ShellRisk::deny(RiskKind::RemovesRoot, "removes the root folder"));
    }
    let targets: Vec<&str> = match call.name {
        "find" => call.texts().take_while(|text| !text.starts_with('-')).collect(),
        _ => call.operands().collect(),
    };
    if let Some(root) = targets.iter().find(|target| is_root_or_home(target)) {
        // A `find` with tests picks files; only a bare one takes all.
        let picks = call.name == "find"
            && call.texts().any(|text| text.ends_with("name") || text.ends_with("time"));
        let message = format!("removes `{root}`");
        return Some(if picks {
            ShellRisk::critical(RiskKind::RemovesRoot, message)
        } else {
            ShellRisk::deny(RiskKind::RemovesRoot, message)
        });
    }
    let here = targets.iter().find(|target| call.name == "rm" && is_workspace(target))?;
    Some(ShellRisk::critical(RiskKind::RemovesWorkspace, format!("removes everything in `{here}`")))
}

fn moved_away(call: &Call) -> Option<ShellRisk> {
    let mut operands: Vec<&str> = call.operands().collect();
    let last = operands.pop()?;
    let root = operands.iter().find(|operand| is_root_or_home(operand))?;
    let message = format!("moves `{root}` to `{last}`");
    Some(if last == "/dev/null" {
        ShellRisk::deny(RiskKind::RemovesRoot, message)
    } else {
        ShellRisk::critical(RiskKind::RemovesRoot, message)
    })
}

fn rights_of_everything(call: &Call) -> Option<ShellRisk> {
    let root = call.operands().skip(1).find(|operand| is_root_or_home(operand))?;
    call.has_option("R", &["--recursive"]).then(|| {
        ShellRisk::critical(
            RiskKind::PrivilegeTool,
            format!("changes rights of everything in `{root}`"),
        )
    })
}

fn disk(call: &Call) -> Option<ShellRisk> {
    let deny = |target: &str| {
        ShellRisk::deny(RiskKind::DiskTool, format!("`{}` overwrites `{target}`", call.name))
    };
    if let Some(target) = call.written().find(|target| is_disk(target)) {
        return Some(ShellRisk::deny(RiskKind::DiskTool, format!("overwrites `{target}`")));
    }
    let disk = || call.texts().find(|text| is_disk(text));
    match call.name {
        "dd" => call
            .texts()
            .filter_map(|text| text.strip_prefix("of="))
            .find(|target| is_disk(target))
            .map(deny),
        "cp" | "tee" | "shred" | "wipefs" | "badblocks" | "blkdiscard" | "hdparm" => match disk() {
            Some(target) => Some(deny(target)),
            None if call.name == "shred" => {
                Some(ShellRisk::high(RiskKind::DiskTool, "`shred` leaves nothing to restore"))
            }
            None => None,
        },
        name if name == "mkfs" || name.starts_with("mkfs.") || name == "mke2fs" => match disk() {
            Some(target) => Some(deny(target)),
            None => Some(ShellRisk::critical(
                RiskKind::DiskTool,
                format!("`{name}` makes a new file system"),
            )),
        },
        name if PARTITIONERS.contains(&name) => {
            Some(ShellRisk::critical(RiskKind::DiskTool, format!("`{name}` changes disks")))
        }
        _ => None,
    }
}

fn records(call: &Call) -> Option<ShellRisk> {
    let found = |message: String| Some(ShellRisk::high(RiskKind::LogTampering, message));
    match call.name {
        "history" if call.has_option("cd", &[]) => return found("clears the history".into()),
        "unset" if call.texts().any(|text| text.starts_with("HIST")) => {
            return found("stops the history".into());
        }
        "set"
            if call.texts().any(|text| text == "+o")
                && call.texts().any(|text| text == "history") =>
        {
            return found("stops the history".into());
        }
        "journalctl" if call.texts().any(|text| text.starts_with("--vacuum")) => {
            return found("removes the system's log".into());
        }
        "dmesg" if call.has_option("cC", &["--clear", "--read-clear"]) => {
            return found("clears the kernel's log".into());
        }
        "auditctl" if call.has_option("De", &[]) => return found("stops auditing".into()),
        "rm" | "unlink" | "truncate" | "shred" | "ln" | "mv" => {
            if let Some(log) = call.operands().find(|operand| is_log(operand)) {
                return found(format!("`{}` takes away `{log}`", call.name));
            }
        }
        _ => {}
    }
    if let Some(log) = call.written().find(|target| is_log(target)) {
        return found(format!("writes over `{log}`"));
    }
    let exported = call.texts().filter_map(variable);
    let exported =
        exported.filter(|_| call.is(&["export", "declare", "typeset", "local", "readonly"]));
    call.variables
        .iter()
        .copied()
        .chain(exported)
        .any(|(name, value)| match name {
            "HISTFILE" => value.is_empty() || value == "/dev/null",
            "HISTSIZE" | "HISTFILESIZE" => value == "0",
            _ => false,
        })
        .then(|| ShellRisk::high(RiskKind::LogTampering, "stops the history"))
}
