//! How far a command reaches when it runs, and what that asks for.
//!
//! A line runs in one sandbox, so that no command in it gets more than the rule
//! about it grants. Commands that only look need nothing, whatever runs beside
//! them.

use std::path::PathBuf;

use super::call::Judge;
use super::finding::{Finding, Findings};
use super::ruling::Ruling;
use super::wish::{Whose, Wish};
use crate::decision::Decision;
use crate::effect::Effect;
use crate::level::Level;
use crate::mode::Mode;
use crate::needs::Need;
use crate::profile::{Profile, listed};
use crate::rule::{Grant, Sandbox};
use crate::verdict::FloorKind;

impl Judge<'_> {
    /// Notes what the rule about a command says it may reach.
    pub(super) fn note_reach(&self, ruling: &Ruling<'_>, effect: Effect, findings: &mut Findings) {
        let said =
            [ruling.rule, ruling.tightened].map(|rule| rule.map(|(rule, _)| self.grant(rule)));
        let [rule, tightened] = said;
        let rule = rule.unwrap_or_default();
        // What only looks does with any sandbox what it does without.
        if effect != Effect::Read || rule.sandbox.is_some() {
            findings.reaches.push(rule);
        }
        findings.reaches.extend(tightened.filter(|grant| grant.sandbox.is_some()));
    }

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
        let unasked = Self::by_rules(findings, self.usual(findings)).needing(needs(findings));
        let unasked = unasked.writing(findings.named.iter().cloned());
        self.judge_hosts(&wish, &unasked, findings);
        self.judge_wish(&wish, &unasked, findings);
        if findings.decision() == Decision::Deny {
            return;
        }
        let level = self.world.level();
        let wanted = wish.over(&unasked);
        if findings.runs_workspace && wanted.sandbox == Sandbox::Full {
            let reason = "it would run a program of the workspace unconfined";
            findings.push(Finding::floor(FloorKind::Sandbox, Decision::Ask, reason));
        }
        if wish.whose == Whose::Person {
            judge_choice(level, &wanted, findings);
        } else if findings.decision() == Decision::Allow && self.setting.mode != Mode::Yolo {
            judge_level(level, &wanted, findings);
        }
        let profile = match findings.decision() {
            // Nothing that cannot be enforced is claimed.
            _ if level == Level::None => Profile::of(Sandbox::Full),
            Decision::Allow => wanted,
            _ => {
                let asked = Self::by_rules(findings, self.usual_when_asked());
                let asked = asked.needing(needs(findings));
                wish.over(&asked.writing(findings.named.iter().cloned()))
            }
        };
        if findings.decision() != Decision::Allow {
            // Who is asked agrees to the line as it is.
            findings.judged = None;
        }
        findings.reach = Some((profile, level));
    }

    /// The sandbox of what runs unasked and whose rule names none.
    fn usual(&self, findings: &Findings) -> Sandbox {
        let only_looks = findings.reaches.is_empty() && !findings.writes_files;
        if only_looks { Sandbox::ReadOnly } else { self.usual_when_asked() }
    }

    /// The sandbox of what a person agrees to and whose rule names none.
    fn usual_when_asked(&self) -> Sandbox {
        match self.setting.mode {
            Mode::Plan => Sandbox::ReadOnly,
            _ => Sandbox::WorkspaceWrite,
        }
    }

    /// What every rule about the line grants: no command gets more than its own rule says.
    fn by_rules(findings: &Findings, usual: Sandbox) -> Profile {
        let each = findings.reaches.iter().map(|grant| {
            let network = grant.network.iter().cloned();
            let profile = Profile::new(grant.sandbox.unwrap_or(usual), network);
            profile.writing(grant.write.iter().cloned())
        });
        each.reduce(|all, one| all.narrowed(&one)).unwrap_or_else(|| Profile::of(usual))
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
        let is_beyond =
            |folder: &&PathBuf| !unasked.write.iter().any(|own| folder.starts_with(own));
        let folders = wish.write.iter().filter(is_beyond);
        let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
        if !folders.is_empty() && unasked.sandbox < Sandbox::Full {
            wants.push(format!("write in {}", listed(&folders)));
        }
        for want in wants {
            // In front of all else: it is what a second run is about.
            findings.all.insert(
                0,
                match self.setting.mode {
                    Mode::Plan => Finding::floor(
                        FloorKind::Mode,
                        Decision::Deny,
                        format!("in plan mode only reading runs, and it wants to {want}"),
                    ),
                    _ => Finding::plain(Decision::Ask, format!("it wants to {want}")),
                },
            );
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

/// The needs that a line's programs are given. Caches are private copies, so they widen nothing;
/// hosts come with them unless a rule says what the line may reach.
fn needs(findings: &Findings) -> Vec<Need> {
    let is_said = findings.reaches.iter().any(Grant::is_explicit);
    let mut needs = findings.needs.clone();
    if is_said {
        needs.iter_mut().for_each(Need::go_offline);
        needs.retain(|need| !need.is_empty());
    }
    needs
}
