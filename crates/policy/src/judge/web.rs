//! Fetching from the web, and searching it.

use serde_json::Value;

use super::call::Judge;
use super::finding::{Finding, Findings};
use crate::decision::Decision;
use crate::effect::Effect;
use crate::floor::address::Address;
use crate::question::Question;
use crate::rule::{Rule, Tier};
use crate::verdict::FloorKind;

impl Judge<'_> {
    pub(super) fn judge_fetch(&self, findings: &mut Findings) {
        let facts = self.facts;
        let url = facts.args.get("url").and_then(Value::as_str).unwrap_or_default();
        let address = match Address::parse(url) {
            Ok(address) => address,
            Err(error) => {
                findings.push(Finding::floor(FloorKind::Web, Decision::Deny, error.to_string()));
                return;
            }
        };
        // It leaves the machine, so the rule that lets reading run does not reach it.
        let question = Question {
            host: Some(&address.host),
            ..self.question(&facts.tool, Effect::Change, &facts.args)
        };
        let ruling = self.setting.rule(&question);
        let what = format!("fetching from `{}`", address.host);
        findings.push(ruling.finding(Effect::Read, question.mode, &what));
        let rule = ruling.rule.map(|(rule, _)| rule);
        if let Some(network) = address.private
            && !names_host(rule)
        {
            findings.push(Finding::floor(
                FloorKind::Web,
                Decision::Deny,
                format!("`{}` is {network}, not a public host", address.host),
            ));
        }
    }

    /// A search leaves the machine with what is searched for, and changes nothing.
    pub(super) fn judge_search(&self, findings: &mut Findings) {
        let facts = self.facts;
        let question = self.question(&facts.tool, Effect::Change, &facts.args);
        let ruling = self.setting.rule(&question);
        findings.push(ruling.finding(Effect::Read, question.mode, &"searching the web"));
    }
}

/// Whether the user allowed this very host, rather than all of them.
fn names_host(rule: Option<&Rule>) -> bool {
    rule.is_some_and(|rule| {
        rule.decision == Decision::Allow
            && rule.origin.tier >= Tier::User
            && rule.matcher.domains.iter().any(|domain| domain.key().is_some())
    })
}
