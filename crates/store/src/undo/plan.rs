//! What has to become of each file, checked before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::difference::unified;
use super::report::{Action, Conflict, Reason, UndoError, Unrestored};
use super::select::Force;
use crate::archive::Archive;
use crate::blobs::Survive;
use crate::disk::{Kind, KnownHashes, Looking, Place, Version, look, same};
use crate::journal::LARGEST;
use crate::records::{ChangeRow, WatchRow, changes_of};

/// What an undo will do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What is there now and what shall be there, by path.
    pub(crate) steps: Vec<Step>,
    /// What cannot be put back.
    pub(crate) left: Vec<Unrestored>,
    /// What stands in the way; nothing is done while something does.
    pub(crate) conflicts: Vec<Conflict>,
}

/// What becomes of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) now: Option<Version>,
    pub(crate) wanted: Option<Version>,
}

impl Step {
    pub(crate) fn action(&self) -> Action {
        let path = self.path.clone();
        match (&self.now, &self.wanted) {
            (_, None) => Action::Removed { path },
            (None, Some(_)) => Action::Recreated { path },
            (Some(now), Some(wanted)) if now.kind == wanted.kind && now.hash == wanted.hash => {
                Action::ModeRestored { path }
            }
            _ => Action::Restored { path },
        }
    }
}

/// Works out how to take back these calls, newest first.
pub(crate) fn plan(
    archive: &Archive,
    watches: &[WatchRow],
    force: Force,
) -> Result<Plan, UndoError> {
    let mut planning = Planning { archive, force, plan: Plan::default(), paths: BTreeMap::new() };
    for watch in watches {
        for change in archive.read(|rows| changes_of(rows, watch.id))? {
            planning.take_back(watch, change)?;
        }
    }
    let Planning { mut plan, paths, .. } = planning;
    plan.steps = paths
        .into_iter()
        .filter(|(_, (now, wanted))| !same(now.as_ref(), wanted.as_ref()))
        .map(|(path, (now, wanted))| Step { path, now, wanted })
        .collect();
    refuse_unreachable(&mut plan);
    verify_contents(archive, &plan)?;
    Ok(plan)
}

struct Planning<'a> {
    archive: &'a Archive,
    force: Force,
    plan: Plan,
    /// What is there now, and what will be when the calls so far are taken back.
    paths: BTreeMap<PathBuf, (Option<Version>, Option<Version>)>,
}

impl Planning<'_> {
    fn take_back(&mut self, watch: &WatchRow, change: ChangeRow) -> Result<(), UndoError> {
        let ChangeRow { path, before, after } = change;
        let (now, then) = if let Some(known) = self.paths.get(&path) {
            known.clone()
        } else {
            let now = self.look(&path)?;
            (now.clone(), now)
        };
        if same(then.as_ref(), before.as_ref()) {
            return Ok(());
        }
        let forced = self.force == Force::Overwrite;
        let is_inside = watch.roots.iter().any(|root| path.starts_with(root) && path != *root);
        if !is_inside && !forced {
            self.refuse(path, Reason::Outside, None);
            return Ok(());
        }
        if !same(then.as_ref(), after.as_ref()) && !forced {
            let reason = match (&then, &after) {
                (None, _) => Reason::RemovedSince,
                (Some(_), None) => Reason::ThereAgain,
                (Some(_), Some(_)) => Reason::ChangedSince,
            };
            let names = ("as the call left it", "as it is now");
            let versions = (after.as_ref(), then.as_ref());
            let diff = unified(&self.archive.blobs, &path, versions, names);
            self.refuse(path, reason, diff);
            return Ok(());
        }
        if before.as_ref().is_some_and(|before| !before.is_kept()) {
            let why = "was too large or could not be read, so its former content is not kept";
            self.plan.left.push(Unrestored { path, why: why.to_owned() });
            return Ok(());
        }
        self.paths.insert(path, (now, before));
        Ok(())
    }

    fn look(&self, path: &Path) -> Result<Option<Version>, UndoError> {
        let survive = Survive::Process;
        let known = &KnownHashes::new();
        let looking = Looking { blobs: &self.archive.blobs, largest: LARGEST, survive, known };
        Ok(look(path, looking)?)
    }

    fn refuse(&mut self, path: PathBuf, reason: Reason, diff: Option<String>) {
        if !self.plan.conflicts.iter().any(|conflict| conflict.path == path) {
            self.plan.conflicts.push(Conflict { path, reason, diff });
        }
    }
}

/// What shall be there must lie in folders, or in what becomes folders again.
fn refuse_unreachable(plan: &mut Plan) {
    let becomes_folder = |above: &Path| {
        plan.steps
            .iter()
            .any(|step| step.path == above && step.wanted.as_ref().is_some_and(Version::is_folder))
    };
    let unreachable = plan.steps.iter().filter(|step| step.wanted.is_some()).filter(|step| {
        let blocked = matches!(Place::find(&step.path), Err(Errno::LOOP | Errno::NOTDIR));
        blocked && !step.path.ancestors().skip(1).any(becomes_folder)
    });
    let conflicts: Vec<Conflict> = unreachable
        .map(|step| Conflict { path: step.path.clone(), reason: Reason::Unreachable, diff: None })
        .collect();
    plan.conflicts.extend(conflicts);
}

/// What shall be there must still be kept, and whole.
fn verify_contents(archive: &Archive, plan: &Plan) -> Result<(), UndoError> {
    if !plan.conflicts.is_empty() {
        return Ok(());
    }
    for step in &plan.steps {
        if let Some(wanted) = &step.wanted
            && matches!(wanted.kind, Kind::File | Kind::Link)
        {
            let path = || step.path.clone();
            archive
                .blobs
                .verify(&wanted.hash)
                .map_err(|source| UndoError::Content { path: path(), source })?;
        }
    }
    Ok(())
}
