//! What was found out about a call, and the verdict it adds up to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::decision::Decision;
use crate::effect::Risk;
use crate::level::Level;
use crate::mode::Mode;
use crate::needs::Need;
use crate::profile::Profile;
use crate::rule::Grant;
use crate::shell::ShellRisk;
use crate::verdict::{Floor, FloorKind, RuleName, Verdict};

/// More reasons than this are not read.
const MOST_REASONS: usize = 6;

/// One thing found out about a call.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) decision: Decision,
    pub(crate) reason: String,
    pub(crate) rule: Option<RuleName>,
    pub(crate) floor: Option<FloorKind>,
    pub(crate) risk: Option<Risk>,
    pub(crate) grant: Grant,
    /// The grant that the rule was given with.
    pub(crate) given: Option<Arc<str>>,
}

impl Finding {
    /// Something no ordinary rule can lower.
    pub(crate) fn floor(kind: FloorKind, decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
            rule: None,
            floor: Some(kind),
            risk: None,
            grant: Grant::default(),
            given: None,
        }
    }

    /// Something that is neither a floor nor said by a rule.
    pub(crate) fn plain(decision: Decision, reason: impl Into<String>) -> Self {
        Self { floor: None, ..Self::floor(FloorKind::Sandbox, decision, reason) }
    }
}

/// Everything found out about a call.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) all: Vec<Finding>,
    pub(crate) risks: Vec<ShellRisk>,
    pub(crate) judged: Option<String>,
    /// What the rules say that each command may reach which does more than look.
    pub(crate) reaches: Vec<Grant>,
    /// The needs of the programs in the line.
    pub(crate) needs: Vec<Need>,
    /// Files and folders outside of the workspace that the line reads.
    pub(crate) read: Vec<PathBuf>,
    /// Files that the sandbox hides because a rule denies to read them.
    pub(crate) hidden: Vec<PathBuf>,
    /// Places that the sandbox keeps from being changed because a rule denies it.
    pub(crate) guarded: Vec<PathBuf>,
    /// Guarded files and folders elsewhere that the line plainly changes.
    pub(crate) named: Vec<PathBuf>,
    /// Files and folders that are made, which later parts of the call may find there.
    pub(crate) made: Vec<PathBuf>,
    /// Whether output goes to files.
    pub(crate) writes_files: bool,
    /// Whether it runs programs that the workspace brought.
    pub(crate) runs_workspace: bool,
    /// What a command would run with, and what of it can be enforced.
    pub(crate) reach: Option<(Profile, Level)>,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.all.push(finding);
    }

    /// The strictest so far.
    pub(crate) fn strictest(&self) -> Option<&Finding> {
        self.all.get(self.strictest_at()?)
    }

    /// What it comes to so far.
    pub(crate) fn decision(&self) -> Decision {
        self.strictest().map_or(Decision::Ask, |finding| finding.decision)
    }

    fn strictest_at(&self) -> Option<usize> {
        // Of equally strict ones the first, which is what was asked for; a floor says more.
        let strictness = |finding: &Finding| (finding.decision, finding.floor.is_some());
        let numbered = self.all.iter().enumerate().rev();
        numbered.max_by_key(|(_, finding)| strictness(finding)).map(|(at, _)| at)
    }

    /// The verdict: the strictest finding holds.
    pub(crate) fn verdict(mut self, risk: Risk, mode: Mode) -> Verdict {
        let Some(at) = self.strictest_at() else {
            let verdict =
                Verdict::new(Decision::Ask, risk, mode, "nothing is known about this call");
            return reaching(verdict, self.reach);
        };
        let read = std::mem::take(&mut self.read);
        let (hidden, guarded) =
            (std::mem::take(&mut self.hidden), std::mem::take(&mut self.guarded));
        let grants = self.grants();
        let deciding = self.all.remove(at);
        let raised = self.risks.iter().map(|found| found.severity).max();
        let risk = deciding.risk.unwrap_or(risk).max(raised.unwrap_or(Risk::Low));
        let rule = deciding.rule.or_else(|| self.allowing_rule());
        self.all.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
        let floor = |kind: Option<FloorKind>, decision, reason: &str| {
            Some(Floor { kind: kind?, decision, reason: reason.to_owned() })
        };
        let mut floors = Vec::new();
        floors.extend(floor(deciding.floor, deciding.decision, &deciding.reason));
        let mut reasons = vec![deciding.reason];
        for finding in self.all {
            floors.extend(floor(finding.floor, finding.decision, &finding.reason));
            if reasons.len() < MOST_REASONS && !reasons.contains(&finding.reason) {
                reasons.push(finding.reason);
            }
        }
        let mut verdict = Verdict {
            decision: deciding.decision,
            rule,
            risk,
            mode,
            floors,
            reasons,
            risks: self.risks,
            grant: deciding.grant,
            grants,
            judged: self.judged,
            level: None,
        };
        verdict = reaching(verdict, self.reach);
        (verdict.grant.hidden, verdict.grant.guarded) = (hidden, guarded);
        if verdict.level.is_some() {
            verdict.grant.read = read;
        }
        if mode == Mode::DontAsk && verdict.decision == Decision::Ask {
            verdict.decision = Decision::Deny;
            let reason = format!("{}, and mode `dont_ask` denies what would ask", verdict.reason());
            verdict.reasons.insert(0, reason);
            verdict.reasons.remove(1);
        }
        verdict
    }

    /// The grants whose rules said something, each once.
    fn grants(&self) -> Vec<Arc<str>> {
        let mut grants = Vec::new();
        for id in self.all.iter().filter_map(|finding| finding.given.as_ref()) {
            if !grants.contains(id) {
                grants.push(Arc::clone(id));
            }
        }
        grants
    }

    /// The rule that would have allowed what a floor holds up.
    fn allowing_rule(&self) -> Option<RuleName> {
        self.all.iter().find_map(|finding| finding.rule.clone())
    }
}

/// The verdict on a command, which runs with this.
fn reaching(mut verdict: Verdict, reach: Option<(Profile, Level)>) -> Verdict {
    if let Some((profile, level)) = reach {
        verdict.grant = profile.into();
        verdict.level = Some(level);
    }
    verdict
}
