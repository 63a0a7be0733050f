//! Processes that a test starts and looks for afterwards.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id.
    pub id: u32,
    /// The process id of the parent.
    pub parent: u32,
    /// The command line, with spaces between the words.
    pub line: String,
}

/// Returns the running processes whose command line contains `mark`.
///
/// # Panics
///
/// If `/proc` cannot be read.
pub fn processes(mark: &str) -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
    let running = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        Some(Process { id, parent, line })
    });
    running.filter(|process| process.line.contains(mark)).collect()
}

/// Returns a command that sleeps for ever, with a command line that no other test has.
///
/// Two runs of the tests at the same time must not find each other's processes.
pub fn unique_sleep() -> String {
    let random = RandomState::new().hash_one(std::process::id()) % 1_000_000_000;
    format!("sleep 1{random:09}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_this_process_and_its_parent() {
        let own = std::process::id();
        let name = std::env::current_exe().unwrap().file_name().unwrap().to_owned();
        let found = processes(name.to_str().unwrap());
        let found = found.iter().find(|process| process.id == own).unwrap();
        assert_eq!(found.parent, std::os::unix::process::parent_id());
    }

    #[test]
    fn no_two_sleeps_are_alike() {
        let (one, other) = (unique_sleep(), unique_sleep());
        assert_ne!(one, other);
        assert_eq!(one.len(), other.len(), "neither is the beginning of the other");
        assert!(processes(&one).is_empty());
    }
}
