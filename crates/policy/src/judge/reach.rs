//! How far a command reaches when it runs, and what that asks for.
//!
//! A line runs in one sandbox, so that no command in it gets more than the rule
//! about it grants. Commands that only look need nothing, whatever runs beside
//! them.

use serde_json::json;

use super::call::Judge;
use super::finding::{Finding, Findings};
use super::ruling::{Ruling, Setting};
use super::wish::{Whose, Wish};
use crate::decision::Decision;
use crate::effect::Effect;
use crate::host;
use crate::level::Level;
use crate::mode::Mode;
use crate::name::ToolName;
use crate::profile::{Profile, listed};
use crate::question::Question;
use crate::rule::{Grant, Rule, Sandbox, Tier};
use crate::table::Table;
use crate::verdict::FloorKind;

/// Notes what the rule about a command says it may reach.
pub(super) fn note_reach(ruling: &Ruling<'_>, effect: Effect, findings: &mut Findings) {
    let said = [ruling.rule, ruling.tightened].map(|rule| rule.map(|(rule, _)| grant(rule)));
    let [rule, tightened] = said;
    let rule = rule.unwrap_or_default();
    // What only looks does with any sandbox what it does without.
    if effect != Effect::Read || rule.sandbox.is_some() {
        findings.reaches.push(rule);
    }
    findings.reaches.extend(tightened.filter(|grant| grant.sandbox.is_some()));
}

impl Judge<'_> {
    /// What a line runs with: what its rules grant, what it wants, what can be enforced.
    pub(super) fn judge_reach(&self, findings: &mut Findings) {
        if findings.decision() == Decision::Deny {
            return;
        }
        let wish = match Wish::of(self.facts) {
            Ok(wish) => wish,
            Err(why) => {
                findings.push(Finding::floor(FloorKind::Sandbox, Decision::Deny, why));
                return;
            }
        };
        let unasked = self.by_rules(findings, self.usual(findings));
        self.judge_hosts(&wish, &unasked, findings);
        self.judge_wish(&wish, &unasked, findings);
        if findings.decision() == Decision::Deny {
            return;
        }
        let level = self.world.level();
        let wanted = wish.over(&unasked);
        if wish.whose == Whose::Person {
            judge_choice(level, &wanted, findings);
        } else if findings.decision() == Decision::Allow && self.setting.mode != Mode::Yolo {
            judge_level(level, &wanted, findings);
        }
        let profile = match findings.decision() {
            // Nothing that cannot be enforced is claimed.
            _ if level == Level::None => Profile::of(Sandbox::Full),
            Decision::Allow => wanted,
            _ => wish.over(&self.by_rules(findings, self.usual_when_asked())),
        };
        if findings.decision() != Decision::Allow {
            // Who is asked agrees to the line as it is.
            findings.judged = None;
        }
        findings.reach = Some((profile, level));
    }

    /// The sandbox of what runs unasked and whose rule names none.
    fn usual(&self, findings: &Findings) -> Sandbox {
        // Where all else only looks, nothing is written but what the rules about files allow.
        let only_writes_files = findings.writes_files && findings.reaches.is_empty();
        if self.setting.mode == Mode::Yolo || only_writes_files {
            Sandbox::WorkspaceWrite
        } else {
            Sandbox::ReadOnly
        }
    }

    /// The sandbox of what a person agrees to and whose rule names none.
    fn usual_when_asked(&self) -> Sandbox {
        match self.setting.mode {
            Mode::Plan => Sandbox::ReadOnly,
            _ => Sandbox::WorkspaceWrite,
        }
    }

    /// What every rule about the line grants.
    fn by_rules(&self, findings: &Findings, usual: Sandbox) -> Profile {
        let each = findings.reaches.iter().map(|grant| {
            Profile::new(grant.sandbox.unwrap_or(usual), grant.network.iter().cloned())
        });
        let all = each.reduce(|all, one| all.narrowed(&one));
        let mut all = all.unwrap_or_else(|| Profile::of(usual));
        all.network.retain(|host| self.denied(host).is_none() && !self.denies_below(host));
        all
    }

    /// Hosts that are wanted: what forbids fetching from them forbids reaching them.
    fn judge_hosts(&self, wish: &Wish, unasked: &Profile, findings: &mut Findings) {
        for host in wish.hosts() {
            findings.all.extend(self.denied(host));
            if let Some(network) = host::private(host)
                && !unasked.names(host)
            {
                let reason = format!("`{host}` is {network}, not a public host");
                findings.push(Finding::floor(FloorKind::Web, Decision::Deny, reason));
            }
        }
    }

    /// What forbids a host, by a rule about fetching or about commands.
    fn denied(&self, host: &str) -> Option<Finding> {
        let name = host.trim_start_matches("*.");
        let tool = ToolName::new("web_fetch");
        let args = json!({ "url": format!("https://{name}/") });
        let asked = self.question(&tool, Effect::Change, &args);
        let untold = Setting { trace: None, ..self.setting };
        let fetching = untold.rule(&Question { host: Some(name), ..asked });
        let what = format!("reaching `{name}`");
        let found = fetching.finding(Effect::Read, self.setting.mode, &what);
        if found.decision == Decision::Deny {
            return Some(found);
        }
        let asked = self.question(&self.facts.tool, Effect::Change, &self.facts.args);
        let asked = Question { host: Some(name), ..asked };
        let about_hosts =
            |rule: &Rule| rule.decision == Decision::Deny && !rule.matcher.domains.is_empty();
        let (rule, name) = self.setting.best_where(&asked, about_hosts)?;
        let ruling = Ruling { decision: rule.decision, rule: Some((rule, name)), tightened: None };
        Some(ruling.finding(Effect::Read, self.setting.mode, &what))
    }

    /// Whether something is forbidden that a pattern over hosts covers.
    fn denies_below(&self, granted: &str) -> bool {
        let mode = self.setting.mode;
        let tables = self.setting.given.into_iter().chain(self.setting.tables);
        granted.starts_with("*.")
            && tables.flat_map(Table::rules).any(|rule| {
                let mut keys = rule.matcher.domains.iter().filter_map(|domain| domain.key());
                rule.decision == Decision::Deny
                    && rule.modes.contains(mode)
                    && keys.any(|key| host::covers(granted, key))
            })
    }

    /// What is wanted beyond what the rules grant.
    fn judge_wish(&self, wish: &Wish, unasked: &Profile, findings: &mut Findings) {
        if wish.whose == Whose::Person || self.setting.mode == Mode::Yolo {
            return;
        }
        let mut wants = Vec::new();
        match wish.sandbox {
            Some(Sandbox::Full) if unasked.sandbox < Sandbox::Full => {
                wants.push("run unconfined".to_owned());
            }
            Some(Sandbox::WorkspaceWrite) if unasked.sandbox < Sandbox::WorkspaceWrite => {
                wants.push("write in the workspace".to_owned());
            }
            _ => {}
        }
        let beyond = |host: &&String| !unasked.reaches(host);
        let beyond: Vec<String> = wish.hosts().iter().filter(beyond).cloned().collect();
        if !beyond.is_empty() {
            wants.push(format!("reach {}", listed(&beyond)));
        }
        for want in wants {
            findings.push(match self.setting.mode {
                Mode::Plan => Finding::floor(
                    FloorKind::Mode,
                    Decision::Deny,
                    format!("in plan mode only reading runs, and it wants to {want}"),
                ),
                _ => Finding::plain(Decision::Ask, format!("it wants to {want}")),
            });
        }
    }
}

/// What would run unasked on account of a sandbox that is not there, or not all of it.
fn judge_level(level: Level, wanted: &Profile, findings: &mut Findings) {
    let reason = match (level, wanted.sandbox) {
        (Level::Namespaces, _) | (_, Sandbox::Full) | (Level::Landlock, Sandbox::ReadOnly) => {
            return;
        }
        (Level::Landlock, Sandbox::WorkspaceWrite) => {
            "only a part of the sandbox is available here, and it does not keep protected files from being made; `toolgate doctor` tells why"
        }
        (Level::None, _) => {
            "no sandbox is available here, so nothing runs unasked on its account; `toolgate doctor` tells why"
        }
    };
    findings.push(Finding::floor(FloorKind::Sandbox, Decision::Ask, reason));
}

/// What a person chose must be what it gets.
fn judge_choice(level: Level, chosen: &Profile, findings: &mut Findings) {
    if level == Level::None && chosen.sandbox != Sandbox::Full {
        let reason =
            "no sandbox is available here, so it cannot be confined; `toolgate doctor` tells why";
        findings.push(Finding::floor(FloorKind::Sandbox, Decision::Deny, reason));
    }
}

/// What a rule grants; addresses that are not public are the owner's to grant.
fn grant(rule: &Rule) -> Grant {
    let mut grant = rule.grant.clone();
    if rule.origin.tier < Tier::User {
        grant.network.retain(|host| host::private(host).is_none());
    }
    grant
}
