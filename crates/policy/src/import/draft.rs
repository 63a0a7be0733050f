//! A Toolgate policy while it is put together, and its text.

use toml::Value;

use super::report::{Imported, Loss};
use crate::decision::Decision;

/// Priorities of rules whose original says deny over ask over allow; the same
/// as those of a `[permissions]` block.
pub(crate) fn strictest_wins(decision: Decision) -> u16 {
    match decision {
        Decision::Deny => 600,
        Decision::Ask => 550,
        Decision::Allow => 500,
    }
}

/// A `[[rule]]`.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Where it came from, for the comment above it.
    pub(crate) origin: String,
    /// Its line there.
    pub(crate) line: usize,
    pub(crate) tools: Vec<String>,
    pub(crate) mcp: Option<String>,
    pub(crate) matcher: Matcher,
    /// Parameters that must have just this value.
    pub(crate) equals: Vec<(String, String)>,
    pub(crate) annotations: Vec<(&'static str, bool)>,
    pub(crate) subagent: Option<String>,
    /// All modes when empty.
    pub(crate) modes: Vec<String>,
    pub(crate) interactive: Option<bool>,
    pub(crate) allow_redirection: bool,
    pub(crate) decision: Decision,
    pub(crate) priority: u16,
    pub(crate) grant: Grant,
    pub(crate) message: Option<String>,
    /// Whether it covers more than its original did.
    pub(crate) broadened: bool,
}

/// What a command may reach, as the `sandbox`, `network` and `write` keys say it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grant {
    pub(crate) sandbox: Option<&'static str>,
    pub(crate) network: Vec<String>,
    pub(crate) write: Vec<String>,
}

impl Grant {
    fn render(&self, out: &mut String) {
        if let Some(sandbox) = self.sandbox {
            out.push_str(&format!("sandbox = {}\n", string(sandbox)));
        }
        for (key, items) in [("network", &self.network), ("write", &self.write)] {
            if !items.is_empty() {
                out.push_str(&format!("{key} = {}\n", list(items)));
            }
        }
    }
}

/// Which calls of its tools a rule covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// All of them.
    #[default]
    Any,
    /// Simple commands that begin with these words.
    CommandPrefix(Vec<String>),
    /// Simple commands that match from their start.
    CommandRegex(String),
    /// Calls whose arguments match, as JSON.
    ArgsPattern(String),
}

impl Rule {
    /// A rule about every call of these tools.
    pub(crate) fn new<const N: usize>(
        origin: impl Into<String>,
        tools: [&str; N],
        decision: Decision,
        priority: u16,
    ) -> Self {
        Self {
            origin: origin.into(),
            line: 1,
            tools: tools.map(str::to_owned).into(),
            mcp: None,
            matcher: Matcher::Any,
            equals: Vec::new(),
            annotations: Vec::new(),
            subagent: None,
            modes: Vec::new(),
            interactive: None,
            allow_redirection: false,
            decision,
            priority,
            grant: Grant::default(),
            message: None,
            broadened: false,
        }
    }

    fn render(&self, out: &mut String) {
        out.push_str(&comment(&self.origin));
        out.push_str("[[rule]]\n");
        let mut field = |key: &str, value: String| out.push_str(&format!("{key} = {value}\n"));
        if !self.tools.is_empty() {
            field("tool", one_or_list(&self.tools));
        }
        if let Some(server) = &self.mcp {
            field("mcp", string(server));
        }
        match &self.matcher {
            Matcher::Any => {}
            Matcher::CommandPrefix(prefixes) => field("command_prefix", one_or_list(prefixes)),
            Matcher::CommandRegex(regex) => field("command_regex", string(regex)),
            Matcher::ArgsPattern(regex) => field("args_pattern", string(regex)),
        }
        if !self.equals.is_empty() {
            field("conditions", conditions(&self.equals));
        }
        if !self.annotations.is_empty() {
            field("annotations", annotations(&self.annotations));
        }
        if let Some(subagent) = &self.subagent {
            field("subagent", string(subagent));
        }
        if !self.modes.is_empty() {
            field("modes", list(&self.modes));
        }
        if let Some(interactive) = self.interactive {
            field("interactive", interactive.to_string());
        }
        field("decision", string(&self.decision.to_string()));
        field("priority", self.priority.to_string());
        if self.allow_redirection {
            field("allow_redirection", "true".to_owned());
        }
        self.grant.render(out);
        if let Some(message) = &self.message {
            out.push_str(&format!("message = {}\n", string(message)));
        }
        out.push('\n');
    }
}

/// A string in a list, and where it came from.
#[derive(Debug, Clone)]
struct Listed {
    text: String,
    origin: String,
}

/// A policy while it is put together.
#[derive(Debug)]
pub(crate) struct Draft {
    source: String,
    notes: Vec<String>,
    mode: Option<&'static str>,
    directories: Vec<Listed>,
    permissions: Vec<(Decision, Listed)>,
    grant: Grant,
    blocked_domains: Vec<Listed>,
    rules: Vec<Rule>,
    losses: Vec<Loss>,
}

impl Draft {
    /// An empty policy made from the file `name` of `program`.
    pub(crate) fn new(program: &str, name: &str) -> Self {
        Self {
            source: format!("Imported from {program}: {name}"),
            notes: Vec::new(),
            mode: None,
            directories: Vec::new(),
            permissions: Vec::new(),
            grant: Grant::default(),
            blocked_domains: Vec::new(),
            rules: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Notes something that could not be carried over.
    pub(crate) fn lose(
        &mut self,
        line: usize,
        what: impl Into<String>,
        why: impl Into<String>,
        instead: impl Into<String>,
    ) {
        self.losses.push(Loss {
            line: Some(line),
            what: what.into(),
            why: why.into(),
            instead: instead.into(),
        });
    }

    /// Says in the policy's head what holds without a rule.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(crate) fn set_mode(&mut self, mode: &'static str) {
        self.mode = Some(mode);
    }

    /// Says what the commands of all permissions may reach.
    pub(crate) fn set_grant(&mut self, grant: Grant) {
        self.grant = grant;
    }

    pub(crate) fn add_directory(&mut self, path: &str, line: usize) {
        self.directories.push(Listed { text: path.to_owned(), origin: format!("line {line}") });
    }

    pub(crate) fn add_permission(&mut self, decision: Decision, text: String, origin: &str) {
        let known =
            |(other, listed): &(Decision, Listed)| *other == decision && listed.text == text;
        if !self.permissions.iter().any(known) {
            self.permissions.push((decision, Listed { text, origin: origin.to_owned() }));
        }
    }

    /// Denies a path and all below it to tools that are named as in a permission.
    pub(crate) fn deny_tree(&mut self, tools: &[&str], path: &str, origin: &str) {
        for tool in tools {
            self.add_permission(Decision::Deny, format!("{tool}({path})"), origin);
            if !path.ends_with("**") {
                let below = format!("{tool}({}/**)", path.trim_end_matches('/'));
                self.add_permission(Decision::Deny, below, origin);
            }
        }
    }

    pub(crate) fn block_domain(&mut self, domain: &str, line: usize) {
        if !self.blocked_domains.iter().any(|listed| listed.text == domain) {
            let origin = format!("line {line}");
            self.blocked_domains.push(Listed { text: domain.to_owned(), origin });
        }
    }

    pub(crate) fn add_rule(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// The text, and the losses in the order of the file.
    pub(crate) fn finish(mut self) -> Imported {
        let mut policy = comment(&self.source);
        for note in &self.notes {
            policy.push_str(&comment(note));
        }
        policy.push('\n');
        for rule in &self.rules {
            rule.render(&mut policy);
        }
        self.render_permissions(&mut policy);
        if !self.blocked_domains.is_empty() {
            policy.push_str("[web]\nblocked_domains = ");
            policy.push_str(&listing(&self.blocked_domains.iter().collect::<Vec<_>>()));
        }
        policy.truncate(policy.trim_end().len());
        policy.push('\n');
        self.losses.sort_by_key(|loss| loss.line);
        Imported { policy, losses: self.losses }
    }

    fn render_permissions(&self, policy: &mut String) {
        if self.permissions.is_empty() && self.mode.is_none() && self.directories.is_empty() {
            return;
        }
        policy.push_str("[permissions]\n");
        if let Some(mode) = self.mode {
            policy.push_str(&format!("default_mode = {}\n", string(mode)));
        }
        if !self.permissions.is_empty() {
            self.grant.render(policy);
        }
        if !self.directories.is_empty() {
            let directories = listing(&self.directories.iter().collect::<Vec<_>>());
            policy.push_str(&format!("additional_directories = {directories}"));
        }
        for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
            let ours = self.permissions.iter().filter(|(other, _)| *other == decision);
            let listed: Vec<&Listed> = ours.map(|(_, listed)| listed).collect();
            if !listed.is_empty() {
                policy.push_str(&format!("{decision} = {}", listing(&listed)));
            }
        }
        policy.push('\n');
    }
}

/// A list with one item a line, each with its origin.
fn listing(items: &[&Listed]) -> String {
    let mut out = String::from("[\n");
    for item in items {
        out.push_str(&format!("    {}, {}", string(&item.text), comment(&item.origin)));
    }
    out.push_str("]\n");
    out
}

/// A comment line; characters TOML forbids there are replaced.
fn comment(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("# {shown}\n")
}

fn string(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| string(item)).collect();
    format!("[{}]", items.join(", "))
}

fn one_or_list(items: &[String]) -> String {
    match items {
        [item] => string(item),
        _ => list(items),
    }
}

fn conditions(equals: &[(String, String)]) -> String {
    let condition = |(param, value): &(String, String)| {
        format!("{{ param = {}, operator = \"equals\", value = {} }}", string(param), string(value))
    };
    format!("[{}]", equals.iter().map(condition).collect::<Vec<_>>().join(", "))
}

fn annotations(annotations: &[(&str, bool)]) -> String {
    let pair = |(name, value): &(&str, bool)| format!("{name} = {value}");
    format!("{{ {} }}", annotations.iter().map(pair).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_inside_its_string_or_comment() {
        let hostile = "a\n[[rule]]\n\"\"\" '''\u{7f}\r\\";
        let mut draft = Draft::new("x", hostile);
        draft.add_permission(Decision::Deny, hostile.to_owned(), hostile);
        let mut rule = Rule::new(hostile, [hostile], Decision::Deny, 1);
        rule.message = Some(hostile.to_owned());
        rule.equals.push((hostile.to_owned(), hostile.to_owned()));
        draft.add_rule(rule);

        let policy: toml::Table = draft.finish().policy.parse().unwrap();
        assert_eq!(policy["permissions"]["deny"][0].as_str(), Some(hostile));
        assert_eq!(policy["rule"].as_array().unwrap().len(), 1);
        assert_eq!(policy["rule"][0]["tool"].as_str(), Some(hostile));
    }
}
