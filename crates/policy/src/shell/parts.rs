//! What each part of a line may do, in words for whoever is asked about it.

use serde::Serialize;

use super::command::{Command, Direction, Reading};
use super::reading::read;
use super::readonly::{Look, look};
use super::risk::{
    changes_rights, is_connector, is_fetcher, is_interpreter, is_sender, removes, risks,
    writes_disks,
};
use super::wrapper::{Ran, git_without_globals, normal_name, runs};

/// More characters of a command than this are not shown.
const ROOM: usize = 200;
/// More commands than this are not told one by one.
const MOST: usize = 50;

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The command, quotes removed. What a terminal would act on may be in it.
    pub command: String,
    /// What it may do, in words.
    pub may: String,
}

/// What each part of a line may do.
///
/// ```
/// let parts = toolgate_policy::shell::parts("ls | sort > out.txt; python x.py");
/// let may: Vec<&str> = parts.iter().map(|part| part.may.as_str()).collect();
/// assert_eq!(may, ["only looks", "only looks, writes out.txt", "runs python code that cannot be seen"]);
/// ```
pub fn parts(line: &str) -> Vec<Part> {
    let (commands, unknown) = match read(line) {
        Reading::Literal(line) => (line.commands, None),
        Reading::Complex { why, commands } => {
            (commands, Some(format!("decides things while it runs: {why}")))
        }
        Reading::Unreadable { why } => (Vec::new(), Some(format!("cannot be read: {why}"))),
    };
    let mut parts: Vec<Part> = commands.iter().take(MOST).map(part).collect();
    if let Some(left) = commands.len().checked_sub(MOST).filter(|left| *left > 0) {
        parts.push(Part { command: "…".to_owned(), may: format!("runs {left} commands more") });
    }
    parts.extend(unknown.map(|may| Part { command: cut(line), may }));
    parts
}

fn part(command: &Command) -> Part {
    let mut may = Vec::new();
    may.extend(own(command));
    may.extend(command.redirects.iter().filter_map(|redirect| {
        let file = cut(&redirect.target.text);
        match redirect.direction {
            Direction::Write if redirect.target.text != "/dev/null" => {
                Some(format!("writes {file}"))
            }
            Direction::Read => Some(format!("reads {file}")),
            _ => None,
        }
    }));
    for risk in risks(std::slice::from_ref(command)) {
        may.push(risk.message);
    }
    if may.is_empty() {
        may.push("changes nothing by itself".to_owned());
    }
    may.dedup();
    Part { command: shown(command), may: may.join(", ") }
}

/// What the command does by its name and its words.
fn own(command: &Command) -> Vec<String> {
    let mut may = Vec::new();
    for assignment in &command.assignments {
        may.push(format!("sets {}", assignment.name));
    }
    let Some(first) = command.words.first() else { return may };
    let why = match look(command) {
        Look::Reads { .. } => {
            may.push("only looks".to_owned());
            return may;
        }
        Look::Enters(folder) => {
            may.push(format!("goes to {}", cut(&folder.text)));
            return may;
        }
        Look::No(why) => why,
    };
    let before = may.len();
    if first.known {
        let name = normal_name(&first.text);
        if changes_rights(name) {
            may.push("takes or gives rights".to_owned());
        }
        if is_interpreter(name) && runs(command).iter().all(is_unseen) {
            may.push(format!("runs {name} code that cannot be seen"));
        } else {
            may.extend(others(&runs(command)));
        }
        if removes(name) || removes_by_option(name, command) {
            may.push("deletes files".to_owned());
        }
        if writes_disks(name) {
            may.push("writes disks".to_owned());
        }
        if reaches_network(name, command) {
            may.push("reaches the network".to_owned());
        }
    }
    if may.len() == before {
        may.push(format!("may do more than look ({why})"));
    }
    may
}

/// The commands that are run in turn: those that are certain, or else that there may be some.
fn others(ran: &[Ran]) -> Option<String> {
    const MOST_SHOWN: usize = 3;
    let certain = ran.iter().filter(|ran| ran.certain && !is_unseen(ran));
    let shown: Vec<String> = certain.take(MOST_SHOWN).map(|ran| shown(&ran.command)).collect();
    match (shown.as_slice(), ran) {
        (_, []) => None,
        ([], _) => Some("runs another program that cannot be told for certain".to_owned()),
        (shown, _) => Some(format!("runs another program: {}", shown.join("; "))),
    }
}

fn is_unseen(ran: &Ran) -> bool {
    ran.command.words.is_empty()
}

fn removes_by_option(name: &str, command: &Command) -> bool {
    match name {
        "find" => command.words.iter().any(|word| word.text == "-delete"),
        "git" => matches!(git_subcommand(command).as_deref(), Some("clean" | "rm")),
        _ => false,
    }
}

/// Whether a program connects to other machines, as far as its name and first word say.
fn reaches_network(name: &str, command: &Command) -> bool {
    const INSTALLERS: &[&str] = &[
        "apt", "apt-get", "brew", "bun", "bundle", "cargo", "composer", "conda", "dnf", "gem",
        "npm", "pip", "pip3", "pipx", "pnpm", "poetry", "uv", "yarn", "yum",
    ];
    const FETCHING: &[&str] = &[
        "add", "ci", "download", "fetch", "get", "i", "install", "publish", "sync", "update",
        "upgrade",
    ];
    if is_fetcher(name) || is_sender(name) || is_connector(name) {
        return true;
    }
    let first = command.arguments().iter().find(|word| !word.text.starts_with('-'));
    let first = first.map_or("", |word| word.text.as_str());
    match name {
        "git" => matches!(
            git_subcommand(command).as_deref(),
            Some("clone" | "fetch" | "ls-remote" | "pull" | "push")
        ),
        "docker" | "podman" => matches!(first, "login" | "pull" | "push"),
        "gh" | "kubectl" => true,
        _ => INSTALLERS.contains(&name) && FETCHING.contains(&first),
    }
}

fn git_subcommand(command: &Command) -> Option<String> {
    git_without_globals(&command.words).into_iter().nth(1).map(|word| word.text)
}

fn shown(command: &Command) -> String {
    let assigned = command
        .assignments
        .iter()
        .map(|assignment| format!("{}={}", assignment.name, assignment.value.text));
    let words = command.words.iter().map(|word| word.text.clone());
    cut(&assigned.chain(words).collect::<Vec<_>>().join(" "))
}

/// A text that is not too long, cut at its end.
fn cut(text: &str) -> String {
    let mut letters = text.chars();
    let mut cut: String = letters.by_ref().take(ROOM).collect();
    if letters.next().is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests;
