//! Policy files of a workspace: as they were accepted, and what has changed since.

use std::path::{Path, PathBuf};

use toolgate_policy::Decision;
use toolgate_policy::mode::Modes;
use toolgate_policy::rule::{Grant, Priority, Rule, Tier};

use crate::trust::{self, Accepted};

/// The rules of a policy file that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Every rule of it.
    Wholly,
    /// Rules that deny and ask; the rest waits until the user accepts it.
    ToTighten,
}

/// The policy files of a trusted workspace.
#[derive(Debug, Default)]
pub(super) struct WorkspacePolicies {
    /// The texts that count, and how far.
    pub(super) parts: Vec<(PathBuf, String, Holds)>,
    /// The files that are not as they were accepted, relative to the workspace.
    pub(super) waiting: Vec<String>,
}

impl WorkspacePolicies {
    /// Looks at the policy files of a trusted workspace.
    ///
    /// # Errors
    ///
    /// Errors with the file that cannot be read.
    pub(super) fn read(config: &Path, root: &Path) -> Result<Self, PathBuf> {
        let accepted = Accepted::load(config, root);
        let now = trust::policies(root, config);
        let mut found = Self::default();
        for (name, version) in &now {
            let path = root.join(name);
            let Some(text) = &version.text else { return Err(path) };
            if accepted.has(name, &version.digest) {
                found.parts.push((path, text.clone(), Holds::Wholly));
                continue;
            }
            found.waiting.push(name.clone());
            if let Some(before) = accepted.files.get(name).and_then(|kept| kept.text.clone()) {
                found.parts.push((path.clone(), before, Holds::Wholly));
            }
            found.parts.push((path, text.clone(), Holds::ToTighten));
        }
        // A file that was removed counts until its removal is accepted.
        for (name, kept) in &accepted.files {
            if trust::is_policy(name) && !now.contains_key(name) {
                found.waiting.push(name.clone());
                let text = kept.text.clone().unwrap_or_default();
                found.parts.push((root.join(name), text, Holds::Wholly));
            }
        }
        Ok(found)
    }
}

/// Returns the rules of a workspace that count although nobody has accepted them. They can only
/// make the outcome stricter.
pub(super) fn tightening(rules: Vec<Rule>) -> Vec<Rule> {
    let strict = rules.into_iter().filter(|rule| rule.decision != Decision::Allow);
    let strict = strict.map(|rule| Rule {
        // A question must not win over a rule that denies, nor be made for a mode that would.
        priority: match rule.decision {
            Decision::Deny => Priority::in_tier(Tier::Workspace, 999),
            _ => Priority::LEAST,
        },
        modes: if rule.decision == Decision::Deny { rule.modes } else { Modes::ALL },
        grant: Grant::default(),
        risk: None,
        ..rule
    });
    strict.collect()
}
