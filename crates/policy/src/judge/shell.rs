//! A shell line: every command of it, every file it names.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::call::Judge;
use super::finding::{Finding, Findings};
use crate::decision::Decision;
use crate::facts::{Access, Effect, PathFact, Place, Risk};
use crate::mode::Mode;
use crate::name::ToolName;
use crate::pattern::CommandText;
use crate::question::{CommandForms, PathForms, Question};
use crate::rule::{Rule, Tier};
use crate::shell::wrapper::{self, Ran};
use crate::shell::{
    Command, Direction, Line, Look, Phase, Reach, Reading, Word, look, read, render, risks,
};
use crate::verdict::FloorKind;

/// More folders than this are not followed.
const MOST_FOLDERS: usize = 6;
/// More words than this are not looked up one by one.
const MOST_WORDS: usize = 400;
/// Variables that change nothing but how output looks.
const INERT: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
];

impl Judge<'_> {
    pub(super) fn judge_shell(&self, findings: &mut Findings) {
        let args = &self.facts.args;
        let line = args.get("command").and_then(Value::as_str).unwrap_or_default();
        let folder = args.get("cwd").and_then(Value::as_str);
        let folder = self.world.workspace().join(folder.unwrap_or_default());
        let mut walk = Walk { folders: vec![folder.clone()] };
        self.judge_reading_of(&folder, "the folder to run in", findings);
        match read(line) {
            Reading::Unreadable { why } => {
                self.judge_restrictions(&Command::default(), &mut walk, findings);
                findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, why));
            }
            Reading::Complex { why, commands } => {
                self.judge_complex(&why, &commands, &mut walk, findings);
            }
            Reading::Literal(line) => self.judge_literal(&line, &mut walk, findings),
        }
    }

    /// A line of which every word is known: each command on its own, the strictest holds.
    fn judge_literal(&self, line: &Line, walk: &mut Walk, findings: &mut Findings) {
        let commands: Vec<Command> = line.commands().to_vec();
        for command in &commands {
            self.judge_command(command, walk, findings, Depth::Outer);
        }
        self.judge_dangers(&commands, findings);
        let allowed = findings.strictest().is_some_and(|found| found.decision == Decision::Allow);
        if allowed {
            findings.judged = self.rendered(line, walk);
        }
    }

    /// A line that decides things while it runs: seen denies hold, and it asks unless all of
    /// shell is allowed and nothing is forbidden that it could hide.
    fn judge_complex(
        &self,
        why: &str,
        commands: &[Command],
        walk: &mut Walk,
        findings: &mut Findings,
    ) {
        for command in commands {
            self.judge_restrictions(command, walk, findings);
        }
        self.judge_dangers(commands, findings);
        let question = self.question(&self.facts.tool, Effect::Change, &self.facts.args);
        let ruling = self.setting.rule(&question);
        let [_, table] = self.setting.tables;
        let restricted = table.restrictions().commands || table.restrictions().paths;
        findings.push(ruling.finding(Effect::Change, question.mode, "this command line"));
        if restricted || ruling.decision != Decision::Allow {
            let reason = format!("part of it is decided only while it runs: {why}");
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// One command: its own permission, and that of what it runs and touches.
    fn judge_command(
        &self,
        command: &Command,
        walk: &mut Walk,
        findings: &mut Findings,
        depth: Depth,
    ) {
        let looks = self.look(command, walk);
        let effect = if matches!(looks, Look::No(_)) { Effect::Change } else { Effect::Read };
        let forms = forms(command);
        let question = Question {
            command: Some(&forms),
            ..self.question(&self.facts.tool, effect, &self.facts.args)
        };
        let shown = shown(command);
        if !command.words.is_empty() && command.name().is_none() && !is_test(command) {
            findings.push(Finding::floor(
                FloorKind::Shell,
                Decision::Ask,
                format!("which program `{shown}` runs cannot be told beforehand"),
            ));
        }
        if !command.words.is_empty() || !command.assignments.is_empty() {
            let ruling = self.setting.rule(&question);
            let mut finding = ruling.finding(effect, question.mode, &format!("`{shown}`"));
            let by_default = ruling.rule.is_none_or(|(rule, _)| rule.origin.tier == Tier::Default);
            if let Look::No(why) = &looks
                && finding.decision == Decision::Ask
                && by_default
            {
                finding.reason = format!("`{shown}` may do more than read ({why})");
            }
            let rule = ruling.rule.map(|(rule, _)| rule);
            let allowed = finding.decision == Decision::Allow;
            findings.push(finding);
            if allowed && effect != Effect::Read && !covers_all_it_runs(rule, command) {
                self.judge_inner(command, walk, findings, depth);
            }
            self.judge_redirects(command, rule, walk, findings);
            self.judge_operands(command, looks, rule, walk, findings);
        } else {
            self.judge_redirects(command, None, walk, findings);
        }
    }

    /// What a command runs needs its own permission.
    fn judge_inner(
        &self,
        command: &Command,
        walk: &mut Walk,
        findings: &mut Findings,
        depth: Depth,
    ) {
        let inner = wrapper::runs(command);
        if inner.is_empty() {
            return;
        }
        let shown = shown(command);
        if depth == Depth::Inner || inner.iter().any(|ran| !ran.certain) {
            findings.push(Finding::floor(
                FloorKind::Shell,
                Decision::Ask,
                format!("`{shown}` runs another command that cannot be told for certain"),
            ));
            return;
        }
        for ran in &inner {
            self.judge_command(&ran.command, walk, findings, Depth::Inner);
        }
    }

    /// What may be forbidden in a command that is not fully known.
    fn judge_restrictions(&self, command: &Command, walk: &mut Walk, findings: &mut Findings) {
        let forms = forms(command);
        let question = Question {
            command: Some(&forms),
            ..self.question(&self.facts.tool, Effect::Change, &self.facts.args)
        };
        let best = self.setting.best_where(&question, |_| true);
        if best.is_some_and(|(rule, _)| rule.decision != Decision::Allow && is_owners(rule)) {
            let ruling = self.setting.rule(&question);
            let what = format!("`{}`", shown(command));
            findings.push(ruling.finding(Effect::Change, question.mode, &what));
        }
        self.judge_redirects(command, None, walk, findings);
        for ran in wrapper::runs(command) {
            self.judge_words(&ran.command, Access::Write, walk, findings);
        }
        self.judge_words(command, Access::Write, walk, findings);
    }

    /// Dangers that a permission for each command does not cover.
    fn judge_dangers(&self, commands: &[Command], findings: &mut Findings) {
        let mut all: Vec<Command> = commands.to_vec();
        all.extend(commands.iter().flat_map(wrapper::runs).map(|ran| ran.command));
        findings.risks = risks(&all);
        if self.setting.mode == Mode::Yolo {
            return;
        }
        let allowed = findings.strictest().is_some_and(|found| found.decision == Decision::Allow);
        for risk in &findings.risks {
            let decision = match risk.phase {
                Phase::Deny if !allowed => Decision::Deny,
                Phase::Ask if risk.severity < Risk::Critical => continue,
                _ => Decision::Ask,
            };
            findings.all.push(Finding::floor(FloorKind::Shell, decision, risk.message.clone()));
        }
    }

    /// Files a command is connected to.
    fn judge_redirects(
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
            let covered = access == Access::Write
                && rule.is_some_and(|rule| {
                    rule.decision == Decision::Allow && rule.grant.redirection && is_owners(rule)
                });
            self.judge_word(&redirect.target, access, Cover::from(covered), walk, findings);
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
                let [_, table] = self.setting.tables;
                let is_whole = paths.iter().all(|operand| operand.word.text == ".");
                if git.is_some() && is_whole && table.restrictions().paths && shows_content(command)
                {
                    findings.push(Finding::floor(
                        FloorKind::Shell,
                        Decision::Ask,
                        format!("`{}` may show files that a rule is about", shown(command)),
                    ));
                }
                for operand in &paths {
                    let named = rule.is_some_and(|rule| spells_out(rule, &operand.word.text));
                    self.judge_word(
                        &operand.word,
                        Access::Read,
                        Cover::from(named),
                        walk,
                        findings,
                    );
                    match operand.reach {
                        Reach::Itself | Reach::Names => {}
                        Reach::Tree => self.judge_tree(command, &operand.word, walk, findings),
                        Reach::LinkedTree => findings.push(Finding::floor(
                            FloorKind::Shell,
                            Decision::Ask,
                            format!("`{}` follows links wherever they lead", shown(command)),
                        )),
                    }
                }
            }
            Look::Enters(target) => {
                self.judge_word(&target, Access::Read, Cover::None, walk, findings);
                walk.enter(&target, self.world.home());
            }
            Look::No(_) => {
                let access =
                    if only_reads_its_words(command) { Access::Read } else { Access::Write };
                self.judge_words(command, access, walk, findings);
            }
        }
    }

    /// Words of a command about which nothing is known but that they may be files.
    fn judge_words(&self, command: &Command, access: Access, walk: &Walk, findings: &mut Findings) {
        let [_, table] = self.setting.tables;
        let mut words = command.arguments().iter().filter(|word| word.known).take(MOST_WORDS + 1);
        let assigned = command.assignments.iter().map(|assignment| &assignment.value);
        let candidates: Vec<&Word> =
            words.by_ref().chain(assigned.filter(|word| word.known)).collect();
        for word in candidates {
            for word in parts(word) {
                let may_be_path =
                    word.home || word.text.contains(['/', '.']) || table.restrictions().paths;
                if may_be_path && !word.text.is_empty() && word.text.len() < 4096 {
                    self.judge_possible_path(&word, access, walk, findings);
                }
            }
        }
    }

    /// A word that may be a file: only what forbids it counts, and the floors under secrets.
    fn judge_possible_path(
        &self,
        word: &Word,
        access: Access,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        for path in self.places(word, walk) {
            let fact = self.world.look(&path, access);
            findings.all.extend(self.restriction(&fact));
        }
    }

    /// What forbids a file, and the floors under secrets.
    fn restriction(&self, fact: &PathFact) -> Vec<Finding> {
        let forms = PathForms::new(fact);
        let shown = fact.requested.display();
        let mut found = Vec::new();
        let [_, table] = self.setting.tables;
        for tool in ["read_file", "write_file"] {
            if !table.restrictions().paths {
                break;
            }
            let tool = ToolName::new(tool);
            let args = Value::Null;
            let question =
                Question { path: Some(&forms), ..self.question(&tool, Effect::Read, &args) };
            if let Some((rule, name)) = self.setting.best_where(&question, restricts_paths) {
                let reason = match &rule.message {
                    Some(message) => message.to_string(),
                    None => format!("rule {name} is about `{shown}`"),
                };
                let floor = Finding::floor(FloorKind::Shell, rule.decision, reason);
                found.push(Finding { floor: None, rule: Some(name.clone()), ..floor });
            }
        }
        let floor = self.path_floor(fact, &forms, None);
        found.extend(floor.filter(|found| {
            matches!(found.floor, Some(FloorKind::Protected | FloorKind::Sensitive))
        }));
        found
    }

    /// A file that is read or written for certain.
    fn judge_word(
        &self,
        word: &Word,
        access: Access,
        cover: Cover,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        if !word.known {
            findings.push(Finding::floor(
                FloorKind::Shell,
                Decision::Ask,
                format!("which file `{}` is cannot be told beforehand", word.text),
            ));
            return;
        }
        let names = match self.expanded(word, walk) {
            Ok(names) => names,
            Err(finding) => {
                findings.push(finding);
                return;
            }
        };
        let (tool, effect) = match access {
            Access::Read => (ToolName::new("read_file"), Effect::Read),
            Access::Write | Access::Delete => (ToolName::new("write_file"), Effect::Edit),
        };
        for path in names {
            let fact = self.world.look(&path, access);
            let forms = PathForms::new(&fact);
            let args = json!({ "path": word.text });
            let question = Question { path: Some(&forms), ..self.question(&tool, effect, &args) };
            let doing = if access == Access::Read { "reading" } else { "writing" };
            let what = format!("{doing} `{}`", word.text);
            let before = findings.all.len();
            self.judge_path(&question, &fact, &what, findings);
            if cover == Cover::Rule {
                // The command's own rule covers it; only what forbids it, and floors, stay.
                let fresh = findings.all.split_off(before);
                findings.all.extend(fresh.into_iter().filter(|found| {
                    found.decision == Decision::Deny
                        || matches!(found.floor, Some(FloorKind::Protected | FloorKind::Sensitive))
                        || found.rule.as_ref().is_some_and(|rule| rule.line > 0)
                }));
            }
        }
    }

    /// Everything below a folder is read: secrets and forbidden files in it count.
    fn judge_tree(&self, command: &Command, word: &Word, walk: &Walk, findings: &mut Findings) {
        let skips_hidden = command.name() == Some("rg") && !shows_hidden(command);
        for folder in self.places(word, walk) {
            let mut forbidden = None;
            let mut test = |path: &Path| {
                let inner = path.strip_prefix(&folder).unwrap_or(path);
                if skips_hidden && inner.iter().any(|part| part.to_string_lossy().starts_with('.'))
                {
                    return false;
                }
                let fact = PathFact {
                    requested: path.to_owned(),
                    resolved: path.to_owned(),
                    access: Access::Read,
                    place: Place::Workspace,
                    hard_links: 1,
                };
                forbidden = self.restriction(&fact).into_iter().max_by_key(|found| found.decision);
                forbidden.is_some()
            };
            match self.world.some_below(&folder, &mut test) {
                Some(false) => {}
                Some(true) => findings.all.extend(forbidden),
                None => findings.push(Finding::floor(
                    FloorKind::Shell,
                    Decision::Ask,
                    format!("`{}` holds too much to look through for secrets", word.text),
                )),
            }
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
    fn look(&self, command: &Command, walk: &Walk) -> Look {
        let looks = look(command);
        let name = command.name().unwrap_or_default();
        if !matches!(looks, Look::No(_)) && !self.world.is_trusted_program(name) {
            return Look::No(format!("`{name}` may be a program from the workspace"));
        }
        if let Look::Reads { git: Some(folder), .. } = &looks {
            let mut folders = self.places(folder, walk).into_iter();
            if let Some(setting) = folders.find_map(|folder| self.world.git_runs(&folder)) {
                return Look::No(format!(
                    "the repository's settings make git run a program ({setting})"
                ));
            }
        }
        looks
    }

    /// The paths a word stands for, in every folder the line may be in.
    fn places(&self, word: &Word, walk: &Walk) -> Vec<PathBuf> {
        let text = match (word.home, self.world.home()) {
            (true, Some(home)) => {
                let rest = word.text.strip_prefix('~').unwrap_or_default();
                return vec![PathBuf::from(format!("{}{rest}", home.display()))];
            }
            _ => word.text.as_str(),
        };
        if Path::new(text).is_absolute() {
            return vec![PathBuf::from(text)];
        }
        walk.folders.iter().map(|folder| folder.join(text)).collect()
    }

    /// The paths a word stands for once file name patterns are replaced.
    fn expanded(&self, word: &Word, walk: &Walk) -> Result<Vec<PathBuf>, Finding> {
        if !word.pattern {
            return Ok(self.places(word, walk));
        }
        let unknown = |reason: &str| {
            Finding::floor(FloorKind::Shell, Decision::Ask, format!("`{}` {reason}", word.text))
        };
        let mut paths = Vec::new();
        for folder in &walk.folders {
            let names = self
                .world
                .expand(folder, &word.text)
                .ok_or_else(|| unknown("stands for files that cannot be told beforehand"))?;
            if names.iter().any(|name| name.starts_with('-')) {
                return Err(unknown("stands for a file that would be taken for an option"));
            }
            paths.extend(names.iter().map(|name| folder.join(name)));
        }
        // Without a match the shell passes the pattern on as it is.
        paths.extend(self.places(word, walk));
        Ok(paths)
    }

    fn rendered(&self, line: &Line, walk: &Walk) -> Option<String> {
        let folder = walk.folders.first()?;
        let expand = |word: &Word| self.world.expand(folder, &word.text).unwrap_or_default();
        let home = self.world.home().map(|home| home.to_string_lossy().into_owned());
        // After a `cd` it is not known where a pattern would be looked up.
        let mut words = line.commands().iter().flat_map(|command| &command.words);
        (walk.folders.len() == 1 || !words.any(|word| word.pattern))
            .then(|| render(line, home.as_deref().unwrap_or("~"), expand))
    }
}

/// Whether a permission for the command is enough for a file it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    None,
    Rule,
}

impl From<bool> for Cover {
    fn from(covered: bool) -> Self {
        if covered { Self::Rule } else { Self::None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    Inner,
}

/// Where a line may be while it runs.
#[derive(Debug)]
struct Walk {
    folders: Vec<PathBuf>,
}

impl Walk {
    /// A `cd` may fail, so the line may be in any folder it was in before, too.
    fn enter(&mut self, target: &Word, home: Option<&Path>) {
        let entered: Vec<PathBuf> = match (target.home, home) {
            (true, Some(home)) => vec![home.join(target.text.trim_start_matches(['~', '/']))],
            _ => self.folders.iter().map(|folder| folder.join(&target.text)).collect(),
        };
        for folder in entered {
            if self.folders.len() < MOST_FOLDERS && !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

/// A command as rules see it.
fn forms(command: &Command) -> CommandForms {
    let mut generous = Vec::new();
    push_generous(command, &mut generous);
    for Ran { command, .. } in wrapper::runs(command) {
        push_generous(&command, &mut generous);
    }
    CommandForms { strict: strict(command), generous }
}

/// Exactly what runs; nothing when that is not known, or variables change what it means.
fn strict(command: &Command) -> Option<CommandText> {
    let inert = command.assignments.iter().all(|assignment| {
        INERT.contains(&assignment.name.as_str())
            && assignment.value.literal().is_some_and(|value| !value.contains('/'))
    });
    let known = command.words.iter().all(|word| word.known);
    let name = command.name()?;
    (inert && known && !name.is_empty())
        .then(|| CommandText::new(command.words.iter().map(|word| word.text.as_str())))
}

fn push_generous(command: &Command, generous: &mut Vec<CommandText>) {
    let mut words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    let Some(name) = words.first().copied() else { return };
    let mut push = |text: CommandText| {
        if !generous.contains(&text) {
            generous.push(text);
        }
    };
    push(CommandText::new(words.iter().copied()));
    let base = wrapper::normal_name(name);
    if let Some(first) = words.first_mut() {
        *first = base;
    }
    push(CommandText::new(words.iter().copied()));
    if base == "git" {
        let plain = wrapper::git_without_globals(&command.words);
        push(CommandText::new(plain.iter().map(|word| word.text.as_str())));
    }
}

/// The word itself, and what follows an equals sign in it.
fn parts(word: &Word) -> Vec<Word> {
    let mut parts = Vec::new();
    if let Some((_, value)) = word.text.split_once('=') {
        let home = value == "~" || value.starts_with("~/");
        parts.push(Word { text: value.to_owned(), home, ..word.clone() });
    }
    let bare = word.text.trim_start_matches('@');
    if !word.text.starts_with('-') {
        parts.push(Word { text: bare.to_owned(), ..word.clone() });
    }
    parts
}

/// `[` is a program, although it looks like the beginning of a file name pattern.
fn is_test(command: &Command) -> bool {
    command.words.first().is_some_and(|word| word.known && word.text == "[")
}

/// Whether a rule is enough for whatever the command runs: it allows all commands, or this very one.
fn covers_all_it_runs(rule: Option<&Rule>, command: &Command) -> bool {
    rule.is_some_and(|rule| {
        let all = rule.matcher.commands.is_empty() && rule.matcher.args.is_none();
        let exact = || {
            let text = strict(command).map(|text| text.shown());
            rule.matcher.commands.iter().any(|pattern| Some(pattern.to_string()) == text)
        };
        all || exact()
    })
}

fn spells_out(rule: &Rule, word: &str) -> bool {
    is_owners(rule) && rule.matcher.commands.iter().any(|pattern| pattern.names(word))
}

fn restricts_paths(rule: &Rule) -> bool {
    rule.decision != Decision::Allow && is_owners(rule) && !rule.matcher.paths.is_empty()
}

fn is_owners(rule: &Rule) -> bool {
    rule.origin.tier != Tier::Default
}

fn is_harmless_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")
}

fn shows_hidden(command: &Command) -> bool {
    command.arguments().iter().any(|word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--");
        (short && text.contains(['u', '.'])) || text == "--hidden" || text == "--unrestricted"
    })
}

/// Whether a git command shows what is in files, rather than their names or messages.
fn shows_content(command: &Command) -> bool {
    let words = wrapper::git_without_globals(&command.words);
    let mut words = words.iter().map(|word| word.text.as_str()).skip(1);
    match words.next() {
        Some("log" | "reflog" | "stash" | "whatchanged") => {
            words.any(|word| matches!(word, "-p" | "-u" | "--patch" | "-c" | "--cc" | "-m"))
        }
        Some(
            "diff" | "show" | "grep" | "cat-file" | "range-diff" | "diff-tree" | "diff-index"
            | "diff-files" | "blame",
        ) => !words.any(|word| matches!(word, "--stat" | "--name-only" | "--name-status")),
        _ => false,
    }
}

/// Commands that do not write the files named on their command line.
fn only_reads_its_words(command: &Command) -> bool {
    const READERS: &[&str] = &["cat", "less", "more", "awk", "jq", "yq", "bat", "xxd", "file"];
    const GIT_READERS: &[&str] =
        &["add", "blame", "commit", "diff", "fetch", "log", "push", "show", "stage"];
    let name = command.name().map_or("", wrapper::normal_name);
    let git_reads = || {
        let words = wrapper::git_without_globals(&command.words);
        let subcommand = words.get(1).map(|word| word.text.as_str());
        subcommand.is_some_and(|subcommand| GIT_READERS.contains(&subcommand))
    };
    READERS.contains(&name) || (name == "git" && git_reads())
}

/// A command as people see it, not too long.
fn shown(command: &Command) -> String {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    let text = words.join(" ");
    let text: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(80)
        .collect();
    if text.is_empty() { "a variable is set".to_owned() } else { text }
}
