//! Content that git commands show out of the objects of a repository.
//!
//! A sandbox hides files, but not what git stored of them, so rules that deny reading are held
//! here.

use std::path::{Path, PathBuf};

use super::call::Judge;
use super::files::Walk;
use super::finding::{Finding, Findings};
use super::forms::shown;
use crate::decision::Decision;
use crate::effect::Access;
use crate::pattern::path::{folded, text};
use crate::shell::{Command, Content, Word, content, normal_name};
use crate::table::restricts_reading;
use crate::verdict::FloorKind;

impl Judge<'_> {
    /// Judges what a git command may show of the repository, however its paths are written.
    pub(super) fn judge_repository(&self, command: &Command, walk: &Walk, findings: &mut Findings) {
        let [_, table] = self.setting.tables;
        let content = content(command);
        match &content {
            Content::WorkTree(paths) => self.judge_tracked(command, paths, walk, findings),
            Content::WholeTree => {
                let all = Word::plain(self.world.workspace().to_string_lossy());
                self.judge_tree(command, &all, walk, findings);
            }
            Content::Nothing | Content::Paths(_) | Content::Anything => {}
        }
        if !table.restrictions().reading {
            return;
        }
        let may_show = match &content {
            Content::Nothing | Content::WorkTree(_) => false,
            Content::WholeTree | Content::Anything => true,
            Content::Paths(paths) => {
                let places =
                    paths.iter().flat_map(|path| self.repository_places(command, path, walk));
                places.into_iter().any(|place| self.is_restricted_at(&place, findings))
            }
        };
        if may_show {
            let reason = format!("`{}` may show files that a rule is about", shown(command));
            findings.push(Finding::floor(FloorKind::Shell, Decision::Ask, reason));
        }
    }

    /// Judges the files of the work tree that a command searches.
    fn judge_tracked(
        &self,
        command: &Command,
        paths: &[Word],
        walk: &Walk,
        findings: &mut Findings,
    ) {
        if paths.is_empty() {
            let here = folder(command).unwrap_or_else(|| Word::plain("."));
            self.judge_tree(command, &here, walk, findings);
        }
        for path in paths {
            for place in self.repository_places(command, path, walk) {
                let place = Word::plain(place.to_string_lossy());
                self.judge_tree(command, &place, walk, findings);
            }
        }
    }

    /// The places that a path of a git command may mean, with the folder that `-C` names.
    fn repository_places(&self, command: &Command, path: &Word, walk: &Walk) -> Vec<PathBuf> {
        let Some(folder) = folder(command) else { return self.places(path, walk) };
        let folders = self.places(&folder, walk);
        folders.into_iter().map(|folder| crate::world::normal(&folder.join(&path.text))).collect()
    }

    /// Returns `true` if a rule may be about something at a path or below it, in any revision. What
    /// is certain is noted.
    fn is_restricted_at(&self, path: &Path, findings: &mut Findings) -> bool {
        let before = findings.all.len();
        let fact = self.world.look(path, Access::Read);
        findings.all.extend(self.restriction(&fact));
        if findings.all.len() > before || self.is_file(path) {
            return false;
        }
        let [_, table] = self.setting.tables;
        let forms = [
            folded(&text(&fact.requested)).into_owned(),
            folded(&text(&fact.resolved)).into_owned(),
        ];
        let mut rules = table.rules().iter().filter(|rule| restricts_reading(rule));
        rules.any(|rule| {
            let patterns = &rule.matcher.paths;
            forms.iter().any(|form| patterns.iter().any(|pattern| pattern.may_match_below(form)))
        })
    }

    /// Returns `true` if a path is a file now, and so has nothing below it.
    fn is_file(&self, path: &Path) -> bool {
        let mut is_itself = false;
        let mut test = |found: &Path| {
            is_itself = found == path;
            true
        };
        self.world.is_there(path)
            && self.world.some_below(path, &mut test) == Some(true)
            && is_itself
    }
}

/// The folder that `-C` has git start from.
fn folder(command: &Command) -> Option<Word> {
    let name = command.name().map_or("", normal_name);
    if name != "git" {
        return None;
    }
    let mut folder: Option<PathBuf> = None;
    let mut words = command.arguments().iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-C" => {
                let next = words.next()?;
                folder = Some(folder.unwrap_or_default().join(&next.text));
            }
            "-c" => drop(words.next()),
            option if option.starts_with('-') => {}
            _ => break,
        }
    }
    folder.map(|folder| Word::plain(folder.to_string_lossy()))
}
