//! A shell line: every command of it on its own, the strictest answer holds.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::call::Judge;
use super::files::{Cover, Walk, is_harmless_device};
use super::finding::{Finding, Findings};
use super::forms::{
    changes_files_it_names, covers_all_it_runs, covers_every_command, forms, is_owners,
    is_recursive, is_test, names_what_it_runs, only_reads_its_words, passes_through,
    possible_files, possible_programs, shown, spells_out, takes_folders, takes_list,
};
use crate::decision::Decision;
use crate::effect::{Access, Effect, Place, Risk};
use crate::mode::Mode;
use crate::pattern::CommandPattern;
use crate::question::{PathForms, Question};
use crate::rule::{Grant, Rule, Sandbox, Tier};
use crate::shell::wrapper::{self, Ran};
use crate::shell::{
    Command, Direction, Expansion, Line, Look, Phase, Reach, Reading, RiskKind, Word, edits, look,
    read, render, risks,
};
use crate::verdict::FloorKind;
use crate::world::normal;

/// More file name patterns than this are not looked up.
const MOST_PATTERNS: usize = 40;
/// Maximum number of folders looked through one by one; beyond it, the whole workspace is.
const MOST_TREES: usize = 32;

impl Judge<'_> {
    pub(super) fn judge_shell(&self, findings: &mut Findings) {
        let args = &self.facts.args;
        let line = args.get("command").and_then(Value::as_str).unwrap_or_default();
        let folder = args.get("cwd").and_then(Value::as_str);
        let workspace = self.world.workspace();
        let folder = folder.map_or_else(|| workspace.to_owned(), |folder| workspace.join(folder));
        self.judge_reading_of(&folder, "the folder to run in", findings);
        let mut walk = Walk::new(folder);
        match read(line) {
            Reading::Unreadable { why } => {
                self.judge_restrictions(&Command::default(), &walk, findings);
                findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, why));
            }
            Reading::Complex { why, commands } => match self.followed(line, &walk) {
                Some(followed) => self.judge_followed(&followed, &commands, &mut walk, findings),
                None => self.judge_complex(&why, &commands, &walk, findings),
            },
            Reading::Literal(literal) => {
                match hands_on(&literal).then(|| self.followed(line, &walk)) {
                    Some(Some(followed)) => {
                        self.judge_followed(&followed, literal.commands(), &mut walk, findings);
                    }
                    _ => self.judge_literal(&literal, &mut walk, findings),
                }
            }
        }
        if walk.is_lost {
            let reason = "it changes folders more often than can be followed";
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// A line of which every word is known: each command on its own, the strictest holds.
    fn judge_literal(&self, line: &Line, walk: &mut Walk, findings: &mut Findings) {
        let commands = line.commands();
        let patterns = commands.iter().flat_map(|command| &command.words);
        if patterns.filter(|word| word.pattern).count() > MOST_PATTERNS {
            for command in commands {
                self.judge_restrictions(command, walk, findings);
            }
            let reason = "it holds more file name patterns than are looked up";
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
            return;
        }
        let inner: Vec<Vec<Ran>> = commands.iter().map(wrapper::runs).collect();
        walk.is_straight = is_straight(line);
        for (command, inner) in commands.iter().zip(&inner) {
            self.note_needs(command, inner, walk, findings);
            self.judge_command(command, inner, walk, findings, Depth::Outer);
        }
        self.judge_dangers(commands, inner, walk, findings);
        self.judge_guarded(commands, walk, findings);
        let allowed = findings.strictest().is_some_and(|found| found.decision == Decision::Allow);
        if allowed {
            findings.judged = Some(self.rendered(line, walk, findings));
        }
    }

    /// One command: its own permission, and that of what it runs and touches.
    pub(super) fn judge_command(
        &self,
        command: &Command,
        inner: &[Ran],
        walk: &mut Walk,
        findings: &mut Findings,
        depth: Depth,
    ) {
        if command.words.is_empty() && command.assignments.is_empty() {
            self.judge_redirects(command, None, walk, findings);
            return;
        }
        let installed = self.installed(command, walk);
        if installed.is_some() {
            findings.runs_workspace = true;
            self.judge_restrictions(command, walk, findings);
        }
        let command = installed.as_ref().unwrap_or(command);
        let shown = shown(command);
        if !command.words.is_empty() && command.name().is_none() && !is_test(command) {
            let reason = format!("which program `{shown}` runs cannot be told beforehand");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
        let activation = self.activation(command, walk);
        findings.runs_workspace |= activation.is_some();
        let looks = activation.unwrap_or_else(|| self.look(command, walk));
        let effect = if matches!(looks, Look::No(_)) { Effect::Change } else { Effect::Read };
        let forms = forms(command, inner);
        let question = Question {
            command: Some(&forms),
            folders: walk.possible(),
            ..self.question(&self.facts.tool, effect, &self.facts.args)
        };
        let ruling = self.setting.rule(&question);
        let by_default = ruling.rule.is_none_or(|(rule, _)| rule.origin.tier == Tier::Default);
        if by_default && let Some(ran) = passes_through(command, inner) {
            let inner = wrapper::runs(&ran);
            self.judge_command(&ran, &inner, walk, findings, depth);
            return;
        }
        if by_default
            && self.setting.mode == Mode::AcceptEdits
            && let Some(files) = edits(command)
        {
            self.judge_edits(command, &files, walk, findings);
            return;
        }
        let mut finding = ruling.finding(effect, question.mode, &format_args!("`{shown}`"));
        if let Look::No(why) = &looks
            && finding.decision == Decision::Ask
            && by_default
        {
            finding.reason = format!("`{shown}` may do more than read ({why})");
        }
        let rule = ruling.rule.map(|(rule, _)| rule);
        let allowed = finding.decision == Decision::Allow;
        findings.push(finding);
        if allowed && rule.is_some_and(|rule| !rule.matcher.folders.is_empty()) {
            self.judge_rule_folder(walk, findings);
        }
        self.note_reach(&ruling, effect, findings);
        if allowed && effect != Effect::Read && !rule.is_some_and(covers_every_command) {
            self.judge_settings(command, walk, findings);
        }
        if by_default && allowed && effect != Effect::Read {
            self.judge_leaving(command, inner, walk, findings);
        }
        if allowed && effect != Effect::Read {
            self.judge_inner(command, inner, rule, walk, findings, depth);
        }
        self.judge_redirects(command, rule, walk, findings);
        self.judge_operands(command, looks, rule, walk, findings);
    }

    /// A rule about a folder holds in that folder, and not where a link of its name leads.
    fn judge_rule_folder(&self, walk: &Walk, findings: &mut Findings) {
        let is_elsewhere = |folder: &PathBuf| {
            let folder = normal(folder);
            self.world.look(&folder, Access::Read).resolved != folder
        };
        if walk.possible().iter().any(is_elsewhere) {
            let reason = "the folder that the rule is about is reached by a link";
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Files that a command changes, where edits are accepted.
    fn judge_edits(
        &self,
        command: &Command,
        files: &[(Word, Access)],
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let reason = format!("mode `accept_edits` allows `{}`", shown(command));
        findings.push(Finding::plain(Decision::Allow, reason));
        findings.reaches.push(Grant::default());
        for (file, access) in files {
            self.judge_word(file, *access, Cover::None, walk, findings);
        }
        self.judge_redirects(command, None, walk, findings);
    }

    /// What a command runs needs its own permission, unless all of shell is allowed.
    fn judge_inner(
        &self,
        command: &Command,
        inner: &[Ran],
        rule: Option<&Rule>,
        walk: &mut Walk,
        findings: &mut Findings,
        depth: Depth,
    ) {
        let is_named = names_what_it_runs(rule, command, inner);
        let is_certain = depth == Depth::Outer && inner.iter().all(|ran| ran.certain);
        let is_confined = !is_certain && self.stays_confined(rule);
        if is_confined {
            self.judge_leaving(command, inner, walk, findings);
        }
        let covers_all = is_named || covers_all_it_runs(rule, command) || is_confined;
        if covers_all && !is_named {
            self.judge_possible_programs(command, findings);
        }
        if inner.is_empty() {
            return;
        }
        let is_unseen = |ran: &Ran| ran.command.words.is_empty() && !self.is_confined_script(ran);
        if covers_all {
            let mut walk = walk.clone();
            for ran in inner {
                self.judge_redirects(&ran.command, rule, &walk, findings);
                self.judge_words(&ran.command, Access::Write, &walk, findings);
                self.judge_repository(&ran.command, &walk, findings);
                if let Look::Enters(target) = look(&ran.command) {
                    walk.enter(&target, self.world.home());
                }
            }
            if !is_named && inner.iter().any(is_unseen) && self.is_restricted() {
                let reason = format!("`{}` runs something that cannot be seen", shown(command));
                findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
            }
            return;
        }
        if !is_certain {
            let shown = shown(command);
            let reason = format!("`{shown}` runs another command that cannot be told for certain");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
            return;
        }
        for ran in inner {
            let inner = wrapper::runs(&ran.command);
            self.judge_command(&ran.command, &inner, walk, findings, Depth::Inner);
        }
    }

    /// Returns `true` if what an allowed command runs in turn may do no more than any command in
    /// mode `sandbox`.
    fn stays_confined(&self, rule: Option<&Rule>) -> bool {
        let widens = |grant: &Grant| {
            grant.sandbox == Some(Sandbox::Full)
                || !grant.network.is_empty()
                || !grant.write.is_empty()
        };
        self.confines_all() && rule.is_some_and(|rule| !widens(&rule.grant))
    }

    /// Programs that rules restrict, named where the command might run them.
    fn judge_possible_programs(&self, command: &Command, findings: &mut Findings) {
        let [_, table] = self.setting.tables;
        if !table.restrictions().commands {
            return;
        }
        let is_denied = |name: &str| {
            let first = |pattern: &CommandPattern| {
                pattern.first_words().and_then(|words| words.split(' ').next()) == Some(name)
            };
            let is_about = |rule: &Rule| rule.matcher.commands.iter().any(first);
            table.named().any(|(rule, _)| self.restricts(rule) && is_about(rule))
        };
        let named = possible_programs(command);
        let is_restricted = |name: &&String| {
            table.restricts_program(name) && (!self.confines_all() || is_denied(name))
        };
        if let Some(name) = named.iter().find(is_restricted) {
            let reason = format!("`{}` may run `{name}`, which a rule is about", shown(command));
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Dangers that a permission for each command does not cover.
    pub(super) fn judge_dangers(
        &self,
        commands: &[Command],
        inner: Vec<Vec<Ran>>,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let mut all = Cow::Borrowed(commands);
        for ran in inner.into_iter().flatten() {
            all.to_mut().push(ran.command);
        }
        findings.risks = risks(&all);
        let allowed = findings.strictest().is_some_and(|found| found.decision == Decision::Allow);
        let is_yolo = self.setting.mode == Mode::Yolo;
        for risk in &findings.risks {
            let is_protected =
                matches!(risk.kind, RiskKind::GitSetting | RiskKind::WritesStartUpFile);
            let (kind, decision) = match risk.phase {
                _ if is_protected => (FloorKind::Protected, Decision::Ask),
                _ if is_yolo => continue,
                Phase::Deny if !allowed => (FloorKind::Shell, Decision::Deny),
                Phase::Ask if risk.severity < Risk::Critical => continue,
                _ => (FloorKind::Shell, Decision::Ask),
            };
            findings.all.push(Finding::floor(kind, decision, risk.message.clone()));
        }
        if !is_yolo {
            for command in all.iter() {
                self.judge_removal(command, walk, findings);
            }
        }
    }

    /// Removal of the workspace itself, by whatever name.
    fn judge_removal(&self, command: &Command, walk: &Walk, findings: &mut Findings) {
        let name = command.name().map_or("", wrapper::normal_name);
        if name != "rm" || !command.arguments().iter().any(|word| is_recursive(&word.text)) {
            return;
        }
        for word in command.arguments().iter().filter(|word| word.known) {
            let removed = self.places(word, walk).into_iter().any(|path| {
                let fact = self.world.look(&path, Access::Delete);
                self.world.workspace().starts_with(&fact.resolved)
            });
            if removed {
                let reason = format!("`{}` removes the workspace", shown(command));
                findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
            }
        }
    }

    /// Files a command is connected to.
    pub(super) fn judge_redirects(
        &self,
        command: &Command,
        rule: Option<&Rule>,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        for redirect in &command.redirects {
            let access = match redirect.direction {
                Direction::Read => Access::Read,
                Direction::Write => Access::Write,
                Direction::Descriptor | Direction::Here => continue,
            };
            if redirect.target.literal().is_some_and(is_harmless_device) {
                continue;
            }
            let is_private = self.is_private_temporary(&redirect.target, walk);
            findings.writes_files |= access == Access::Write && !is_private;
            let covers = |rule: &Rule| {
                rule.decision == Decision::Allow
                    && (rule.grant.redirection && is_owners(rule)
                        || covers_every_command(rule) && rule.matcher.read_only.is_none())
            };
            let cover = Cover::from(rule.is_some_and(covers));
            if !redirect.target.known && cover == Cover::Rule {
                self.judge_unknown(&redirect.target, access, walk, findings);
                if let Some(rule) = self.unenforced_path_rule(findings) {
                    let target = &redirect.target.text;
                    let reason = format!("rule {rule} could be about `{target}`");
                    findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
                }
                continue;
            }
            self.judge_word(&redirect.target, access, cover, walk, findings);
        }
    }

    /// Files a command names.
    fn judge_operands(
        &self,
        command: &Command,
        looks: Look,
        rule: Option<&Rule>,
        walk: &mut Walk,
        findings: &mut Findings,
    ) {
        match looks {
            Look::Reads { paths, git } => {
                if git.is_some() {
                    self.judge_repository(command, walk, findings);
                }
                for operand in &paths {
                    let named = rule.is_some_and(|rule| spells_out(rule, &operand.word.text));
                    let cover = Cover::from(named);
                    if operand.reach != Reach::Listed {
                        self.judge_word(&operand.word, Access::Read, cover, walk, findings);
                    }
                    match operand.reach {
                        Reach::Itself | Reach::Names => {}
                        Reach::Tree => self.judge_tree(command, &operand.word, walk, findings),
                        Reach::Listed => self.judge_listed(command, &operand.word, findings),
                        Reach::LinkedTree => {
                            self.judge_links(command, &operand.word, walk, findings);
                        }
                    }
                }
            }
            Look::Enters(target) => {
                self.judge_word(&target, Access::Read, Cover::None, walk, findings);
                walk.enter(&target, self.world.home());
            }
            Look::No(_) => {
                let reads = only_reads_its_words(command);
                let access = if reads { Access::Read } else { Access::Write };
                self.judge_words(command, access, walk, findings);
                self.judge_repository(command, walk, findings);
                self.judge_folders(command, walk, findings);
                if changes_files_it_names(command) {
                    self.judge_outside(command, rule, walk, findings);
                }
            }
        }
    }

    /// Whole folders that a command takes: what is forbidden in them is forbidden.
    fn judge_folders(&self, command: &Command, walk: &Walk, findings: &mut Findings) {
        let [_, table] = self.setting.tables;
        if !table.restrictions().paths {
            return;
        }
        if matches!(command.name(), Some("xargs" | "parallel"))
            && let Some(rule) = self.unenforced_path_rule(findings)
        {
            let reason = format!("`{}` may be given files that rule {rule} denies", shown(command));
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
        if takes_list(command) {
            let all = Word::plain(self.world.workspace().to_string_lossy());
            self.judge_tree(command, &all, walk, findings);
        }
        if !takes_folders(command) {
            return;
        }
        let files = possible_files(command);
        let words = files.iter().filter(|(word, _)| word.known && !word.text.is_empty());
        let words: Vec<&Word> = words.map(|(word, _)| word.as_ref()).collect();
        if words.len() > MOST_TREES {
            let all = Word::plain(self.world.workspace().to_string_lossy());
            self.judge_tree(command, &all, walk, findings);
            return;
        }
        for word in words {
            self.judge_tree(command, word, walk, findings);
        }
    }

    /// The reading of a folder, as `ls` would.
    fn judge_reading_of(&self, folder: &Path, what: &str, findings: &mut Findings) {
        let fact = self.world.look(folder, Access::Read);
        let forms = PathForms::new(&fact);
        if let Some(mut floor) = self.path_floor(&fact, &forms, None) {
            floor.reason = format!("{what}: {}", floor.reason);
            findings.push(floor);
        }
    }

    /// Whether a command only looks, here and now.
    pub(super) fn look(&self, command: &Command, walk: &Walk) -> Look {
        let looks = look(command);
        let name = command.name().unwrap_or_default();
        if !matches!(looks, Look::No(_)) && !self.world.is_trusted_program(name) {
            return Look::No(format!("`{name}` may be a program from the workspace"));
        }
        if let Look::Reads { git: Some(folder), .. } = &looks
            && let Some(setting) = self.git_setting(folder, walk)
        {
            return Look::No(format!("the repository's settings make git do more ({setting})"));
        }
        if matches!(name, "cargo" | "rustc" | "rustup") && self.replaces_toolchain(walk) {
            return Look::No(format!("a file of the workspace says which `{name}` runs"));
        }
        looks
    }

    /// The setting of a repository of the workspace that makes git run a program.
    fn git_setting(&self, folder: &Word, walk: &Walk) -> Option<String> {
        let folders = self.places(folder, walk);
        let within =
            |folder: &&PathBuf| self.world.look(folder, Access::Read).place == Place::Workspace;
        folders.iter().filter(within).find_map(|folder| self.world.git_runs(folder))
    }

    /// A rule about one command of git is none about the programs that settings have it run.
    fn judge_settings(&self, command: &Command, walk: &Walk, findings: &mut Findings) {
        let Look::Reads { git: Some(folder), .. } = look(command) else { return };
        if let Some(setting) = self.git_setting(&folder, walk) {
            let shown = shown(command);
            let reason = format!("the repository's settings make `{shown}` do more ({setting})");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Returns `true` if a file of the workspace has another Rust toolchain run than the user's.
    fn replaces_toolchain(&self, walk: &Walk) -> bool {
        let workspace = self.world.workspace();
        let above = walk.folder.ancestors().take_while(|above| above.starts_with(workspace));
        let mut files = above.flat_map(|above| {
            ["rust-toolchain.toml", "rust-toolchain"].map(|name| above.join(name))
        });
        let names_path = |text: String| text.contains("path");
        files.any(|file| {
            self.world.is_certainly_there(&file) && self.world.text(&file).is_none_or(names_path)
        })
    }

    /// Renders an allowed line for execution.
    fn rendered(&self, line: &Line, walk: &Walk, findings: &Findings) -> String {
        let home = self.world.home().map(|home| home.to_string_lossy().into_owned());
        let only_looks = findings.reaches.is_empty() && !findings.writes_files;
        let expand = |command: &Command, word: &Word| {
            // After a `cd`, or behind a command that makes files, only bash knows the names.
            let names = (only_looks && walk.folders.len() == 1)
                .then(|| self.world.expand(&walk.folder, &word.text))
                .flatten();
            match names {
                Some(names) => Expansion::Names(names),
                None if matches!(look(command), Look::No(_)) => Expansion::Shell,
                None => Expansion::ShellWithPrefix,
            }
        };
        render(line, home.as_deref().unwrap_or("~"), expand)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Outer,
    Inner,
}

/// Returns `true` if a line ends where a `cd` in it fails.
fn is_straight(line: &Line) -> bool {
    let enters = |command: &Command| command.name() == Some("cd");
    let is_piped = |command: &Command| command.feeds_pipe || command.reads_pipe;
    line.operators().all(|operator| matches!(operator, "&&" | "|"))
        && !line.commands().iter().any(|command| enters(command) && is_piped(command))
}

/// Returns `true` if a line has a command that is given what another one prints.
fn hands_on(line: &Line) -> bool {
    line.commands().iter().any(|command| command.name() == Some("xargs"))
}
