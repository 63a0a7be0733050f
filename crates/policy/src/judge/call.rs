//! One call, looked at with the rules in force.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::finding::{Finding, Findings};
use super::ruling::Setting;
use crate::decision::Decision;
use crate::effect::{Access, Effect, PathFact, Risk};
use crate::facts::Facts;
use crate::name::ToolName;
use crate::pattern::path::folded;
use crate::question::{PathForms, Question};
use crate::verdict::{FloorKind, Verdict};
use crate::world::World;

/// One call, looked at with the rules in force.
#[derive(Debug)]
pub(crate) struct Judge<'j> {
    pub(crate) setting: Setting<'j>,
    pub(crate) facts: &'j Facts,
    pub(crate) world: &'j dyn World,
    /// The home folder in lower case.
    pub(crate) home: Option<Cow<'j, str>>,
    /// The workspace, as a list.
    workspace: [PathBuf; 1],
}

impl<'j> Judge<'j> {
    pub(crate) fn new(setting: Setting<'j>, facts: &'j Facts, world: &'j dyn World) -> Self {
        let home = world.home().map(|home| folded(&home.to_string_lossy()));
        let workspace = [world.workspace().to_owned()];
        Self { setting, facts, world, home, workspace }
    }

    /// Decides.
    pub(crate) fn verdict(&self) -> Verdict {
        let mut findings = Findings::default();
        let tool = &self.facts.tool;
        if tool.is_ambiguous() {
            findings.push(Finding::floor(
                FloorKind::Identity,
                Decision::Deny,
                format!("`{tool}` could be a tool of two servers, so it belongs to none"),
            ));
        } else if tool.as_str() == "shell" {
            self.judge_shell(&mut findings);
            self.judge_reach(&mut findings);
        } else if tool.as_str() == "web_fetch" {
            self.judge_fetch(&mut findings);
        } else if tool.as_str() == "web_search" {
            self.judge_search(&mut findings);
        } else {
            self.judge_plain(&mut findings);
        }
        if let Some(doubt) = &self.facts.doubt {
            findings.push(Finding::floor(FloorKind::Identity, Decision::Ask, doubt.as_str()));
        }
        findings.verdict(self.facts.risk, self.setting.mode)
    }

    /// A call that is what its arguments say.
    fn judge_plain(&self, findings: &mut Findings) {
        let Facts { tool, args, paths, .. } = self.facts;
        let effect = self.effect();
        let shown = Shown(tool);
        if paths.is_empty() {
            let question = self.question(tool, effect, args);
            findings.push(self.setting.rule(&question).finding(effect, question.mode, &shown));
        }
        for path in paths {
            let forms = PathForms::new(path).within(self.world.workspace());
            let question = Question { path: Some(&forms), ..self.question(tool, effect, args) };
            self.judge_path(&question, path, &shown, findings);
        }
    }

    /// What the call does; looking that carries a risk is more than looking.
    fn effect(&self) -> Effect {
        match self.facts.effect {
            Effect::Read if self.facts.risk > Risk::Low => Effect::Change,
            effect => effect,
        }
    }

    /// One thing a call touches: what the rules say, and the floors below it.
    pub(super) fn judge_path(
        &self,
        question: &Question<'_>,
        path: &PathFact,
        what: &dyn fmt::Display,
        findings: &mut Findings,
    ) {
        let ruling = self.setting.rule(question);
        findings.push(ruling.finding(question.effect, question.mode, what));
        let Some(forms) = question.path else { return };
        let allowing = ruling.rule.map(|(rule, _)| rule);
        findings.all.extend(self.path_floor(path, forms, allowing));
        findings.all.extend(self.unknown_part(path, forms, allowing, &findings.made));
        if path.access == Access::Write {
            findings.made.push(path.resolved.clone());
        }
    }

    /// A question about a tool; what it touches is filled in by whoever asks.
    pub(super) fn question<'q>(
        &'q self,
        tool: &'q ToolName,
        effect: Effect,
        args: &'q Value,
    ) -> Question<'q>
    where
        'j: 'q,
    {
        Question {
            tool,
            effect,
            hints: self.facts.hints,
            args,
            mode: self.setting.mode,
            interactive: self.setting.interactive,
            now: self.world.now(),
            caller: self.facts.caller.as_deref(),
            folders: &self.workspace,
            path: None,
            command: None,
            host: None,
            agent: agent(tool, args),
            canonical: OnceCell::new(),
        }
    }
}

/// A tool as reasons name it.
struct Shown<'t>(&'t ToolName);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        ["`", self.0.as_str(), "`"].into_iter().try_for_each(|piece| formatter.write_str(piece))
    }
}

/// The subagent a call starts.
fn agent<'a>(tool: &ToolName, args: &'a Value) -> Option<&'a str> {
    (tool.as_str() == "task").then(|| args.get("agent").and_then(Value::as_str)).flatten()
}
