//! Getting a confined command's surroundings ready, and putting them in order again.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toolgate_policy::Level;

use crate::claim::Claim;
use crate::copies::Copies;
use crate::guard::Guarded;
use crate::place::make_folders;
use crate::secrets;
use crate::survey::Survey;
use crate::view::{Guard, View, real};
use crate::wire::{Confinement, Plan, Raw};

/// What a command sees, and what must be done when it has ended.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// What it sees.
    pub(crate) view: View,
    /// The guarded paths, each with a claim that is given up when all else is done.
    guarded: Vec<(Guarded, Claim)>,
    _copies: Copies,
}

impl Prepared {
    /// Looks at everything, and gets it ready.
    pub(crate) fn new(plan: &Plan, confinement: &Confinement) -> Result<Self, String> {
        let scratch = confinement.scratch.as_path();
        make_scratch(scratch).map_err(|error| format!("making a temporary folder: {error}"))?;
        let mut view = View::new(plan, confinement);
        make_own(&confinement.hidden, &view.writable)
            .map_err(|error| format!("making a folder of its own: {error}"))?;
        let own = real(&confinement.hidden);
        let mut secrets = secrets::of_system();
        secrets.extend(own.iter().cloned());
        let mut denied = real(&confinement.denied);
        let mut guarded = Vec::new();
        for survey in &confinement.surveys {
            let root = survey.root.as_path();
            if view.writable.iter().any(|writable| root.starts_with(writable)) {
                let (guards, claim) = guard(survey, confinement)
                    .map_err(|error| format!("guarding `{}`: {error}", root.display()))?;
                view.guards.extend(guards.guards.iter().cloned());
                guarded.push((guards, claim));
            }
            let paths = |list: &[Raw]| -> Vec<PathBuf> {
                list.iter().map(|path| path.as_path().to_owned()).collect()
            };
            secrets.extend(paths(&survey.secrets));
            denied.extend(paths(&survey.denied));
            let is_ours = |path: &PathBuf| path.file_name().is_some_and(|name| name == ".toolgate");
            view.fixed.extend(paths(&survey.governing).into_iter().filter(is_ours));
        }
        let fixed = real(&confinement.guarded);
        let is_written = |path: &&PathBuf| view.writable.iter().any(|root| path.starts_with(root));
        let guards = fixed.iter().filter(is_written).map(|path| (path.clone(), Guard::ReadOnly));
        view.guards.extend(guards.collect::<Vec<_>>());
        view.hide(secrets, &real(&confinement.unmasked));
        // What a rule denies stays hidden, whatever else is shown.
        view.deny(&denied);
        view.fixed.extend(fixed.into_iter().chain(own).chain(denied));
        let roots: Vec<PathBuf> =
            confinement.surveys.iter().map(|survey| survey.root.as_path().to_owned()).collect();
        view.hold(&roots);
        let copies = copies(&view, &roots, confinement)
            .map_err(|error| format!("copying caches: {error}"))?;
        view.copies.clone_from(&copies.list);
        // Copies are put into what covers the home folder.
        view.kept.extend(copies.list.iter().map(|copy| copy.of.clone()));
        view.settle();
        Ok(Self { view, guarded, _copies: copies })
    }

    /// Puts things in order again; tells what had to be done.
    pub(crate) fn finish(self) -> Vec<String> {
        self.guarded.iter().flat_map(|(guarded, claim)| guarded.look_again(claim)).collect()
    }
}

/// Copies of the caches, where mounts can make them.
fn copies(view: &View, roots: &[PathBuf], confinement: &Confinement) -> io::Result<Copies> {
    let folders: Vec<PathBuf> =
        confinement.caches.iter().map(|cache| cache.as_path().to_owned()).collect();
    if confinement.level != Level::Namespaces || view.writable.is_empty() {
        return Ok(Copies::default());
    }
    Copies::of(&folders, roots, confinement.copies.as_path())
}

fn guard(survey: &Survey, confinement: &Confinement) -> io::Result<(Guarded, Claim)> {
    let mut claim = Claim::on(survey.root.as_path(), confinement.locks.as_path())?;
    let allowed: Vec<PathBuf> =
        confinement.write.iter().map(|path| path.as_path().to_owned()).collect();
    let guarded = match confinement.level {
        Level::Namespaces => Guarded::by_mounts(survey, &mut claim, &allowed)?,
        _ => Guarded::by_keepsakes(survey, &mut claim, &allowed)?,
    };
    Ok((guarded, claim))
}

/// Where a folder of our own would be in a folder to write in, it is made: nobody else may.
fn make_own(hidden: &[Raw], writable: &[PathBuf]) -> io::Result<()> {
    for folder in hidden.iter().map(Raw::as_path) {
        if !folder.exists() && writable.iter().any(|root| folder.starts_with(root)) {
            make_folders(folder, 0o700)?;
        }
    }
    Ok(())
}

fn make_scratch(scratch: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
    std::fs::set_permissions(scratch, Permissions::from_mode(0o1777))
}
