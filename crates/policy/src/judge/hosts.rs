//! Hosts that commands may reach: what forbids fetching from one binds commands, too.

use serde_json::json;

use super::call::Judge;
use super::finding::{Finding, Findings};
use super::ruling::{Ruling, Setting};
use super::wish::Wish;
use crate::decision::Decision;
use crate::effect::Effect;
use crate::host;
use crate::name::ToolName;
use crate::profile::Profile;
use crate::question::Question;
use crate::rule::{Grant, Rule, Tier};
use crate::table::Table;
use crate::verdict::{FloorKind, RuleName};

impl<'j> Judge<'j> {
    /// What a rule grants to commands, without hosts that are not its to grant.
    pub(super) fn grant(&self, rule: &Rule) -> Grant {
        let mut grant = rule.grant.clone();
        grant.network.retain(|host| self.may_grant(rule, host));
        grant
    }

    /// Hosts that are wanted and that no rule names.
    pub(super) fn judge_hosts(&self, wish: &Wish, unasked: &Profile, findings: &mut Findings) {
        for host in wish.hosts() {
            if unasked.names(host) {
                continue;
            }
            findings.all.extend(self.denied(host));
            if let Some(network) = host::private(host) {
                let reason = format!("`{host}` is {network}, not a public host");
                findings.push(Finding::floor(FloorKind::Web, Decision::Deny, reason));
            }
        }
    }

    /// Whether a rule may grant a host. Who denies fetching altogether may still grant hosts to
    /// single commands, but not those below them.
    fn may_grant(&self, rule: &Rule, host: &str) -> bool {
        let name = host.trim_start_matches("*.");
        let is_public = host::private(name).is_none();
        let from_above = self.fetching(name).rule.is_some_and(|(other, _)| {
            other.decision == Decision::Deny && other.origin.tier > rule.origin.tier
        });
        (is_public || rule.origin.tier >= Tier::User)
            && !from_above
            && self.denied_by_name(name).is_none()
            && !self.denies_below(host)
    }

    /// What forbids a host: a rule that names it, or one that lets nobody fetch from it.
    fn denied(&self, host: &str) -> Option<Finding> {
        let ruling = match self.denied_by_name(host) {
            Some(found) => Ruling { decision: Decision::Deny, rule: Some(found), tightened: None },
            None => self.fetching(host),
        };
        let what = format!("reaching `{host}`");
        let found = ruling.finding(Effect::Read, self.setting.mode, &what);
        (found.decision == Decision::Deny).then_some(found)
    }

    /// What the rules say about fetching from a host.
    fn fetching(&self, host: &str) -> Ruling<'j> {
        let tool = ToolName::new("web_fetch");
        let args = json!({ "url": format!("https://{host}/") });
        let untold = Setting { trace: None, ..self.setting };
        let asked = self.question(&tool, Effect::Change, &args);
        untold.rule(&Question { host: Some(host), ..asked })
    }

    /// A rule that denies fetching from a host, or commands to reach it, by its name.
    fn denied_by_name(&self, host: &str) -> Option<(&'j Rule, &'j RuleName)> {
        let tools = [ToolName::new("web_fetch"), self.facts.tool.clone()];
        let args = json!({ "url": format!("https://{host}/") });
        tools.iter().find_map(|tool| {
            let asked = self.question(tool, Effect::Change, &args);
            let asked = Question { host: Some(host), ..asked };
            self.setting.best_where(&asked, |rule| rule.decision == Decision::Deny && names(rule))
        })
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
}

/// Whether a rule is about some hosts, rather than about all.
fn names(rule: &Rule) -> bool {
    rule.matcher.domains.iter().any(|domain| domain.key().is_some())
}
