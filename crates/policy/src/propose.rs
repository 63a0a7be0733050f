//! Rules a person could give in answer to a question: as narrow as is useful.
//!
//! What is never proposed: a pattern for anything whose first words do not say what it does.
//! Interpreters, wrappers, `sudo` and `rm` run or remove whatever follows them. A script, a removal
//! or a program that `npx` finds is proposed as this very command, where it runs confined.
//!
//! What a folder defines, such as a script or a target of `make`, is proposed for that folder, and so
//! is whatever runs unconfined.

mod candidate;
mod command;
mod files;
mod programs;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use self::candidate::Candidate;
use crate::effect::{Effect, Risk};
use crate::facts::Facts;
use crate::floor::address::Address;
use crate::load::Loader;
use crate::pattern::Places;
use crate::profile::Profile;
use crate::rule::{Priority, Rule, Sandbox};
use crate::shell::{Look, Reading, bytes, look, read};
use crate::world::{World, normal};

/// More than this is too much to choose from.
const MOST: usize = 3;
/// A rule for more commands than this is more than a person reads.
const MOST_PARTS: usize = 5;

/// A rule, or several, that a person could give.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposed {
    /// What would be allowed, as in `[permissions] allow`, with commas between several.
    pub permission: String,
    /// The same one by one.
    pub permissions: Vec<String>,
    /// What that means, in words for a person.
    pub meaning: String,
    /// What commands it allows run with; nothing for other calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Profile>,
    /// The folder that the permissions without one are limited to where commands run unconfined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The rules, as strong as "always allow".
    #[serde(skip)]
    pub rules: Vec<Rule>,
}

impl Proposed {
    /// What a rule means that covers these calls, which run with this.
    pub fn meaning(covers: &str, reach: Option<&Profile>) -> String {
        match reach {
            Some(reach) => format!("{covers}; it runs {reach}"),
            None => covers.to_owned(),
        }
    }
}

/// What could be allowed so that a call runs, with the reach it was asked about, the narrowest
/// first; `allows` tells whether it would.
pub(crate) fn proposals(
    facts: &Facts,
    world: &dyn World,
    reach: Option<&Profile>,
    allows: &dyn Fn(&[Rule]) -> bool,
) -> Vec<Proposed> {
    if facts.risk == Risk::Critical || facts.tool.is_ambiguous() {
        return Vec::new();
    }
    let loader = loader(world);
    let is_confined = reach.is_some_and(|reach| reach.sandbox != Sandbox::Full);
    let mut parts = parts(facts, world, is_confined);
    // Parts that are allowed as it is need no rule.
    let suffices = |parts: &[Vec<Candidate>]| {
        proposed(parts, 0, reach, &loader).is_some_and(|proposed| allows(&proposed.rules))
    };
    if parts.is_empty() || !suffices(&parts) {
        return Vec::new();
    }
    let mut at = 0;
    while at < parts.len() {
        let part = parts.remove(at);
        if parts.is_empty() || !suffices(&parts) {
            parts.insert(at, part);
            at += 1;
        }
    }
    if parts.len() > MOST_PARTS {
        return Vec::new();
    }
    let mut found: Vec<Proposed> = Vec::new();
    for width in 0..MOST {
        let Some(proposed) = proposed(&parts, width, reach, &loader) else { continue };
        let is_new = found.iter().all(|known| known.permission != proposed.permission);
        if is_new && allows(&proposed.rules) {
            found.push(proposed);
        }
    }
    found
}

/// What each part of a call could be allowed with. A part without any is left out.
fn parts(facts: &Facts, world: &dyn World, is_confined: bool) -> Vec<Vec<Candidate>> {
    let parts = match facts.tool.as_str() {
        "shell" => commands(facts, world, is_confined),
        "web_fetch" => vec![Vec::from_iter(host(facts))],
        "task" => vec![Vec::from_iter(agent(facts))],
        _ if !facts.paths.is_empty() => {
            facts.paths.iter().map(|path| files::candidates(&facts.tool, path, world)).collect()
        }
        _ => vec![Vec::from_iter(tool(facts))],
    };
    parts.into_iter().filter(|candidates: &Vec<Candidate>| !candidates.is_empty()).collect()
}

/// The commands of a line; none where it is not known word by word.
fn commands(facts: &Facts, world: &dyn World, is_confined: bool) -> Vec<Vec<Candidate>> {
    // A line with more commands than this is not looked at.
    const MOST_COMMANDS: usize = 20;
    let line = facts.args.get("command").and_then(Value::as_str).unwrap_or_default();
    let Reading::Literal(line) = read(line) else { return Vec::new() };
    if line.commands().len() > MOST_COMMANDS {
        return Vec::new();
    }
    let cwd = facts.args.get("cwd").and_then(Value::as_str).unwrap_or_default();
    let mut folder = Some(normal(&world.workspace().join(cwd)));
    let mut found = Vec::new();
    for one in line.commands() {
        let place = folder.as_deref().and_then(folder_name);
        found.push(command::candidates(one, place.as_deref(), is_confined));
        if let Look::Enters(target) = look(one) {
            folder =
                folder.zip(target.literal()).map(|(folder, target)| normal(&folder.join(target)));
        }
    }
    found
}

/// A folder as a permission can name it.
fn folder_name(folder: &Path) -> Option<String> {
    let text = folder.to_str()?;
    let is_plain = !text.contains(['*', '?', ')', ',']) && bytes::check(text).is_ok();
    (is_plain && text.starts_with('/') && text.trim() == text).then(|| text.to_owned())
}

/// The host of an address; one that is not public is never proposed.
fn host(facts: &Facts) -> Option<Candidate> {
    let url = facts.args.get("url").and_then(Value::as_str)?;
    let Address { host, private } = Address::parse(url).ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':');
    (private.is_none() && host.bytes().all(is_plain)).then(|| {
        Candidate::new(format!("WebFetch(domain:{host})"), format!("fetching from {host}"))
    })
}

/// A subagent by its name.
fn agent(facts: &Facts) -> Option<Candidate> {
    let name = facts.args.get("agent").and_then(Value::as_str).filter(|name| is_name(name))?;
    Some(Candidate::new(format!("Task({name})"), format!("starting the subagent {name}")))
}

/// Any other tool: all its calls, unless they are known to destroy.
fn tool(facts: &Facts) -> Option<Candidate> {
    let destroys = facts.effect == Effect::Change && facts.hints.destructive == Some(true);
    let name = facts.tool.as_str();
    if destroys || !is_name(name) || crate::name::REMOVING.contains(&name) {
        return None;
    }
    let meaning = match facts.tool.server() {
        Some(server) => format!("every call of {} of the server {server}", facts.tool.own()),
        None => format!("every call of {name}"),
    };
    Some(Candidate::new(name.to_owned(), meaning))
}

fn is_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter);
    !text.is_empty() && text.chars().all(is_plain)
}

/// One rule for every part, as wide as is wanted where it can be.
fn proposed(
    parts: &[Vec<Candidate>],
    width: usize,
    reach: Option<&Profile>,
    loader: &Loader,
) -> Option<Proposed> {
    let mut permissions: Vec<String> = Vec::new();
    let mut meanings = Vec::new();
    let chosen: Vec<&Candidate> =
        parts.iter().map(|some| some.get(width).or(some.last())).collect::<Option<_>>()?;
    let is_full = reach.is_some_and(|reach| reach.sandbox == Sandbox::Full);
    let folder = chosen.first().and_then(|first| first.folder.clone());
    let is_mixed = chosen.iter().any(|one| one.folder != folder);
    for candidate in chosen {
        let limited = candidate.is_local || is_full || is_mixed;
        let candidate = if limited { candidate.limited()? } else { candidate.clone() };
        if !permissions.contains(&candidate.permission) {
            permissions.push(candidate.permission.clone());
            meanings.push(candidate.meaning.clone());
        }
    }
    let mut rules = Vec::new();
    for permission in &permissions {
        let mut rule = loader.permission(permission, "an answer").ok()?;
        rule.priority = Priority::ALWAYS_ALLOW;
        rule.origin.line = 0;
        rule.grant = reach.map(Profile::rule_grant).unwrap_or_default();
        rules.push(rule);
    }
    let permission = permissions.join(", ");
    let meaning = Proposed::meaning(&meanings.join("; "), reach);
    Some(Proposed { permission, permissions, meaning, reach: reach.cloned(), folder, rules })
}

fn loader(world: &dyn World) -> Loader {
    let places = Places {
        workspace: vec![world.workspace().to_owned()],
        home: world.home().map(ToOwned::to_owned),
    };
    Loader { places, ..Loader::default() }
}

#[cfg(test)]
mod tests;
