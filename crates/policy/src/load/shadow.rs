//! Rules that can never match because a stronger one always does first.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::decision::Decision;
use crate::mode::Modes;
use crate::name::ToolPattern;
use crate::rule::{Matcher, Rule, Tier};
use crate::table::Table;

/// Pairs of a rule that never matches and the stronger one that always does first.
pub fn shadowed(table: &Table) -> Vec<(&Rule, &Rule)> {
    let mut found = Vec::new();
    let mut whole: HashMap<String, &Rule> = HashMap::new();
    let mut same: HashMap<Arc<str>, Vec<&Rule>> = HashMap::new();
    for (rule, name) in table.named() {
        // Without a name of its own, a rule is called what it is about.
        let key = match rule.name {
            None => Arc::clone(&name.name),
            Some(_) => rule.shown().into(),
        };
        let is_whole = rule.matcher == Matcher::default();
        if can_be_shadowed(rule) {
            let over = rule.tools.iter().map(|tool| covering(&whole, tool, rule));
            let over = over.collect::<Option<Vec<_>>>().and_then(|found| found.first().copied());
            let twin = || {
                let twins = same.get(&key)?;
                twins
                    .iter()
                    .copied()
                    .find(|stronger| covers(stronger, rule) && stronger.matcher == rule.matcher)
            };
            if let Some(stronger) = over.or_else(twin) {
                found.push((rule, stronger));
            }
        }
        if is_whole && rule.modes == Modes::ALL && rule.expires.is_none() {
            for tool in &rule.tools {
                whole.entry(tool.to_string()).or_insert(rule);
            }
        }
        same.entry(key).or_default().push(rule);
    }
    found
}

/// What a workspace restricts holds beside stronger rules.
fn can_be_shadowed(rule: &Rule) -> bool {
    match rule.origin.tier {
        Tier::Default => false,
        Tier::Workspace => rule.decision == Decision::Allow,
        Tier::User | Tier::Admin => true,
    }
}

/// A stronger rule about all calls of a tool.
fn covering<'r>(
    whole: &HashMap<String, &'r Rule>,
    tool: &ToolPattern,
    rule: &Rule,
) -> Option<&'r Rule> {
    let names = [tool.to_string(), "*".to_owned()];
    names.iter().find_map(|name| whole.get(name).copied()).filter(|stronger| covers(stronger, rule))
}

/// A rule that allows covers less than one that restricts, even if it reads the same.
fn covers(stronger: &Rule, rule: &Rule) -> bool {
    let as_wide = stronger.decision != Decision::Allow
        || rule.decision == Decision::Allow
        || stronger.matcher == Matcher::default();
    as_wide && rule.modes.is_within(stronger.modes) && stronger.expires.is_none()
}
