//! A line that decides things while it runs and still only looks.

use std::path::Path;

use super::call::Judge;
use super::files::Walk;
use super::finding::{Finding, Findings};
use super::forms::shown;
use super::shell::Depth;
use crate::decision::Decision;
use crate::effect::{Access, Effect, Place};
use crate::shell::{Command, Direction, Followed, Look, Word, follow};
use crate::verdict::FloorKind;
use crate::wildcard::Wildcard;

/// More files than this are not looked at one by one.
const MOST_FILES: usize = 20_000;

impl Judge<'_> {
    /// Follows a line through its values. Returns nothing if one of its commands does more than
    /// look, or could not be followed.
    pub(super) fn followed(&self, line: &str, walk: &Walk) -> Option<Followed> {
        let question = self.question(&self.facts.tool, Effect::Change, &self.facts.args);
        if self.setting.rule(&question).decision == Decision::Allow {
            // It runs anyway, and may do more.
            return None;
        }
        let followed = follow(line)?;
        let only_looks = |command: &Command| {
            let writes = command.redirects.iter().any(|redirect| {
                redirect.direction == Direction::Write
                    && redirect.target.literal() != Some("/dev/null")
            });
            let is_look =
                command.words.is_empty() || !matches!(self.look(command, walk), Look::No(_));
            is_look && !writes
        };
        followed.commands.iter().all(only_looks).then_some(followed)
    }

    /// Judges a line whose commands all only look. It runs as it is written, in a sandbox where
    /// nothing can be changed.
    pub(super) fn judge_followed(
        &self,
        followed: &Followed,
        written: &[Command],
        walk: &mut Walk,
        findings: &mut Findings,
    ) {
        for command in &followed.commands {
            self.judge_command(command, &[], walk, findings, Depth::Outer);
        }
        for command in written.iter().filter(|command| command.name() == Some("xargs")) {
            self.judge_restrictions(command, walk, findings);
        }
        for word in &followed.split {
            self.judge_split(word, walk, findings);
        }
        let is_named = |command: &&Command| !command.words.is_empty();
        let named: Vec<Command> = followed.commands.iter().filter(is_named).cloned().collect();
        let is_unknown = |word: &Word| !word.known;
        let has_unknown = |command: &Command| command.words.iter().any(is_unknown);
        if followed.commands.iter().any(has_unknown)
            && let Some(rule) = self.hidden_command_rule(&named)
        {
            let reason = format!("rule {rule} could be about what it names only while it runs");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
        self.judge_dangers(written, Vec::new(), walk, findings);
        // Whatever the rules grant to single commands, the line as it is written may only look.
        findings.reaches.clear();
    }

    /// Names that are split at blanks could become others.
    fn judge_split(&self, word: &Word, walk: &Walk, findings: &mut Findings) {
        let is_odd = |name: &String| {
            name.contains(|letter: char| letter.is_whitespace() || "*?[".contains(letter))
        };
        let is_whole = walk.folders.iter().all(|folder| {
            self.world.expand(folder, &word.text).is_some_and(|names| !names.iter().any(is_odd))
        });
        if !is_whole {
            let reason =
                format!("a name that `{}` stands for would be split at a blank", word.text);
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Files of the workspace that a command lists and another one reads.
    pub(super) fn judge_listed(&self, command: &Command, word: &Word, findings: &mut Findings) {
        let pattern = Wildcard::new(&word.text);
        let mut found = None;
        let mut seen = 0;
        let mut test = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !pattern.matches(&name) {
                return false;
            }
            seen += 1;
            let stricter = |new: &Finding, old: &Option<Finding>| {
                old.as_ref().is_none_or(|old| old.decision < new.decision)
            };
            found = match self.forbidden(path) {
                Some(new) if stricter(&new, &found) => Some(new),
                _ => found.take(),
            };
            let is_outside = || {
                self.world.is_link(path)
                    && self.world.look(path, Access::Read).place == Place::Outside
            };
            if found.is_none() && is_outside() {
                let reason = format!(
                    "`{}` would follow `{}`, which leads outside the workspace",
                    shown(command),
                    path.display()
                );
                found = Some(Finding::floor(FloorKind::Outside, Decision::Ask, reason));
            }
            let is_denied = found.as_ref().is_some_and(|found| found.decision == Decision::Deny);
            is_denied || seen > MOST_FILES
        };
        match self.world.some_below(self.world.workspace(), &mut test) {
            Some(_) if found.is_some() => findings.all.extend(found),
            Some(false) => {}
            _ => {
                let reason = format!(
                    "`{}` reads too many files to look through for secrets",
                    shown(command)
                );
                findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
            }
        }
    }
}
