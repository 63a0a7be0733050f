//! `prefix_rule`: the first words of a command.

use super::example::{self, HostExecutable, Words};
use crate::decision::Decision;
use crate::import::draft::{Draft, Matcher, Rule, strictest_wins};
use crate::import::node::Node;
use crate::import::words;

/// A `prefix_rule`, its types checked.
#[derive(Debug, Clone)]
pub(crate) struct PrefixRule {
    pub(crate) line: usize,
    pub(crate) words: Words,
    pub(crate) decision: Decision,
    pub(crate) justification: Option<String>,
    pub(crate) matching: Vec<Node>,
    pub(crate) not_matching: Vec<Node>,
    /// Arguments that nobody documents.
    pub(crate) unknown: Vec<String>,
}

/// Most commands that one rule's alternatives may spell out.
const MOST_COMMANDS: usize = 256;

/// Adds the rule that says the same, or a stricter one.
pub(crate) fn convert(foreign: &PrefixRule, hosts: &[HostExecutable], draft: &mut Draft) {
    let sound = check_examples(foreign, hosts, draft);
    for name in &foreign.unknown {
        let what = format!("prefix_rule `{name}`");
        let instead = match foreign.decision {
            Decision::Allow => "the rule is left out",
            _ => "the rule holds without it",
        };
        draft.lose(foreign.line, what, "Toolgate does not know this argument", instead);
    }
    if foreign.decision == Decision::Allow && (!sound || !foreign.unknown.is_empty()) {
        return;
    }
    let spelled = spell_out(foreign, draft);
    let matcher = match spelled {
        Spelled::Nothing => return,
        Spelled::EveryCommand => Matcher::Any,
        Spelled::Prefixes(prefixes) => Matcher::CommandPrefix(prefixes),
    };
    let origin = format!("line {}: {}", foreign.line, describe(foreign));
    let priority = strictest_wins(foreign.decision);
    let mut rule = Rule::new(origin, ["shell"], foreign.decision, priority);
    rule.matcher = matcher;
    rule.message.clone_from(&foreign.justification);
    // What Codex allows by a rule runs outside its sandbox.
    rule.grant.sandbox = (foreign.decision == Decision::Allow).then_some("full");
    draft.add_rule(rule);
}

fn describe(foreign: &PrefixRule) -> String {
    let word = |alternatives: &Vec<String>| alternatives.join("|");
    foreign.words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Reports examples that fail; Codex refuses a file for one.
fn check_examples(foreign: &PrefixRule, hosts: &[HostExecutable], draft: &mut Draft) -> bool {
    let matching = foreign.matching.iter().map(|example| (example, true));
    let not_matching = foreign.not_matching.iter().map(|example| (example, false));
    let mut sound = true;
    for (example, expected) in matching.chain(not_matching) {
        let why = match example::words(example) {
            Err(why) => why,
            Ok(command) if example::matches(&foreign.words, &command, hosts) == expected => {
                continue;
            }
            Ok(_) if expected => "the rule does not match it",
            Ok(_) => "the rule matches it",
        };
        sound = false;
        let list = if expected { "match" } else { "not_match" };
        let instead = match foreign.decision {
            Decision::Allow => "the rule is left out, as Codex refuses the file",
            _ => "the rule holds all the same",
        };
        let what = format!("`{list}` example of {}", describe(foreign));
        draft.lose(example.line, what, why, instead);
    }
    sound
}

enum Spelled {
    Nothing,
    EveryCommand,
    Prefixes(Vec<String>),
}

/// Every command the alternatives stand for, as text.
fn spell_out(foreign: &PrefixRule, draft: &mut Draft) -> Spelled {
    let allow = foreign.decision == Decision::Allow;
    let mut prefixes = vec![String::new()];
    let mut trouble = None;
    for alternatives in &foreign.words {
        let too_many = prefixes.len() * alternatives.len() > MOST_COMMANDS;
        if too_many {
            trouble = Some("its alternatives spell out too many commands".to_owned());
            if allow {
                prefixes.clear();
            }
            break;
        }
        let odd = alternatives.iter().find(|word| !is_sayable(word, &prefixes));
        if let Some(odd) = odd {
            trouble = Some(format!("the word `{odd}` is not plain"));
            if !allow {
                break;
            }
        }
        prefixes = extend(&prefixes, alternatives);
    }
    if let Some(why) = trouble {
        let instead = match (allow, prefixes.is_empty()) {
            (true, true) => "left out".to_owned(),
            (true, false) => "those commands are left out".to_owned(),
            (false, _) if prefixes.iter().any(String::is_empty) => {
                "made broader: it holds for every command".to_owned()
            }
            (false, _) => format!("made broader: it holds for `{}`", prefixes.join("`, `")),
        };
        draft.lose(foreign.line, format!("prefix_rule {}", describe(foreign)), why, instead);
    }
    match prefixes {
        prefixes if prefixes.is_empty() => Spelled::Nothing,
        prefixes if prefixes.iter().any(String::is_empty) => Spelled::EveryCommand,
        prefixes => Spelled::Prefixes(prefixes),
    }
}

/// The first word cannot hold a `=`, which would make it an assignment.
fn is_sayable(word: &str, before: &[String]) -> bool {
    let first = before.iter().all(String::is_empty);
    words::is_plain(word) && !(first && word.contains('='))
}

/// Every prefix with every word that can be said.
fn extend(prefixes: &[String], alternatives: &[String]) -> Vec<String> {
    let sayable = alternatives.iter().filter(|word| is_sayable(word, prefixes));
    let join = |prefix: &String, word: &String| match prefix.as_str() {
        "" => word.clone(),
        _ => format!("{prefix} {word}"),
    };
    let pairs =
        prefixes.iter().flat_map(|prefix| sayable.clone().map(move |word| join(prefix, word)));
    pairs.collect()
}
