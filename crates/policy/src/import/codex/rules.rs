//! Codex's `.rules` files: `prefix_rule`, `network_rule`, `host_executable`.
//!
//! The strictest of all rules that match wins there, so deny rules get the
//! highest priority here and allow rules the lowest.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::example::HostExecutable;
use super::prefix::{self, PrefixRule};
use super::starlark::{self, Call};
use crate::decision::Decision;
use crate::import::draft::{Draft, Matcher, Rule, strictest_wins};
use crate::import::node::{Node, Value};
use crate::import::report::{ImportError, Imported};

/// Converts a `.rules` file.
pub(crate) fn rules(text: &str, name: &str) -> Result<Imported, ImportError> {
    let calls = starlark::calls(text, name)?;
    let mut draft = Draft::new("Codex", name);
    let mut hosts = Vec::new();
    for call in calls.iter().filter(|call| call.function == "host_executable") {
        hosts.push(host_executable(call, &mut draft)?);
    }
    for call in &calls {
        match call.function.as_str() {
            "host_executable" => {}
            "prefix_rule" => {
                let rule = read_prefix_rule(call)?;
                prefix::convert(&rule, &hosts, &mut draft);
            }
            "network_rule" => network_rule(call, &mut draft)?,
            "print" => draft.lose(call.place.line, "print", "it decides nothing", "left out"),
            other => return Err(call.place.error(format!("there is no function `{other}`"))),
        }
    }
    Ok(draft.finish())
}

/// The arguments of a call by name; those that nobody documents apart.
struct Arguments<'a> {
    known: Vec<(&'a str, &'a Node)>,
    unknown: Vec<String>,
}

impl<'a> Arguments<'a> {
    fn bind(call: &'a Call, names: &[&'a str]) -> Result<Self, ImportError> {
        if call.positional.len() > names.len() {
            let function = &call.function;
            return Err(call.place.error(format!("`{function}` takes fewer arguments")));
        }
        let mut known: Vec<(&str, &Node)> =
            names.iter().copied().zip(call.positional.iter()).collect();
        let mut unknown = Vec::new();
        for (name, node) in &call.named {
            if known.iter().any(|(other, _)| other == name) {
                return Err(node.error(format!("`{name}` is given twice")));
            }
            if names.contains(&name.as_str()) {
                known.push((name, node));
            } else {
                unknown.push(name.clone());
            }
        }
        // `None` is as good as nothing.
        known.retain(|(_, node)| node.value != Value::Other);
        Ok(Self { known, unknown })
    }

    fn get(&self, name: &str) -> Option<&'a Node> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, node)| *node)
    }

    fn require(&self, name: &str, call: &Call) -> Result<&'a Node, ImportError> {
        let missing = || call.place.error(format!("`{}` needs `{name}`", call.function));
        self.get(name).ok_or_else(missing)
    }
}

fn read_prefix_rule(call: &Call) -> Result<PrefixRule, ImportError> {
    let names = ["pattern", "decision", "match", "not_match", "justification"];
    let arguments = Arguments::bind(call, &names)?;
    let pattern = arguments.require("pattern", call)?;
    let words = pattern.list("pattern")?.iter().map(|word| word.one_or_more("pattern[]"));
    let words: Vec<Vec<String>> = words.collect::<Result<_, _>>()?;
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return Err(pattern.error("a pattern and its alternatives cannot be empty"));
    }
    let decision = match arguments.get("decision") {
        Some(node) => read_decision(node)?,
        None => Decision::Allow,
    };
    let examples = |name: &str| match arguments.get(name) {
        Some(node) => node.list(name).map(<[Node]>::to_vec),
        None => Ok(Vec::new()),
    };
    Ok(PrefixRule {
        line: call.place.line,
        words,
        decision,
        justification: justification(&arguments)?,
        matching: examples("match")?,
        not_matching: examples("not_match")?,
        unknown: arguments.unknown.clone(),
    })
}

fn justification(arguments: &Arguments<'_>) -> Result<Option<String>, ImportError> {
    let Some(node) = arguments.get("justification") else { return Ok(None) };
    let text = node.text("justification")?;
    if text.trim().is_empty() {
        return Err(node.error("`justification` cannot be empty"));
    }
    Ok(Some(text.to_owned()))
}

fn read_decision(node: &Node) -> Result<Decision, ImportError> {
    match node.text("decision")? {
        "allow" => Ok(Decision::Allow),
        "prompt" => Ok(Decision::Ask),
        "forbidden" => Ok(Decision::Deny),
        other => {
            Err(node
                .error(format!("`{other}` is no decision; expected allow, prompt or forbidden")))
        }
    }
}

/// Which paths may stand for a bare name. Allow rules hold for the bare name only, so
/// that every path of it asks; deny rules find the program under any path.
fn host_executable(call: &Call, draft: &mut Draft) -> Result<HostExecutable, ImportError> {
    let arguments = Arguments::bind(call, &["name", "paths"])?;
    let name_node = arguments.require("name", call)?;
    let name = name_node.text("name")?.to_owned();
    if name.is_empty() || name.contains('/') {
        return Err(name_node.error("`name` must be a bare name"));
    }
    let paths = arguments.require("paths", call)?.one_or_more("paths")?;
    let line = call.place.line;
    lose_unknown(&arguments, call, draft);
    draft.lose(
        line,
        format!("host_executable `{name}`"),
        "Toolgate's allow rules know a program by its bare name, in folders it trusts",
        "made stricter: the program asks when it is called by a path",
    );
    let origin = format!("line {line}: host_executable {name}");
    let mut rule = Rule::new(origin, ["shell"], Decision::Ask, strictest_wins(Decision::Ask));
    rule.matcher = Matcher::CommandRegex(format!(r"\S*/{}(?:\s|$)", regex::escape(&name)));
    draft.add_rule(rule);
    Ok(HostExecutable { name, paths })
}

fn lose_unknown(arguments: &Arguments<'_>, call: &Call, draft: &mut Draft) {
    for name in &arguments.unknown {
        let what = format!("{} `{name}`", call.function);
        draft.lose(call.place.line, what, "Toolgate does not know this argument", "left out");
    }
}

fn network_rule(call: &Call, draft: &mut Draft) -> Result<(), ImportError> {
    let arguments = Arguments::bind(call, &["host", "protocol", "decision", "justification"])?;
    let host = arguments.require("host", call)?.text("host")?;
    let protocol = arguments.require("protocol", call)?;
    check_protocol(protocol)?;
    let decision = arguments.require("decision", call)?;
    let decision = match decision.text("decision")? {
        "deny" => Decision::Deny,
        _ => read_decision(decision)?,
    };
    lose_unknown(&arguments, call, draft);
    let line = call.place.line;
    let what = format!("network_rule `{host}` {decision}");
    if let Some(reason) = justification(&arguments)? {
        draft.note(format!("line {line}, {host}: {reason}"));
    }
    let origin = format!("line {line}, {what}");
    match (decision, HostName::read(host)) {
        (Decision::Allow, _) => draft.lose(
            line,
            what,
            "network access is granted to single commands in Toolgate, by `network` of a rule",
            "left out",
        ),
        (Decision::Deny, Some(HostName::Domain(domain))) => draft.block_domain(&domain, line),
        (_, Some(HostName::Domain(host) | HostName::Address(host))) => {
            draft.add_permission(decision, format!("WebFetch(domain:{host})"), &origin);
        }
        (_, None) => {
            draft.add_permission(decision, "WebFetch".to_owned(), &origin);
            let instead = format!("made broader: {decision} WebFetch");
            draft.lose(line, what, "Toolgate's rules cannot name this host", instead);
        }
    }
    Ok(())
}

fn check_protocol(node: &Node) -> Result<(), ImportError> {
    match node.text("protocol")? {
        "http" | "https" | "https_connect" | "http-connect" | "socks5_tcp" | "socks5_udp" => Ok(()),
        other => Err(node.error(format!("there is no protocol `{other}`"))),
    }
}

/// A host that a rule can name.
enum HostName {
    Domain(String),
    Address(String),
}

impl HostName {
    /// The host without port and final dot, in lower case.
    fn read(host: &str) -> Option<Self> {
        let host = host.trim();
        if host.parse::<Ipv6Addr>().is_ok() {
            return None;
        }
        let host = match host.split_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            Some(_) => return None,
            None => host,
        };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if host.is_empty() || !host.chars().all(plain) {
            return None;
        }
        match host.parse::<Ipv4Addr>() {
            Ok(_) => Some(Self::Address(host)),
            Err(_) => Some(Self::Domain(host)),
        }
    }
}
