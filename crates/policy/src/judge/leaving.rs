//! What a command needs beyond the workspace, and what it does there.

use super::call::Judge;
use super::files::Walk;
use super::finding::{Finding, Findings};
use crate::decision::Decision;
use crate::shell::Command;
use crate::shell::wrapper::Ran;

impl Judge<'_> {
    /// Notes what the programs of a command need.
    pub(super) fn note_needs(
        &self,
        command: &Command,
        inner: &[Ran],
        walk: &Walk,
        findings: &mut Findings,
    ) {
        for command in with_inner(command, inner) {
            let need = self.setting.needs.need(command, &walk.folder, self.world);
            findings.needs.extend(need.filter(|need| !findings.needs.contains(need)));
        }
    }

    /// Asks about a command that acts outside of the workspace, which no mode allows by itself.
    pub(super) fn judge_leaving(
        &self,
        command: &Command,
        inner: &[Ran],
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let needs = self.setting.needs;
        for command in with_inner(command, inner) {
            if let Some(leaving) = needs.leaving(command, &walk.folder, self.world) {
                let reason = format!("`{}` {}", leaving.command, leaving.does);
                findings.push(Finding::plain(Decision::Ask, reason));
            }
        }
    }
}

fn with_inner<'c>(command: &'c Command, inner: &'c [Ran]) -> impl Iterator<Item = &'c Command> {
    std::iter::once(command).chain(inner.iter().map(|ran| &ran.command))
}
