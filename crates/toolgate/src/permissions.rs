//! Permissions in the policy files of the user or of a workspace.

use std::io;
use std::path::{Path, PathBuf};

use toolgate_core::visible;
use toolgate_policy::load::{Loader, Severity};
use toolgate_policy::permissions::{self, Change, Edited, Listed};
use toolgate_policy::rule::Tier;
use toolgate_policy::{Decision, Mode};

use crate::exit::UsageError;
use crate::home;
use crate::owned;
use crate::policies::{self, Draft};
use crate::trust::{self, Accepted, Version};

/// The file that permissions are added to unless they are in another already.
pub(crate) const FILE: &str = "permissions.toml";

/// The policy files of the user or of a workspace.
#[derive(Debug)]
pub(crate) struct PolicyFolder {
    pub(crate) folder: PathBuf,
    pub(crate) tier: Tier,
    loader: Loader,
}

/// A permission that is to be in a list.
#[derive(Debug)]
pub(crate) struct Placement {
    /// The file that it will be in.
    pub(crate) path: PathBuf,
    /// Its line there, counted from 1.
    pub(crate) line: usize,
    pub(crate) change: Change,
    /// The files as they will be.
    pub(crate) drafts: Vec<Draft>,
}

impl PolicyFolder {
    /// The policies of the user.
    pub(crate) fn of_user(loader: Loader) -> anyhow::Result<Self> {
        let [_, folder, _] = policies::folders(&home::config()?, Path::new(""));
        Ok(Self { folder, tier: Tier::User, loader })
    }

    /// The policies of a workspace.
    ///
    /// # Errors
    ///
    /// Errors if a link leads out of the workspace: rules for it would become those of another
    /// place, or of the user.
    pub(crate) fn of_workspace(loader: Loader, root: &Path) -> anyhow::Result<Self> {
        let [_, _, folder] = policies::folders(&home::config()?, root);
        let files = policies::policies_in(&folder)?;
        let places = files.into_iter().chain([folder.join(FILE), folder.clone()]);
        for place in
            places.flat_map(|place| place.ancestors().map(Path::to_owned).collect::<Vec<_>>())
        {
            // Whatever is missing will be made below a folder that is inside.
            let Ok(real) = place.canonicalize() else { continue };
            if place.starts_with(root) && !real.starts_with(root) {
                let shown = visible::path(&place);
                let message = format!(
                    "`{shown}` is a link that leads out of the workspace, so nothing is written there"
                );
                return Err(UsageError(message).into());
            }
        }
        Ok(Self { folder, tier: Tier::Workspace, loader })
    }

    /// Returns where a permission will be. If it is in a list of some file already, it stays in
    /// that file; a permission that is in several is moved in the first and taken out of the others.
    pub(crate) fn place(&self, permission: &str, decision: Decision) -> anyhow::Result<Placement> {
        let mut holders = Vec::new();
        for path in self.files()? {
            let text = read(&path)?;
            let found = permissions::find(&self.loader, &text, permission)
                .map_err(|error| UsageError(format!("{}:{error}", visible::path(&path))))?;
            if !found.is_empty() {
                holders.push((path, text, found));
            }
        }
        let has = |found: &[Listed]| found.iter().any(|listed| listed.decision == decision);
        let first = holders.iter().position(|(.., found)| has(found)).unwrap_or(0);
        if holders.is_empty() {
            let path = self.folder.join(FILE);
            let text = read(&path)?;
            holders.push((path, text, Vec::new()));
        }
        let (path, text, _) = holders.swap_remove(first);
        let Edited { text: edited, line, mut change } =
            self.set(&path, &text, permission, decision)?;
        let mut drafts = Vec::new();
        if change != Change::Present {
            drafts.push(self.draft(&path, &text, edited));
        }
        for (other, text, found) in &holders {
            let Some(stricter) = found.iter().find(|listed| listed.decision != decision) else {
                continue;
            };
            let edited = permissions::remove(&self.loader, text, permission)
                .map_err(|error| UsageError(format!("{}: {error}", visible::path(other))))?;
            drafts.extend(edited.map(|edited| self.draft(other, text, edited)));
            change = Change::Moved { from: stricter.decision };
        }
        Ok(Placement { path, line, change, drafts })
    }

    /// Returns the text of a file with a permission in a list.
    pub(crate) fn set(
        &self,
        path: &Path,
        text: &str,
        permission: &str,
        decision: Decision,
    ) -> anyhow::Result<Edited> {
        permissions::set(&self.loader, text, permission, decision)
            .map_err(|error| UsageError(format!("{}: {error}", visible::path(path))).into())
    }

    /// Returns every permission of these files that is about the same calls.
    pub(crate) fn find(&self, permission: &str) -> anyhow::Result<Vec<(PathBuf, Listed)>> {
        let mut all = Vec::new();
        for path in self.files()? {
            let found = permissions::find(&self.loader, &read(&path)?, permission)
                .map_err(|error| UsageError(format!("{}:{error}", visible::path(&path))))?;
            all.extend(found.into_iter().map(|listed| (path.clone(), listed)));
        }
        Ok(all)
    }

    /// Returns `true` if one of these files has a rule of this name.
    pub(crate) fn has_rule(&self, name: &str) -> anyhow::Result<bool> {
        for path in policies::policies_in(&self.folder)? {
            let file = self.loader.parse(&read(&path)?, &visible::path(&path), self.tier);
            if file.rules.iter().any(|rule| rule.name.as_deref() == Some(name)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the mode that one of these files sets, and the file.
    pub(crate) fn mode(&self) -> anyhow::Result<Option<(Mode, PathBuf)>> {
        for path in policies::policies_in(&self.folder)? {
            let shown = path.display().to_string();
            let file = self.loader.parse(&read(&path)?, &shown, self.tier);
            if let Some(mode) = file.mode {
                return Ok(Some((mode, path)));
            }
        }
        Ok(None)
    }

    /// Returns a file of these as it is going to be.
    pub(crate) fn draft(&self, path: &Path, before: &str, text: String) -> Draft {
        let (path, before) = (path.to_owned(), before.to_owned());
        Draft { path, tier: self.tier, before, text }
    }

    /// Writes a file. Returns `false` if it changed in the meantime and was left alone.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be written, or would have a mistake.
    pub(crate) fn write(&self, draft: &Draft) -> anyhow::Result<bool> {
        let shown = visible::path(&draft.path);
        let wrong = self.loader.parse(&draft.text, &shown, self.tier).diagnostics;
        if let Some(wrong) = wrong.iter().find(|found| found.severity == Severity::Error) {
            let (line, column) = (wrong.line, wrong.column);
            return Err(UsageError(format!("{shown}:{line}:{column}: {}", wrong.message)).into());
        }
        let mut is_same = true;
        let written = owned::change(&draft.path, |now| {
            is_same = now == draft.before;
            if is_same {
                Ok(draft.text.clone())
            } else {
                Err("it changed in the meantime".to_owned())
            }
        });
        match written {
            Err(_) if !is_same => return Ok(false),
            written => written.map_err(UsageError)?,
        }
        if self.tier == Tier::Workspace {
            self.accept(draft)?;
        }
        Ok(true)
    }

    /// Accepts what the user wrote, unless somebody else changed the file before.
    fn accept(&self, draft: &Draft) -> anyhow::Result<()> {
        let Some(root) = self.folder.parent().and_then(Path::parent) else { return Ok(()) };
        let (config, name) = (home::config()?, trust::policy_name(&draft.path));
        let was_accepted = match Accepted::load(&config, root).files.get(&name) {
            Some(kept) => kept.digest == Version::of_text(&draft.before).digest,
            None => draft.before.is_empty(),
        };
        if was_accepted {
            let version = Version::of_text(&draft.text);
            Accepted::add(&config, root, name, version).map_err(UsageError)?;
        }
        Ok(())
    }

    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = policies::policies_in(&self.folder)?;
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
        Ok(files)
    }
}

/// Returns the text of a file, which is empty if it is not there yet.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    match owned::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| {
            UsageError(format!("cannot read `{}`: {error}", visible::path(path))).into()
        }),
    }
}
