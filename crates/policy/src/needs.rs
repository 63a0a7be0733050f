//! What programs need beyond the workspace: caches, registries, settings of their own.
//!
//! Allowing a command means that it works. A build fetches packages and keeps them in a cache, so a
//! command that runs in the sandbox gets the caches and registries of the programs in it, and
//! nothing else. The table is `needs/table.toml`; the user's settings may change an entry. No file
//! of a project ever adds to it.

mod addresses;
mod table;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use table::{Entry, NeedsError, Table};

use self::addresses::{holds_credentials, hosts_in};
use crate::shell::{Command, git_without_globals, normal_name};
use crate::world::{World, normal};

/// What one program needs beyond the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The program.
    pub program: String,
    /// Cache folders that it writes: real folders of the user, of which it gets a private copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<PathBuf>,
    /// Settings files of the user that are otherwise hidden and hold no credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<PathBuf>,
    /// Hosts that it talks to, each `name` or `name:port`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Variables that it runs with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// All of it in words, such as `may write the cargo cache; may reach the crate registry`.
    pub words: String,
}

impl Need {
    /// Returns `true` if nothing is needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.caches.is_empty() && self.hosts.is_empty() && self.shown.is_empty()
    }

    /// Takes the hosts away, and the words about them.
    pub(crate) fn go_offline(&mut self) {
        self.hosts.clear();
        let caches = self.words.split("; ").find(|words| words.starts_with(CACHES));
        self.words = caches.unwrap_or_default().to_owned();
    }
}

/// Begins the words about caches.
const CACHES: &str = "may use a copy of ";

/// Something that a command does outside of the workspace, whatever it runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The command, such as `cargo publish`.
    pub command: String,
    /// What it does, in words that go on after the command.
    pub does: String,
}

impl Table {
    /// Returns what a command needs beyond the workspace when it runs in `folder`.
    pub fn need(&self, command: &Command, folder: &Path, world: &dyn World) -> Option<Need> {
        let name = normal_name(command.name()?);
        if FETCHERS.contains(&name) {
            return fetched(name, command);
        }
        let entry = self.entry(name)?;
        let mut need = Need { program: name.to_owned(), ..Need::default() };
        let (mut caches, mut registries) = (Vec::new(), Vec::new());
        let subcommand = subcommand(command);
        for part in self.parts(entry) {
            let folders: Vec<PathBuf> =
                part.folders.iter().filter_map(|folder| place(folder, world)).collect();
            if !folders.is_empty() {
                caches.extend(part.cache.clone());
                let set = part.set.iter().map(|(name, value)| (name.clone(), value.clone()));
                need.set.extend(set);
            }
            need.caches.extend(folders);
            let named = part.config.iter().filter_map(|file| place(file, world));
            for file in named {
                let Some(text) = world.user_file(&file) else { continue };
                if part.is_online(&subcommand) {
                    need.hosts.extend(hosts_in(&text));
                }
                if !holds_credentials(&text) {
                    need.shown.push(file);
                }
            }
            if !part.is_online(&subcommand) {
                continue;
            }
            let variables = part.environment.iter().filter_map(|name| world.variable(name));
            need.hosts.extend(variables.flat_map(|value| hosts_in(&value)));
            need.hosts.extend(part.hosts.iter().cloned());
            registries.extend(part.registry.clone());
        }
        if name == "git" && entry.is_online(&subcommand) {
            need.hosts.extend(git_hosts(command, folder, world));
        }
        for list in [&mut need.hosts, &mut caches, &mut registries] {
            list.dedup();
        }
        need.hosts.sort();
        need.hosts.dedup();
        need.caches.sort();
        need.caches.dedup();
        need.shown.sort();
        need.shown.dedup();
        need.words = words(&caches, &registries, &need);
        (!need.is_empty()).then_some(need)
    }

    /// Returns what a command does outside of the workspace, if it does anything there.
    pub fn leaving(&self, command: &Command, folder: &Path, world: &dyn World) -> Option<Leaving> {
        let name = normal_name(command.name()?);
        let words = subcommand(command);
        if let Some(hosts) = foreign_hosts(name, command, folder, world) {
            return Some(Leaving { command: name.to_owned(), does: format!("reaches {hosts}") });
        }
        let entry = self.entry(name)?;
        let mut parts = self.parts(entry);
        let (key, does) = parts.find_map(|part| {
            part.leaves
                .iter()
                .find(|(key, _)| begins_with(&words, key) && has_options(command, key))
        })?;
        let command = if key.is_empty() { name.to_owned() } else { format!("{name} {key}") };
        Some(Leaving { command, does: does.clone() })
    }
}

/// Programs that fetch what their words name.
const FETCHERS: &[&str] = &["curl", "wget", "http", "https", "xh", "aria2c", "axel"];

/// Returns the hosts that a command names and that are neither this machine nor a remote.
fn foreign_hosts(
    name: &str,
    command: &Command,
    folder: &Path,
    world: &dyn World,
) -> Option<String> {
    let mut named = named_hosts(command);
    // An address that is only written down.
    if name == "git" && matches!(subcommand(command).as_slice(), ["remote" | "config", ..]) {
        return None;
    }
    if name == "git" {
        let remotes = world.remotes(folder);
        let known: Vec<String> =
            remotes.iter().filter_map(|url| addresses::remote_host(url)).collect();
        named.retain(|host| !known.contains(host));
    } else if !FETCHERS.contains(&name) {
        return None;
    }
    named.retain(|host| !is_this_machine(host));
    (!named.is_empty()).then(|| listed(&named))
}

/// Returns what a program needs that fetches what its words name.
fn fetched(name: &str, command: &Command) -> Option<Need> {
    let mut hosts = named_hosts(command);
    hosts.retain(|host| !is_this_machine(host) && !is_private(host));
    hosts.sort();
    hosts.dedup();
    let words = format!("may reach {}", listed(&hosts));
    let need = Need { program: name.to_owned(), hosts, words, ..Need::default() };
    (!need.hosts.is_empty()).then_some(need)
}

/// Returns `true` if a host is known to lie in a private network.
fn is_private(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    crate::host::private(name.trim_matches(['[', ']'])).is_some()
}

/// Returns the hosts of the addresses among the words of a command, in order.
fn named_hosts(command: &Command) -> Vec<String> {
    let words = command.arguments().iter().filter(|word| word.known);
    words.filter_map(|word| addresses::remote_host(&word.text)).collect()
}

/// Returns `true` if a host is this machine, which in a sandbox is the sandbox itself.
fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    let address = name.parse::<std::net::IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

/// The first words of a command that are no options: `cargo +nightly --offline test` is `test`.
fn subcommand(command: &Command) -> Vec<&str> {
    let words = command.arguments().iter().map(|word| word.text.as_str());
    let is_git = command.name().is_some_and(|name| normal_name(name) == "git");
    let globals = if is_git {
        let kept = git_without_globals(&command.words).len();
        command.words.len().saturating_sub(kept)
    } else {
        0
    };
    words.skip(globals).filter(|word| !word.starts_with(['-', '+'])).take(3).collect()
}

/// Returns `true` if the words of a key that are no options begin a command.
fn begins_with(words: &[&str], key: &str) -> bool {
    let mut own = words.iter();
    let mut plain = key.split_ascii_whitespace().filter(|word| !word.starts_with('-'));
    plain.all(|word| own.next() == Some(&word))
}

/// Returns `true` if a command has every option of a key.
fn has_options(command: &Command, key: &str) -> bool {
    let has = |option| command.arguments().iter().any(|word| word.text == option);
    key.split_ascii_whitespace().filter(|word| word.starts_with('-')).all(has)
}

impl Entry {
    fn is_online(&self, subcommand: &[&str]) -> bool {
        match &self.online {
            None => true,
            Some(online) => online.iter().any(|key| begins_with(subcommand, key)),
        }
    }
}

/// Resolves a place of the table: `$NAME|default//below`, with `~` for the home folder. Returns
/// nothing for a variable that is not set and has no default.
fn place(text: &str, world: &dyn World) -> Option<PathBuf> {
    let (base, below) = text.split_once("//").unwrap_or((text, ""));
    let (variable, usual) = match base.strip_prefix('$').and_then(|rest| rest.split_once('|')) {
        Some((name, usual)) => (world.variable(name), usual),
        None => (None, base),
    };
    let base = match variable.filter(|value| value.starts_with('/')) {
        Some(value) => PathBuf::from(value),
        None if usual.is_empty() => return None,
        None => match usual.strip_prefix("~/") {
            Some(rest) => cache_home(rest, world).unwrap_or(world.home()?.join(rest)),
            None => PathBuf::from(usual),
        },
    };
    let path = if below.is_empty() { base } else { base.join(below) };
    let path = normal(&path);
    // A whole home folder is no cache, nor is a folder around the workspace or in it.
    let is_wide = |inner: Option<&Path>| inner.is_some_and(|inner| inner.starts_with(&path));
    let is_own = path.starts_with(world.workspace());
    (!is_own && !is_wide(world.home()) && !is_wide(Some(world.workspace()))).then_some(path)
}

/// The user's own place for caches and settings, where variables name one.
fn cache_home(below_home: &str, world: &dyn World) -> Option<PathBuf> {
    const BASES: &[(&str, &str)] = &[
        (".cache/", "XDG_CACHE_HOME"),
        (".config/", "XDG_CONFIG_HOME"),
        (".local/share/", "XDG_DATA_HOME"),
    ];
    BASES.iter().find_map(|(prefix, name)| {
        let rest = below_home.strip_prefix(prefix)?;
        let base = world.variable(name).filter(|base| base.starts_with('/'))?;
        Some(Path::new(&base).join(rest))
    })
}

/// The hosts a git command talks to: that of the address it names, else those of the remotes.
fn git_hosts(command: &Command, folder: &Path, world: &dyn World) -> Vec<String> {
    let named = named_hosts(command);
    if !named.is_empty() {
        return named;
    }
    let elsewhere = command.words.windows(2).find_map(|pair| match pair {
        [option, value] if option.text == "-C" => Some(folder.join(&value.text)),
        _ => None,
    });
    world
        .remotes(elsewhere.as_deref().unwrap_or(folder))
        .iter()
        .filter_map(|url| addresses::remote_host(url))
        .collect()
}

fn words(caches: &[String], registries: &[String], need: &Need) -> String {
    let mut said = Vec::new();
    if !caches.is_empty() {
        said.push(format!("{CACHES}{}", listed(caches)));
    }
    if !registries.is_empty() && !need.hosts.is_empty() {
        said.push(format!("may reach {}", listed(registries)));
    }
    said.join("; ")
}

fn listed(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        items => items.concat(),
    }
}

#[cfg(test)]
mod tests;
