//! Who wins among rules, where Gemini CLI and Toolgate answer differently.
//!
//! Among equals the first wins there, and here the one with the more specific
//! tool. Raising a deny rule or lowering an allow rule never loosens, so that is
//! all that is done.

use crate::decision::Decision;
use crate::import::draft::{Draft, Matcher, Rule};

const HIGHEST: u16 = 999;

/// Moves rules so that no looser one wins here than there. They are in the order of the file.
pub(crate) fn settle(rules: &mut Vec<Rule>, draft: &mut Draft) {
    let original: Vec<Rule> = rules.clone();
    keep_denials_above_broadened_questions(rules, &original, draft);
    keep_first_among_equals(rules, &original, draft);
    note_stricter_equals(&original, draft);
    rules.retain(|rule| !rule.tools.is_empty() || rule.mcp.is_some());
}

/// A question that covers more than it did must not answer for what was denied below it.
fn keep_denials_above_broadened_questions(
    rules: &mut [Rule],
    original: &[Rule],
    draft: &mut Draft,
) {
    let broadened = original.iter().enumerate();
    let broadened = broadened.filter(|(_, rule)| rule.broadened && rule.decision == Decision::Ask);
    for (at, question) in broadened {
        if question.priority == HIGHEST {
            if let Some(rule) = rules.get_mut(at) {
                rule.decision = Decision::Deny;
            }
            continue;
        }
        let below = |rule: &&mut Rule| {
            rule.decision == Decision::Deny
                && rule.priority <= question.priority
                && overlap(rule, question)
        };
        for denial in rules.iter_mut().filter(below) {
            let what = format!("deny rule of priority {}", denial.priority);
            let why = format!("the question of line {} above it got broader", question.line);
            denial.priority = question.priority + 1;
            let instead = format!("made stricter: its priority is {}", denial.priority);
            draft.lose(denial.line, what, why, instead);
        }
    }
}

fn keep_first_among_equals(rules: &mut [Rule], original: &[Rule], draft: &mut Draft) {
    for (at, later) in original.iter().enumerate() {
        for (before, earlier) in original.iter().enumerate().take(at) {
            let would_lose = earlier.priority == later.priority
                && earlier.decision > later.decision
                && overlap(earlier, later)
                && most_specific(later) > least_specific(earlier);
            if !would_lose {
                continue;
            }
            if later.decision == Decision::Allow {
                lower(rules.get_mut(at), later, draft);
            } else if earlier.priority < HIGHEST {
                if let Some(rule) = rules.get_mut(before) {
                    rule.priority = rule.priority.max(earlier.priority + 1);
                }
            } else if let Some(rule) = rules.get_mut(at) {
                rule.decision = Decision::Deny;
            }
        }
    }
}

fn lower(rule: Option<&mut Rule>, original: &Rule, draft: &mut Draft) {
    let Some(rule) = rule else { return };
    if let Some(priority) = original.priority.checked_sub(1) {
        rule.priority = priority;
    } else if !rule.tools.is_empty() || rule.mcp.is_some() {
        let why = "an earlier, stricter rule of the same priority comes first";
        draft.lose(original.line, "allow rule of priority 0", why, "left out");
        rule.tools.clear();
        rule.mcp = None;
    }
}

/// Says where a later, stricter rule of the same priority now wins.
fn note_stricter_equals(rules: &[Rule], draft: &mut Draft) {
    for (at, later) in rules.iter().enumerate() {
        let wins = |earlier: &&Rule| {
            let whole = earlier.matcher == Matcher::Any || later.matcher == Matcher::Any;
            earlier.priority == later.priority
                && earlier.decision < later.decision
                && whole
                && overlap(earlier, later)
        };
        if let Some(earlier) = rules.iter().take(at).find(wins) {
            let why =
                format!("it stands before a stricter rule of the same priority ({})", later.origin);
            let what = format!("{} rule of priority {}", earlier.decision, earlier.priority);
            draft.lose(earlier.line, what, why, "made stricter: the stricter one wins");
        }
    }
}

fn overlap(one: &Rule, other: &Rule) -> bool {
    let open = |rule: &Rule| rule.mcp.is_some() || rule.tools.iter().any(|tool| tool.contains('*'));
    open(one) || open(other) || one.tools.iter().any(|tool| other.tools.contains(tool))
}

fn most_specific(rule: &Rule) -> u8 {
    let server = rule.mcp.as_ref().map(|_| 2);
    rule.tools.iter().map(|tool| specific(tool)).chain(server).max().unwrap_or(2)
}

fn least_specific(rule: &Rule) -> u8 {
    let server = rule.mcp.as_ref().map(|_| 0);
    rule.tools.iter().map(|tool| specific(tool)).chain(server).min().unwrap_or(0)
}

fn specific(tool: &str) -> u8 {
    match tool {
        "*" => 0,
        _ if tool.contains('*') => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tool: &str, decision: Decision, priority: u16) -> Rule {
        Rule::new("", [tool], decision, priority)
    }

    fn settled(mut rules: Vec<Rule>) -> Vec<(Decision, u16)> {
        settle(&mut rules, &mut Draft::new("x", "y"));
        rules.iter().map(|rule| (rule.decision, rule.priority)).collect()
    }

    #[test]
    fn the_first_among_equals_stays_ahead() {
        use Decision::{Allow, Ask, Deny};
        let two = |first, second| settled(vec![first, second]);
        assert_eq!(two(rule("*", Deny, 5), rule("glob", Allow, 5)), [(Deny, 5), (Allow, 4)]);
        assert_eq!(two(rule("*", Deny, 5), rule("glob", Ask, 5)), [(Deny, 6), (Ask, 5)]);
        assert_eq!(two(rule("*", Deny, 999), rule("glob", Ask, 999)), [(Deny, 999), (Deny, 999)]);
        assert_eq!(two(rule("*", Ask, 0), rule("glob", Allow, 0)), [(Ask, 0)]);
        assert_eq!(two(rule("ls", Deny, 5), rule("glob", Allow, 5)), [(Deny, 5), (Allow, 5)]);
        assert_eq!(two(rule("*", Allow, 5), rule("glob", Deny, 5)), [(Allow, 5), (Deny, 5)]);
    }

    #[test]
    fn a_broadened_question_does_not_answer_for_a_denial() {
        let mut question = rule("shell", Decision::Ask, 300);
        question.broadened = true;
        let rules = vec![question.clone(), rule("shell", Decision::Deny, 100)];
        assert_eq!(settled(rules), [(Decision::Ask, 300), (Decision::Deny, 301)]);
        question.priority = 999;
        assert_eq!(settled(vec![question]), [(Decision::Deny, 999)]);
    }
}
