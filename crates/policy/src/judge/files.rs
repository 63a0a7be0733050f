//! The files a shell line names, however it names them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::call::Judge;
use super::finding::{Finding, Findings};
use super::forms::{Named, covers_every_command, is_owners, possible_files, shown, spells_out};
use crate::decision::Decision;
use crate::effect::{Access, Effect, PathFact, Place};
use crate::name::ToolName;
use crate::question::{PathForms, Question};
use crate::rule::{Rule, Sandbox};
use crate::shell::{Command, Word};
use crate::table::restricts_paths;
use crate::verdict::FloorKind;
use crate::wildcard::Wildcard;
use crate::world::joined;

/// More folders than this are not followed.
const MOST_FOLDERS: usize = 6;
/// More words than this are not looked up one by one.
const MOST_WORDS: usize = 2_000;
/// More secrets than this are not hidden from a command.
const MOST_HIDDEN: usize = 500;
/// More links than this are not followed.
const MOST_LINKS: usize = 2_000;

/// Where a line may be while it runs.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// Where it is if every `cd` worked.
    pub(super) folder: PathBuf,
    /// Wherever it may be: a `cd` may fail.
    pub(super) folders: Vec<PathBuf>,
    /// `true` if it may be elsewhere, too.
    pub(super) is_lost: bool,
    /// `true` if nothing runs after a `cd` that failed.
    pub(super) is_straight: bool,
}

impl Walk {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folders: vec![folder.clone()], folder, is_lost: false, is_straight: false }
    }

    /// The folders in which the next command may run.
    pub(super) fn possible(&self) -> &[PathBuf] {
        if self.is_straight { std::slice::from_ref(&self.folder) } else { &self.folders }
    }

    /// Follows a `cd`.
    pub(super) fn enter(&mut self, target: &Word, home: Option<&Path>) {
        let entered = |folder: &Path| match (target.home, home) {
            (true, Some(home)) => home.join(target.text.trim_start_matches(['~', '/'])),
            _ => crate::world::normal(&folder.join(&target.text)),
        };
        self.folder = entered(&self.folder);
        let folders: Vec<PathBuf> = self.folders.iter().map(|folder| entered(folder)).collect();
        for folder in folders {
            if self.folders.contains(&folder) {
                continue;
            }
            if self.folders.len() < MOST_FOLDERS {
                self.folders.push(folder);
            } else {
                self.is_lost = true;
            }
        }
    }
}

/// Whether a permission for the command is enough for a file it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    None,
    Rule,
}

impl From<bool> for Cover {
    fn from(covered: bool) -> Self {
        if covered { Self::Rule } else { Self::None }
    }
}

impl Judge<'_> {
    /// Words of a command about which nothing is known but that they may be files.
    pub(super) fn judge_words(
        &self,
        command: &Command,
        access: Access,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let [_, table] = self.setting.tables;
        let files = possible_files(command);
        Self::note_unread(command, files.len(), findings);
        for (word, named) in files.into_iter().take(MOST_WORDS) {
            let may_be_path =
                table.restrictions().paths || word.home || word.text.contains(['/', '.', '$']);
            if !may_be_path || word.text.is_empty() || word.text.len() > 4096 {
                continue;
            }
            let access = if named == Named::InOption { Access::Write } else { access };
            if word.known {
                self.judge_possible_path(&word, access, walk, findings);
            } else {
                self.judge_unknown(&word, access, walk, findings);
            }
        }
    }

    /// Files outside the workspace that a command changes or copies. A rule about the command
    /// covers those that it spells out.
    pub(super) fn judge_outside(
        &self,
        command: &Command,
        rule: Option<&Rule>,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let reaches_out = |rule: &Rule| {
            let grant = &rule.grant;
            let is_blanket = is_owners(rule) && covers_every_command(rule);
            is_blanket || grant.sandbox == Some(Sandbox::Full) || !grant.write.is_empty()
        };
        if rule.is_some_and(reaches_out) {
            return;
        }
        let files = possible_files(command);
        Self::note_unread(command, files.len(), findings);
        for (word, _) in files.into_iter().take(MOST_WORDS) {
            let may_leave = word.home || word.text.contains('/') || word.text == "..";
            if !may_leave
                || !word.known
                || is_harmless_device(&word.text)
                || rule.is_some_and(|rule| spells_out(rule, &word.text))
            {
                continue;
            }
            if word.home && self.world.home().is_none() {
                findings.push(unknown(&word));
                continue;
            }
            for path in self.places(&word, walk) {
                let fact = self.world.look(&path, Access::Write);
                let forms = PathForms::new(&fact).within(self.world.workspace());
                let floor = self.path_floor(&fact, &forms, None);
                let is_outside = |floor: &Finding| {
                    floor.floor == Some(FloorKind::Outside) && !self.is_private(&fact)
                };
                if let Some(floor) = floor.filter(is_outside) {
                    findings.push(floor);
                    findings.named.extend(self.folder_of(&fact.resolved));
                }
            }
        }
    }

    /// Asks about a command that names more files than are looked up.
    fn note_unread(command: &Command, files: usize, findings: &mut Findings) {
        if files > MOST_WORDS {
            let reason = format!("`{}` names more files than are looked up", shown(command));
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
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
        if !word.pattern && !word.home {
            // Joining an absolute path gives that path.
            let absolute = Path::new(&word.text).is_absolute();
            let folders =
                if absolute { walk.folders.get(..1) } else { Some(walk.folders.as_slice()) };
            for folder in folders.unwrap_or_default() {
                let fact = self.world.look(&joined(folder, &word.text), access);
                findings.all.extend(self.restriction(&fact));
            }
            return;
        }
        let mut paths = self.places(word, walk);
        if word.pattern {
            for folder in &walk.folders {
                match self.world.expand(folder, &word.text) {
                    Some(names) => paths.extend(names.iter().map(|name| folder.join(name))),
                    None => findings.push(unknown(word)),
                }
            }
        }
        for path in paths {
            let fact = self.world.look(&path, access);
            findings.all.extend(self.restriction(&fact));
        }
    }

    /// A word that is decided while the line runs: what it plainly says still counts.
    pub(super) fn judge_unknown(
        &self,
        word: &Word,
        access: Access,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let home = self.world.home().map(|home| home.to_string_lossy().into_owned());
        let mut text = word.text.clone();
        for (variable, value) in [
            ("$HOME", home.as_deref().unwrap_or("~")),
            ("${HOME}", home.as_deref().unwrap_or("~")),
            ("$PWD", "."),
            ("${PWD}", "."),
        ] {
            text = text.replace(variable, value);
        }
        for piece in text.split(['"', '\'', '{', '}', ',', '$', '(', ')', '`', ' ']) {
            if !piece.contains(['/', '.']) {
                continue;
            }
            let path = crate::world::normal(&walk.folder.join(piece));
            let place = Place::Workspace;
            let fact = PathFact {
                requested: path.clone(),
                resolved: path,
                access,
                place,
                hard_links: 1,
                scope: None,
            };
            findings.all.extend(self.restriction(&fact));
        }
    }

    /// What forbids a file, and the floors under secrets.
    pub(super) fn restriction(&self, fact: &PathFact) -> Vec<Finding> {
        let forms = PathForms::new(fact).within(self.world.workspace());
        let shown = fact.requested.display();
        let mut found = Vec::new();
        let [_, table] = self.setting.tables;
        let tools: &[&str] =
            if table.may_restrict(&forms) { &["read_file", "write_file"] } else { &[] };
        for tool in tools {
            let tool = ToolName::new(*tool);
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
    pub(super) fn judge_word(
        &self,
        word: &Word,
        access: Access,
        cover: Cover,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        if !word.known {
            findings.push(unknown(word));
            return;
        }
        let paths = match self.expanded(word, walk) {
            Ok(paths) => paths,
            Err(finding) => {
                findings.push(*finding);
                return;
            }
        };
        let elsewhere = self.places(word, walk).into_iter().filter(|path| !paths.contains(path));
        for path in elsewhere {
            // Where the line is only if a `cd` failed, what forbids the file still counts.
            findings.all.extend(self.restriction(&self.world.look(&path, access)));
        }
        let (tool, effect) = match access {
            Access::Read => (ToolName::new("read_file"), Effect::Read),
            Access::Write | Access::Delete => (ToolName::new("write_file"), Effect::Edit),
        };
        for path in paths {
            let fact = self.world.look(&path, access);
            if self.is_private(&fact) {
                findings.all.extend(self.restriction(&fact));
                continue;
            }
            if access == Access::Read && fact.place == Place::Outside {
                let paths = [&fact.requested, &fact.resolved];
                findings.read.extend(paths.map(|path| crate::world::normal(path)));
                findings.read.dedup();
            }
            if access != Access::Read && fact.place == Place::Outside {
                findings.named.extend(self.folder_of(&fact.resolved));
            }
            let forms = PathForms::new(&fact).within(self.world.workspace());
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
                        || found.given.is_some()
                        || found.floor.is_some_and(|floor| {
                            floor != FloorKind::Outside || access == Access::Write
                        })
                        || found
                            .rule
                            .as_ref()
                            .is_some_and(|rule| rule.line > 0 && !rule.is_built_in())
                }));
            }
        }
    }

    /// The folder around a file that a line writes, unless that is far more than the file.
    fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?;
        let is_narrow = folder.components().count() > 2
            && !self.world.home().is_some_and(|home| home.starts_with(folder));
        is_narrow.then(|| folder.to_owned())
    }

    /// Returns `true` if a word names a file in the private temporary folder of a sandbox.
    pub(super) fn is_private_temporary(&self, word: &Word, walk: &Walk) -> bool {
        let facts = self.places(word, walk).into_iter();
        let mut facts = facts.map(|path| self.world.look(&path, Access::Write));
        word.known && !word.pattern && facts.all(|fact| self.is_private(&fact))
    }

    /// Returns `true` if a path lies where every confined command has a folder of its own, and is
    /// not a file of this machine that the command would look for in vain.
    fn is_private(&self, fact: &PathFact) -> bool {
        const TEMPORARY: [&str; 2] = ["/tmp/", "/var/tmp/"];
        let is_below = |path: &Path| {
            let text = path.to_string_lossy();
            TEMPORARY.iter().any(|folder| text.starts_with(folder))
        };
        let is_meant = || fact.access != Access::Read || !self.world.is_there(&fact.resolved);
        fact.place == Place::Outside
            && is_below(&fact.requested)
            && is_below(&fact.resolved)
            && self.confines_all()
            && is_meant()
    }

    /// Everything below a folder is read: secrets and forbidden files in it count, and the strictest
    /// of them decides. Options that leave files out count for secrets, but for no rule.
    pub(super) fn judge_tree(
        &self,
        command: &Command,
        word: &Word,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        let search = Search::of(command);
        for folder in self.real_places(word, walk) {
            let mut forbidden: Option<Finding> = None;
            let mut hidden = Vec::new();
            let mut skipped = Vec::new();
            let mut ignores = Vec::new();
            let mut test = |path: &Path| {
                if search.skips_hidden && is_ignore_file(path) {
                    ignores.push(path.to_owned());
                }
                let Some(found) = self.forbidden(path) else { return false };
                if search.skips_hidden && has_hidden_part(path, &folder) {
                    skipped.push((path.to_owned(), found));
                    return skipped.len() > MOST_HIDDEN;
                }
                if found.floor.is_some() && !search.includes(path) {
                    return false;
                }
                if self.is_hidden(&found) {
                    hidden.push(path.to_owned());
                    return hidden.len() > MOST_HIDDEN;
                }
                let is_final = found.decision == Decision::Deny;
                if forbidden.as_ref().is_none_or(|known| known.decision < found.decision) {
                    forbidden = Some(found);
                }
                is_final
            };
            let ended = self.world.some_below(&folder, &mut test);
            let shown = skipped.into_iter().find(|(path, _)| self.unhides(&ignores, path, &folder));
            if let Some((_, found)) = shown
                && forbidden.as_ref().is_none_or(|known| known.decision < found.decision)
            {
                forbidden = Some(found);
            }
            match (ended, forbidden) {
                (Some(false), None) => findings.hidden.extend(hidden),
                (Some(_), Some(found)) => findings.push(found),
                (_, found) => {
                    findings.all.extend(found);
                    findings.push(too_much(word));
                }
            }
        }
    }

    /// The folders that a word stands for, as they are written and as they really are.
    fn real_places(&self, word: &Word, walk: &Walk) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for place in self.places(word, walk) {
            let real = self.world.look(&place, Access::Read).resolved;
            for place in [crate::world::normal(&place), real] {
                if !found.contains(&place) {
                    found.push(place);
                }
            }
        }
        found
    }

    /// Returns `true` if an ignore file of the workspace has a search show a hidden file.
    fn unhides(&self, ignores: &[PathBuf], path: &Path, folder: &Path) -> bool {
        let inner = path.strip_prefix(folder).unwrap_or(path);
        let hidden: Vec<String> = inner
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .filter(|part| part.starts_with('.'))
            .collect();
        let shows = |line: &str| {
            let Some(pattern) = line.strip_prefix('!') else { return false };
            let name = pattern.trim_end().trim_end_matches('/').rsplit('/').next().unwrap_or("");
            name.contains(['?', '[', '{', '\\'])
                || hidden.iter().any(|part| Wildcard::new(name).matches(part))
        };
        ignores.iter().any(|file| {
            let text = self.world.text(file);
            text.is_none_or(|text| text.lines().any(shows))
        })
    }

    /// Returns `true` if the sandbox keeps a secret that was found on the way, so that a command
    /// which reads a whole folder can run without it.
    fn is_hidden(&self, found: &Finding) -> bool {
        self.confines_all() && found.floor == Some(FloorKind::Sensitive)
    }

    /// What most restricts a file that was found, its links not followed.
    pub(super) fn forbidden(&self, path: &Path) -> Option<Finding> {
        let fact = PathFact {
            requested: path.to_owned(),
            resolved: path.to_owned(),
            access: Access::Read,
            place: Place::Workspace,
            hard_links: 1,
            scope: None,
        };
        self.restriction(&fact).into_iter().max_by_key(|found| found.decision)
    }

    /// Links below a folder are followed: where they lead counts.
    pub(super) fn judge_links(
        &self,
        command: &Command,
        word: &Word,
        walk: &Walk,
        findings: &mut Findings,
    ) {
        for folder in self.real_places(word, walk) {
            let mut seen = 0;
            let mut leaves = false;
            let mut denied = None;
            let mut test = |path: &Path| {
                seen += 1;
                let fact = self.world.look(path, Access::Read);
                let found = self.restriction(&fact);
                leaves |= fact.place == Place::Outside || !found.is_empty();
                denied = found.into_iter().find(|found| found.decision == Decision::Deny);
                denied.is_some() || seen > MOST_LINKS
            };
            let ended = self.world.some_below(&folder, &mut test);
            findings.all.extend(denied);
            if leaves || ended != Some(false) {
                findings.push(Finding::floor(
                    FloorKind::Shell,
                    Decision::Ask,
                    format!("`{}` follows links, and not all of them stay here", shown(command)),
                ));
            }
        }
    }

    /// The paths a word stands for, in every folder the line may be in.
    pub(super) fn places(&self, word: &Word, walk: &Walk) -> Vec<PathBuf> {
        if let (true, Some(home)) = (word.home, self.world.home()) {
            let rest = word.text.strip_prefix('~').unwrap_or_default();
            return vec![PathBuf::from(format!("{}{rest}", home.display()))];
        }
        if Path::new(&word.text).is_absolute() {
            return vec![PathBuf::from(&word.text)];
        }
        walk.folders.iter().map(|folder| folder.join(&word.text)).collect()
    }

    /// The paths a word stands for where the line is, file name patterns replaced.
    fn expanded(&self, word: &Word, walk: &Walk) -> Result<Vec<PathBuf>, Box<Finding>> {
        let here = Walk::new(walk.folder.clone());
        let mut paths = self.places(word, &here);
        if word.pattern {
            let names = self
                .world
                .expand(&walk.folder, &word.text)
                .ok_or_else(|| Box::new(unknown(word)))?;
            if names.iter().any(|name| name.starts_with('-')) {
                let reason =
                    format!("`{}` stands for a file that would be taken for an option", word.text);
                return Err(Box::new(Finding::floor(FloorKind::Shell, Decision::Ask, reason)));
            }
            // Without a match the shell passes the pattern on as it is.
            paths.extend(names.iter().map(|name| walk.folder.join(name)));
        }
        Ok(paths)
    }
}

/// Returns `true` for devices that hold nothing.
pub(super) fn is_harmless_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")
}

fn unknown(word: &Word) -> Finding {
    let reason = format!("which file `{}` is cannot be told beforehand", word.text);
    Finding::floor(FloorKind::Shell, Decision::Ask, reason)
}

fn too_much(word: &Word) -> Finding {
    let reason = format!("`{}` holds too much to look through for secrets", word.text);
    Finding::floor(FloorKind::Shell, Decision::Ask, reason)
}

/// The files below a folder that a search looks into.
#[derive(Debug)]
struct Search {
    /// The names it is limited to; any name when there are none.
    names: Vec<Wildcard>,
    skips_hidden: bool,
}

impl Search {
    fn of(command: &Command) -> Self {
        let skips_hidden = command.name() == Some("rg") && !shows_hidden(command);
        Self { names: included(command).unwrap_or_default(), skips_hidden }
    }

    fn includes(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.names.is_empty() || self.names.iter().any(|pattern| pattern.matches(&name))
    }
}

/// The names that `grep` is limited to, where all of them are plain.
fn included(command: &Command) -> Option<Vec<Wildcard>> {
    if !matches!(command.name(), Some("grep" | "egrep" | "fgrep")) {
        return None;
    }
    let mut names = Vec::new();
    for word in command.arguments().iter().take_while(|word| word.text != "--") {
        let Some(option) = word.text.strip_prefix("--inc") else { continue };
        let name = option.strip_prefix("lude=")?;
        (!name.contains(['?', '[', '{', '\\'])).then_some(())?;
        names.push(Wildcard::new(name));
    }
    Some(names)
}

/// Returns `true` if options of `rg` have it look into hidden files, or choose files by patterns,
/// which counts for hidden ones, too.
fn shows_hidden(command: &Command) -> bool {
    const LONG: &[&str] = &[
        "--glob",
        "--glob-case-insensitive",
        "--hidden",
        "--iglob",
        "--ignore-file",
        "--type",
        "--type-add",
        "--type-not",
        "--unrestricted",
    ];
    command.arguments().iter().any(|word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--");
        let name = text.split('=').next().unwrap_or(text);
        (short && text.contains(['u', '.', 'g', 't', 'T'])) || LONG.contains(&name)
    })
}

/// Returns `true` for files that tell searches what to leave out.
fn is_ignore_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, ".gitignore" | ".ignore" | ".rgignore") || path.ends_with(".git/info/exclude")
}

fn has_hidden_part(path: &Path, folder: &Path) -> bool {
    let inner = path.strip_prefix(folder).unwrap_or(path);
    inner.iter().any(|part| part.to_string_lossy().starts_with('.'))
}
