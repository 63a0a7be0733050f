//! Ending everything a process started.
//!
//! Whoever uses this adopts orphans, so that whatever was started is below it, however it tried
//! to get away.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpgrp, getpid, kill_process_group,
    pidfd_open, pidfd_send_signal, wait,
};

/// How often to look for processes that were started meanwhile, before ending those found.
const LOOKS: usize = 64;
/// How often to look again for processes that are there and cannot be ended: others' programs.
const PATIENCE: usize = 500;

/// A process at a moment: its number may be another's later, its start tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    number: i32,
    group: i32,
    started: u64,
}

impl Seen {
    fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.number)
    }
}

/// Sends a signal to everything below this process.
pub(crate) fn signal_all(signal: Signal) {
    for process in below(getpid(), &[]) {
        send(process, signal).ok();
    }
}

/// Ends everything below this process, and waits until it is gone. `ended` is told about
/// children of this process.
pub(crate) fn end_all(mut ended: impl FnMut(Pid, WaitStatus)) {
    // Mostly there is nothing, and then nobody needs to look at every process there is.
    if !reap(&mut ended) {
        return;
    }
    let mut in_vain = 0;
    while in_vain < PATIENCE {
        // A process that changes its parent just now is seen below neither, so that finding none
        // does not mean there is none; having no children does.
        let is_any_left = end_those_below(&[], Signal::KILL);
        if !reap(&mut ended) {
            return;
        }
        in_vain = if is_any_left { 0 } else { in_vain + 1 };
        sleep(Duration::from_millis(1));
    }
}

/// Ends everything below this process but what is below `spared`.
pub(crate) fn end_others(spared: &[Pid], signal: Signal) {
    while end_those_below(spared, signal) {
        for process in below(getpid(), spared) {
            rustix::process::waitpid(process.pid(), WaitOptions::NOHANG).ok();
        }
        sleep(Duration::from_millis(1));
    }
}

/// Takes leave of children that ended; tells whether there are others.
pub(crate) fn reap(ended: &mut impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) | Err(Errno::INTR) => return true,
            Err(_) => return false,
        }
    }
}

/// Stops all, so that they start no others, then ends them. Tells whether anything was there
/// that can be ended.
fn end_those_below(spared: &[Pid], signal: Signal) -> bool {
    let own = getpgrp().as_raw_nonzero().get();
    let mut stopped = BTreeSet::new();
    for _ in 0..LOOKS {
        let found = below(getpid(), spared);
        let new: Vec<Seen> = found.difference(&stopped).copied().collect();
        // Nobody in a group can start another process while the group is being stopped, so
        // that a swarm is caught at once. Commands lead sessions of their own: their groups
        // have no others in them.
        let groups: BTreeSet<i32> = new.iter().map(|process| process.group).collect();
        for group in groups.into_iter().filter(|group| *group != own).filter_map(Pid::from_raw) {
            kill_process_group(group, Signal::STOP).ok();
        }
        for process in &new {
            send(*process, Signal::STOP).ok();
        }
        if new.is_empty() {
            break;
        }
        stopped.extend(new);
    }
    // Not `any`, which would end the first one only.
    stopped.iter().filter(|process| send(**process, signal).is_ok()).count() > 0
}

/// A process that ended meanwhile, or whose number is another's, gets nothing.
fn send(process: Seen, signal: Signal) -> Result<(), Errno> {
    let pid = process.pid().ok_or(Errno::SRCH)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    match stat(pid) {
        Some((_, seen)) if seen == process => pidfd_send_signal(&pidfd, signal),
        _ => Err(Errno::SRCH),
    }
}

/// All that is below a process, itself not included.
fn below(top: Pid, spared: &[Pid]) -> BTreeSet<Seen> {
    let mut children: BTreeMap<i32, Vec<Seen>> = BTreeMap::new();
    for pid in pids() {
        if let Some((parent, seen)) = stat(pid) {
            children.entry(parent).or_default().push(seen);
        }
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![top.as_raw_nonzero().get()];
    while let Some(parent) = waiting.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if child.pid().is_some_and(|pid| !spared.contains(&pid)) {
                found.insert(child);
                waiting.push(child.number);
            }
        }
    }
    found
}

fn pids() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Parent and start of a process that has not ended.
fn stat(pid: Pid) -> Option<(i32, Seen)> {
    let number = pid.as_raw_nonzero().get();
    let text = fs::read(format!("/proc/{number}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let started = fields.nth(16)?.parse().ok()?;
    Some((parent, Seen { number, group, started }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_parent() {
        let (parent, seen) = stat(getpid()).unwrap();
        let parent = Pid::from_raw(parent).unwrap();
        assert_eq!(Some(parent), rustix::process::getppid());
        assert_eq!(seen.pid(), Some(getpid()));
        assert!(below(parent, &[]).contains(&seen));
    }
}
