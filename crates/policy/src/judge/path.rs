//! What no ordinary rule can lower about a path.

use std::fmt;
use std::path::{Path, PathBuf};

use super::call::Judge;
use super::finding::Finding;
use crate::decision::Decision;
use crate::effect::{Access, PathFact, Place};
use crate::floor::protected;
use crate::floor::sensitive::{Sensitive, When, sensitive};
use crate::floor::system;
use crate::mode::Mode;
use crate::pattern::path::{folded, text};
use crate::question::PathForms;
use crate::rule::{Rule, Tier};
use crate::verdict::FloorKind;

impl Judge<'_> {
    /// The strictest floor under a path, given the rule that would decide about it.
    pub(super) fn path_floor(
        &self,
        path: &PathFact,
        forms: &PathForms<'_>,
        rule: Option<&Rule>,
    ) -> Option<Finding> {
        let shown = Shown(&path.resolved);
        let changes = path.access != Access::Read;
        if changes && self.is_never_written(forms) {
            return Some(Finding::floor(
                FloorKind::Protected,
                Decision::Deny,
                format!("`{shown}` is never changed, in any mode"),
            ));
        }
        if changes
            && let Some(part) = self.either(forms, protected::governing_part)
            && !is_named(rule, part)
        {
            return Some(Finding::floor(
                FloorKind::Protected,
                Decision::Ask,
                format!("`{shown}` governs another program, so changing it needs a person"),
            ));
        }
        if self.setting.mode == Mode::Yolo {
            return None;
        }
        if let Some(Sensitive { part, what, when }) = self.either(forms, sensitive)
            && (changes || when == When::Touched)
            && !is_named(rule, part)
        {
            let message = match when {
                When::Touched => format!("`{shown}` holds {what}"),
                When::Written => format!("`{shown}` is {what}"),
            };
            return Some(Finding::floor(FloorKind::Sensitive, Decision::Ask, message));
        }
        if path.place == Place::Outside && !self.is_outside_allowed(forms, changes, rule) {
            return Some(Finding::floor(
                FloorKind::Outside,
                Decision::Ask,
                format!("`{shown}` is outside the workspace"),
            ));
        }
        (path.access == Access::Write && path.hard_links > 1).then(|| {
            let links = path.hard_links;
            Finding::floor(
                FloorKind::HardLinks,
                Decision::Ask,
                format!("`{shown}` has {links} hard links, and a change would split them"),
            )
        })
    }

    /// A change that may make another program act, told by where it is rather than by its name.
    /// Asked only about what is changed for certain.
    pub(super) fn unknown_part(
        &self,
        path: &PathFact,
        forms: &PathForms<'_>,
        rule: Option<&Rule>,
        made: &[PathBuf],
    ) -> Option<Finding> {
        if path.access == Access::Read {
            return None;
        }
        let shown = Shown(&path.resolved);
        let ask = |reason| Some(Finding::floor(FloorKind::Protected, Decision::Ask, reason));
        let workspace = folded(&text(self.world.workspace())).into_owned();
        let there = |path: &str| {
            made.iter().any(|made| made.starts_with(path))
                || self.world.is_certainly_there(Path::new(path))
        };
        let is_inside = protected::is_at_or_below(&forms.resolved_folded, &workspace);
        if is_inside && protected::made_repository(&text(&path.resolved), there).is_some() {
            return ask(format!(
                "`{shown}` makes its folder a repository, whose settings git obeys"
            ));
        }
        let is_unknown = |path: &str| {
            let part = protected::unknown_dotted(path, &workspace);
            part.is_some_and(|part| !is_named(rule, part))
        };
        let is_unknown = is_unknown(&forms.resolved_folded) || is_unknown(&forms.requested_folded);
        // What is known to govern or to hold secrets has a floor of its own.
        let is_known = self.either(forms, sensitive).is_some()
            || self.either(forms, protected::governing_part).is_some();
        if self.setting.mode == Mode::Yolo || !is_unknown || is_known {
            return None;
        }
        ask(format!("`{shown}` may govern another program, as names with a dot often do"))
    }

    fn is_never_written(&self, forms: &PathForms<'_>) -> bool {
        let never = |path: &str| {
            let below = |spared: &String| path.strip_prefix(spared.as_str());
            // Where a task's own files are kept among ours, the way there does not count.
            if let Some(inner) = self.setting.spared.iter().find_map(below) {
                return inner.is_empty() || !inner.starts_with('/') || protected::is_our_own(inner);
            }
            protected::is_never_written(path)
                || protected::is_our_own(path)
                || self.setting.own_folders.iter().any(|own| protected::is_at_or_below(path, own))
        };
        never(&forms.resolved_folded)
            || (forms.requested_folded != forms.resolved_folded && never(&forms.requested_folded))
    }

    /// What a check finds in the path as asked for, or as it is.
    fn either<'p, T>(
        &self,
        forms: &'p PathForms<'_>,
        check: impl Fn(&'p str, Option<&str>) -> Option<T>,
    ) -> Option<T> {
        let home = self.home.as_deref();
        check(&forms.resolved_folded, home).or_else(|| {
            let differs = forms.requested_folded != forms.resolved_folded;
            differs.then(|| check(&forms.requested_folded, home)).flatten()
        })
    }

    /// Outside of the workspace a rule that names paths lets in, and common places are no secret.
    fn is_outside_allowed(
        &self,
        forms: &PathForms<'_>,
        changes: bool,
        rule: Option<&Rule>,
    ) -> bool {
        let named = rule.is_some_and(|rule| {
            rule.decision == Decision::Allow
                && rule.origin.tier >= Tier::User
                && !rule.matcher.paths.is_empty()
        });
        named || (!changes && system::is_common(&forms.resolved_folded, self.home.as_deref()))
    }
}

/// Whether a rule of the user or above allows this very thing, rather than covering it by the way.
fn is_named(rule: Option<&Rule>, part: &str) -> bool {
    rule.is_some_and(|rule| {
        rule.decision == Decision::Allow
            && rule.origin.tier >= Tier::User
            && rule.matcher.paths.iter().any(|pattern| pattern.names(part))
    })
}

/// A path as people see it, nothing in it that a terminal would act on.
struct Shown<'p>(&'p Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string_lossy();
        if text.chars().any(char::is_control) {
            write!(formatter, "{}", text.escape_debug())
        } else {
            formatter.write_str(&text)
        }
    }
}
