//! What the rules say to one question.

use std::cell::RefCell;
use std::fmt::{self, Write};

use crate::decision::Decision;
use crate::effect::Effect;
use crate::judge::finding::Finding;
use crate::mode::{Mode, Modes};
use crate::needs;
use crate::question::Question;
use crate::rule::{Mismatch, Priority, Rule, Tier};
use crate::table::Table;
use crate::verdict::{FloorKind, RuleName};

/// The rules in force, and what they are in force in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'s> {
    /// Rules given to whoever calls.
    pub(crate) given: Option<&'s Table>,
    /// Rules given at run time, and the rules loaded.
    pub(crate) tables: [&'s Table; 2],
    pub(crate) mode: Mode,
    pub(crate) interactive: bool,
    /// In lower case.
    pub(crate) own_folders: &'s [String],
    /// Folders in those that a task may use as its own.
    pub(crate) spared: &'s [String],
    /// What programs need beyond the workspace.
    pub(crate) needs: &'s needs::Table,
    /// Where to write down what the rules were asked, when somebody wants to know.
    pub(crate) trace: Option<&'s RefCell<Vec<Asked>>>,
}

/// What the rules were asked, and what each had to say.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) about: String,
    /// Rules about the tool, strongest first, and why those that do not match do not.
    pub(crate) rules: Vec<(RuleName, Decision, Option<String>)>,
}

/// What the rules say to one question.
#[derive(Debug)]
pub(crate) struct Ruling<'s> {
    pub(crate) decision: Decision,
    /// The rule that says so; none when no rule is about it.
    pub(crate) rule: Option<(&'s Rule, &'s RuleName)>,
    /// A rule of the workspace that is stricter.
    pub(crate) tightened: Option<(&'s Rule, &'s RuleName)>,
}

impl<'s> Setting<'s> {
    /// Asks the rules.
    pub(crate) fn rule(&self, question: &Question<'_>) -> Ruling<'s> {
        if let Some(trace) = self.trace {
            trace.borrow_mut().push(self.asked(question));
        }
        let rule = self.best_where(question, |_| true);
        let decision = rule.map_or(Decision::Ask, |(rule, _)| rule.decision);
        let tightened = self.tightening(question, rule.map(|(rule, _)| rule), decision);
        Ruling { decision, rule, tightened }
    }

    /// The strongest of some rules about what is asked.
    pub(crate) fn best_where(
        &self,
        question: &Question<'_>,
        wanted: impl Fn(&Rule) -> bool + Copy,
    ) -> Option<(&'s Rule, &'s RuleName)> {
        let [granted, table] = self.tables;
        let found = [
            self.given.and_then(|given| given.best_where(question, wanted)),
            granted.best_where(question, wanted),
            table.best_where(question, wanted),
        ];
        // As within a table; of equal rules the one that was given first-hand is taken.
        found.into_iter().flatten().rev().max_by(|(left, _), (right, _)| left.cmp_rank(right))
    }

    /// What every rule about the tool has to say.
    fn asked(&self, question: &Question<'_>) -> Asked {
        let tables = self.given.into_iter().chain(self.tables);
        let rules = tables.flat_map(Table::rules);
        let considered = rules.filter_map(|rule| match rule.mismatch(question) {
            Some(Mismatch::Tool) => None,
            mismatch => {
                let mismatch = mismatch.map(|found| found.to_string());
                Some((RuleName::of(rule), rule.decision, mismatch))
            }
        });
        Asked { about: question.about(), rules: considered.collect() }
    }

    /// A workspace may tighten what the user allows, but not what was answered at run time.
    fn tightening(
        &self,
        question: &Question<'_>,
        winner: Option<&Rule>,
        decision: Decision,
    ) -> Option<(&'s Rule, &'s RuleName)> {
        let [_, table] = self.tables;
        if !table.restrictions().by_workspace
            || winner.is_some_and(|rule| rule.priority >= Priority::SERVER_EXCLUDED)
        {
            return None;
        }
        table.best_where(question, |rule| {
            rule.origin.tier == Tier::Workspace && rule.decision > decision
        })
    }
}

impl Ruling<'_> {
    /// What the ruling adds up to for a call with this effect.
    pub(crate) fn finding(&self, effect: Effect, mode: Mode, what: &dyn fmt::Display) -> Finding {
        if let Some((rule, name)) = self.tightened {
            let reason = rule.message.as_deref().map_or_else(
                || format!("the workspace's rule {name} {} {what}", verb(rule.decision)),
                str::to_owned,
            );
            return Finding {
                rule: Some(name.clone()),
                risk: rule.risk,
                ..Finding::floor(FloorKind::Workspace, rule.decision, reason)
            };
        }
        if let Some(finding) = self.by_mode(effect, mode, what) {
            return finding;
        }
        let Some((rule, name)) = self.rule else {
            return Finding::plain(Decision::Ask, format!("no rule is about {what}, so it asks"));
        };
        let reason = match &rule.message {
            Some(message) => message.to_string(),
            None => sentence(name, rule.decision, what),
        };
        Finding {
            decision: rule.decision,
            reason,
            rule: Some(name.clone()),
            floor: None,
            risk: rule.risk,
            grant: rule.grant.clone(),
            given: rule.given.clone(),
        }
    }

    /// Modes that insist, unless a rule was made for that very mode.
    fn by_mode(&self, effect: Effect, mode: Mode, what: &dyn fmt::Display) -> Option<Finding> {
        let made_for_it = self
            .rule
            .is_some_and(|(rule, _)| rule.modes != Modes::ALL && rule.modes.contains(mode));
        if effect == Effect::Read || made_for_it {
            return None;
        }
        match mode {
            Mode::Plan if self.decision != Decision::Deny => Some(Finding::floor(
                FloorKind::Mode,
                Decision::Deny,
                format!("in plan mode only reading runs, and {what} does more"),
            )),
            Mode::Ask if self.decision == Decision::Allow => Some(Finding::floor(
                FloorKind::Mode,
                Decision::Ask,
                format!("mode `ask` asks about everything but reading, and {what} does more"),
            )),
            _ => None,
        }
    }
}

/// What most decisions say, so it is put together piece by piece.
fn sentence(name: &RuleName, decision: Decision, what: &dyn fmt::Display) -> String {
    const USUAL: usize = 128;
    let mut text = String::with_capacity(USUAL);
    text.push_str("rule ");
    name.push_to(&mut text);
    text.push(' ');
    text.push_str(verb(decision));
    // Writing to a text does not fail.
    write!(text, " {what}").ok();
    text
}

fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allows",
        Decision::Ask => "asks about",
        Decision::Deny => "denies",
    }
}
