//! A line of which some words are known only while it runs: loops, substitutions, variables.

use std::path::{Path, PathBuf};

use super::call::Judge;
use super::files::Walk;
use super::finding::{Finding, Findings};
use super::forms::{forms, is_owners, shown};
use crate::decision::Decision;
use crate::effect::{Access, Effect};
use crate::level::Level;
use crate::mode::Mode;
use crate::pattern::path::text;
use crate::pattern::{CommandPattern, PathPattern};
use crate::question::Question;
use crate::rule::Rule;
use crate::shell::wrapper::{self, Ran};
use crate::shell::{Command, Word};
use crate::table::restricts_paths;
use crate::verdict::{FloorKind, RuleName};

/// The most files that a sandbox hides because a rule denies them.
const MOST_HIDDEN: usize = 500;

impl Judge<'_> {
    /// Judges a line that decides things while it runs. Denies that are seen in it hold. It asks
    /// unless all of shell is allowed and no rule that restricts could be hidden in it.
    pub(super) fn judge_complex(
        &self,
        why: &str,
        commands: &[Command],
        walk: &Walk,
        findings: &mut Findings,
    ) {
        for command in commands {
            self.judge_restrictions(command, walk, findings);
        }
        let question = self.question(&self.facts.tool, Effect::Change, &self.facts.args);
        let ruling = self.setting.rule(&question);
        findings.push(ruling.finding(Effect::Change, question.mode, &"this command line"));
        self.note_reach(&ruling, Effect::Change, findings);
        let inner: Vec<Vec<Ran>> = commands.iter().map(wrapper::runs).collect();
        for (command, inner) in commands.iter().zip(&inner) {
            self.note_needs(command, inner, walk, findings);
            let by_default = ruling.rule.is_none_or(|(rule, _)| !is_owners(rule));
            if by_default && ruling.decision == Decision::Allow {
                self.judge_leaving(command, inner, walk, findings);
            }
        }
        self.judge_dangers(commands, inner, walk, findings);
        self.judge_guarded(commands, walk, findings);
        if ruling.decision != Decision::Allow {
            let reason = format!("part of it is decided only while it runs: {why}");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        } else if let Some(rule) = self.hidden_restriction(commands, findings) {
            let reason = format!("rule {rule} could be hidden in it: {why}");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Whether rules forbid something that a line could hide.
    pub(super) fn is_restricted(&self) -> bool {
        let [_, table] = self.setting.tables;
        let has_any = table.restrictions().commands || table.restrictions().paths;
        has_any && (!self.confines_all() || table.named().any(|(rule, _)| self.restricts(rule)))
    }

    /// What may be forbidden in a command that is not fully known.
    pub(super) fn judge_restrictions(
        &self,
        command: &Command,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let inner = wrapper::runs(command);
        let forms = forms(command, &inner);
        let question = Question {
            command: Some(&forms),
            folders: &walk.folders,
            ..self.question(&self.facts.tool, Effect::Change, &self.facts.args)
        };
        let ruling = self.setting.rule(&question);
        let restricts = ruling
            .rule
            .is_some_and(|(rule, _)| rule.decision != Decision::Allow && is_owners(rule));
        if restricts || ruling.tightened.is_some() {
            let what = format!("`{}`", shown(command));
            findings.push(ruling.finding(Effect::Change, question.mode, &what));
        }
        // A rule that names a sandbox holds, whatever the rest of the line is.
        self.note_reach(&ruling, Effect::Read, findings);
        let blanket = self.blanket();
        self.judge_redirects(command, blanket, walk, findings);
        for ran in &inner {
            self.judge_redirects(&ran.command, blanket, walk, findings);
            self.judge_words(&ran.command, Access::Write, walk, findings);
            self.judge_repository(&ran.command, walk, findings);
        }
        self.judge_words(command, Access::Write, walk, findings);
        self.judge_repository(command, walk, findings);
    }

    /// The rule that allows all of shell, if one does.
    fn blanket(&self) -> Option<&Rule> {
        let question = self.question(&self.facts.tool, Effect::Change, &self.facts.args);
        let best = self.setting.best_where(&question, |_| true).map(|(rule, _)| rule);
        best.filter(|rule| rule.decision == Decision::Allow)
    }

    /// Returns a rule that could forbid something in a line without being seen to.
    ///
    /// A rule about commands can only be hidden behind words that are not known. A rule that
    /// denies paths cannot be hidden where the sandbox hides those files.
    fn hidden_restriction(
        &self,
        commands: &[Command],
        findings: &mut Findings,
    ) -> Option<RuleName> {
        let [_, table] = self.setting.tables;
        let about_paths = table.named().filter(|(rule, _)| !rule.matcher.paths.is_empty());
        let unenforced =
            |(rule, _): &(&Rule, &RuleName)| self.restricts(rule) && !self.enforce(rule, findings);
        let hidden = about_paths.into_iter().find(unenforced);
        hidden.map(|(_, name)| name.clone()).or_else(|| self.hidden_command_rule(commands))
    }

    /// Returns a rule about commands that could forbid one whose words are not all known.
    pub(super) fn hidden_command_rule(&self, commands: &[Command]) -> Option<RuleName> {
        let [_, table] = self.setting.tables;
        let runs_nothing = |command: &Command| {
            command.words.is_empty()
                && !(command.assignments.is_empty() && command.redirects.is_empty())
        };
        let mut inner: Vec<Ran> = commands.iter().flat_map(wrapper::runs).collect();
        inner.retain(|ran| !self.is_confined_script(ran));
        let named = || commands.iter().filter(|command| !runs_nothing(command));
        let all = || named().chain(inner.iter().map(|ran| &ran.command));
        let is_hidden = |(rule, _): &(&Rule, &RuleName)| {
            let matcher = &rule.matcher;
            let is_about_commands = matcher.args.is_none() && matcher.conditions.is_empty();
            let may_match =
                || matcher.commands.iter().any(|pattern| all().any(|one| may_be(one, pattern)));
            matcher.paths.is_empty() && self.restricts(rule) && (!is_about_commands || may_match())
        };
        table.named().find(is_hidden).map(|(_, name)| name.clone())
    }

    /// Returns `true` if what runs is a file that the line names and that is confined.
    ///
    /// Such a script counts as a program of the project, like `make` or `./build.sh`: its
    /// commands are not seen, and the sandbox holds whatever they are.
    pub(super) fn is_confined_script(&self, ran: &Ran) -> bool {
        ran.script.is_some() && self.confines_all()
    }

    /// Has the sandbox enforce all rules about paths. Returns one that it cannot enforce.
    pub(super) fn unenforced_path_rule(&self, findings: &mut Findings) -> Option<RuleName> {
        let [_, table] = self.setting.tables;
        let mut rules = table.named().filter(|(rule, _)| restricts_paths(rule));
        rules.find(|(rule, _)| !self.enforce(rule, findings)).map(|(_, name)| name.clone())
    }

    /// Returns `true` if a rule of an owner restricts commands or paths in this mode.
    ///
    /// Where everything is confined, a rule that asks about commands asks where it is seen: what it
    /// keeps from leaving the sandbox stays in it. A rule that denies holds in any case.
    pub(super) fn restricts(&self, rule: &Rule) -> bool {
        let matcher = &rule.matcher;
        let is_narrow = !matcher.commands.is_empty()
            || matcher.args.is_some()
            || !matcher.conditions.is_empty();
        let holds = rule.decision == Decision::Deny || !self.confines_all();
        let is_about_commands = is_owners(rule) && is_narrow && rule.is_about("shell") && holds;
        rule.decision != Decision::Allow
            && rule.modes.contains(self.setting.mode)
            && (restricts_paths(rule) || is_about_commands)
    }

    /// Has the sandbox enforce a rule that denies paths. Returns `false` if it cannot.
    ///
    /// Only in mode `sandbox`, where nothing runs unconfined: elsewhere a line that may touch a
    /// denied file asks.
    pub(super) fn enforce(&self, rule: &Rule, findings: &mut Findings) -> bool {
        if !self.confines_all() || rule.decision != Decision::Deny {
            return false;
        }
        let (reads, writes) = (rule.is_about("read_file"), rule.is_about("write_file"));
        for pattern in &rule.matcher.paths {
            let found = match pattern.whole() {
                Some(places) => Some(places.to_vec()),
                // A new file may match, so only reading can be denied by hiding what is there.
                None if writes => None,
                None => self.files_below(pattern),
            };
            let Some(found) = found else { return false };
            // What is not there can be made, and then changed.
            let is_there = |path: &PathBuf| self.world.is_there(path);
            if writes && !found.iter().all(is_there) {
                return false;
            }
            if writes {
                findings.guarded.extend(found.iter().cloned());
            }
            if reads {
                findings.hidden.extend(found);
            }
        }
        true
    }

    /// Returns `true` if every command that runs unasked is confined.
    pub(super) fn confines_all(&self) -> bool {
        self.setting.mode == Mode::Sandbox && self.world.level() == Level::Namespaces
    }

    /// Returns all files of the workspace that a pattern is about, or nothing if there are too many
    /// files to look at or the pattern is about other places, too.
    fn files_below(&self, pattern: &PathPattern) -> Option<Vec<PathBuf>> {
        let within = text(self.world.workspace()).to_lowercase();
        if !pattern.keys().all(|(base, _)| base.starts_with(&within)) {
            return None;
        }
        let mut found = Vec::new();
        let mut test = |path: &Path| {
            if pattern.matches(&text(path).to_lowercase()) {
                found.push(path.to_owned());
            }
            found.len() > MOST_HIDDEN
        };
        let is_whole = self.world.some_below(self.world.workspace(), &mut test) == Some(false);
        is_whole.then_some(found)
    }
}

/// Returns `true` if a command that is not fully known could be one that a pattern is about.
fn may_be(command: &Command, pattern: &CommandPattern) -> bool {
    let Some(first) = command.words.first() else { return true };
    let has_unknown = command.words.iter().any(|word| !is_fixed(word));
    if !is_fixed(first) {
        return true;
    }
    let name = wrapper::normal_name(&first.text);
    let is_about_it = match pattern.first_words().and_then(|words| words.split(' ').next()) {
        Some(own) => own == name || own == first.text,
        None => true,
    };
    is_about_it && has_unknown
}

fn is_fixed(word: &Word) -> bool {
    word.known && !word.pattern
}
