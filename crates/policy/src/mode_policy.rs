//! Modes by risk, with the boundary of the workspace.

use crate::decision::{Decision, Policy, Verdict};
use crate::facts::{Access, Effect, Facts, PathFact, Place, Risk};
use crate::mode::Mode;
use crate::protected;

/// Decides by mode and risk, keeps changes inside the workspace, and lets the
/// owner allow or exclude whole tools.
#[derive(Debug, Clone, Default)]
pub struct ModePolicy {
    mode: Mode,
    allowed: Vec<String>,
    excluded: Vec<String>,
}

impl ModePolicy {
    /// A policy in the given mode, with no tool allowed or excluded by name.
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// The same policy with tools that run without a question inside the workspace.
    #[must_use]
    pub fn with_allowed(mut self, tools: Vec<String>) -> Self {
        self.allowed = tools;
        self
    }

    /// The same policy with tools that never run.
    #[must_use]
    pub fn with_excluded(mut self, tools: Vec<String>) -> Self {
        self.excluded = tools;
        self
    }

    /// What the mode says when no floor applies.
    fn by_mode(&self, facts: &Facts) -> (Decision, String) {
        let Facts { tool, risk, .. } = facts;
        match (self.mode, facts.effect) {
            (Mode::Yolo, _) => (Decision::Allow, "mode `yolo` allows every call".to_owned()),
            (_, Effect::Read) if *risk == Risk::Low => {
                (Decision::Allow, format!("`{tool}` only reads"))
            }
            (Mode::Plan, _) => {
                (Decision::Deny, format!("in plan mode only reading runs, and `{tool}` does more"))
            }
            (Mode::AcceptEdits, Effect::Edit) if *risk <= Risk::Medium => (
                Decision::Allow,
                "mode `accept_edits` allows edits inside the workspace".to_owned(),
            ),
            _ => (Decision::Ask, format!("mode `{}` asks about {risk} risk", self.mode)),
        }
    }

    /// What holds whatever the mode says: the strictest floor that applies.
    fn floor(&self, facts: &Facts) -> Option<(Decision, String)> {
        facts
            .paths
            .iter()
            .filter_map(|path| self.path_floor(path))
            // Of several equally strict ones the first, which is what was asked for.
            .rev()
            .max_by_key(|(decision, _)| *decision)
    }

    fn path_floor(&self, path: &PathFact) -> Option<(Decision, String)> {
        let shown = path.resolved.display();
        let either =
            |check: fn(&std::path::Path) -> bool| check(&path.requested) || check(&path.resolved);
        if path.access != Access::Read && either(protected::is_never_written) {
            return Some((Decision::Deny, format!("`{shown}` is never changed, in any mode")));
        }
        if self.mode == Mode::Yolo {
            return None;
        }
        if path.access != Access::Read && either(protected::governs_a_program) {
            return Some((
                Decision::Ask,
                format!("`{shown}` governs another program, so changing it needs a person"),
            ));
        }
        if path.place == Place::Outside {
            return Some((Decision::Ask, format!("`{shown}` is outside the workspace")));
        }
        (path.access == Access::Write && path.hard_links > 1).then(|| {
            let links = path.hard_links;
            (
                Decision::Ask,
                format!("`{shown}` has {links} hard links, and a change would split them"),
            )
        })
    }
}

impl Policy for ModePolicy {
    fn decide(&self, facts: &Facts) -> Verdict {
        let named = |tools: &[String]| tools.contains(&facts.tool);
        let by_name = if named(&self.excluded) {
            Some((Decision::Deny, format!("`{}` is excluded", facts.tool)))
        } else if named(&self.allowed) && self.mode != Mode::Plan {
            Some((Decision::Allow, format!("`{}` is allowed by name", facts.tool)))
        } else {
            None
        };
        let (decision, reason) = by_name.unwrap_or_else(|| self.by_mode(facts));
        let mut reasons = vec![reason];
        let mut strictest = decision;
        if let Some((floor, reason)) = self.floor(facts)
            && floor >= decision
            && floor != Decision::Allow
        {
            strictest = floor;
            reasons.insert(0, reason);
        }
        Verdict { decision: strictest, risk: facts.risk, mode: self.mode, reasons }
    }
}

#[cfg(test)]
mod tests;
