//! Getting a confined command's surroundings ready, and putting them in order again.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toolgate_policy::Level;

use crate::claim::Claim;
use crate::copies::Copies;
use crate::guard::Guarded;
use crate::secrets;
use crate::survey::Survey;
use crate::view::{Guard, View, real};
use crate::wire::{Confinement, Plan, Raw};

/// What a command sees, and what must be done when it has ended.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// What it sees.
    pub(crate) view: View,
    guarded: Vec<Guarded>,
    /// Given up when all else is done.
    _claims: Vec<Claim>,
    _copies: Copies,
}

impl Prepared {
    /// Looks at everything, and gets it ready.
    pub(crate) fn new(plan: &Plan, confinement: &Confinement) -> Result<Self, String> {
        let scratch = confinement.scratch.as_path();
        make_scratch(scratch).map_err(|error| format!("making a temporary folder: {error}"))?;
        let mut view = View::new(plan, confinement);
        let mut secrets = secrets::find(confinement.home.as_ref().map(Raw::as_path));
        make_own(&confinement.hidden, &view.writable)
            .map_err(|error| format!("making a folder of its own: {error}"))?;
        secrets.extend(real(&confinement.hidden));
        let (mut claims, mut guarded) = (Vec::new(), Vec::new());
        let mut roots = real(&confinement.roots);
        let beside = real(&confinement.write).into_iter();
        roots.extend(
            beside
                .filter(|path| !roots.iter().any(|root| path.starts_with(root)))
                .collect::<Vec<_>>(),
        );
        for root in roots.clone() {
            let survey = Survey::of(&root);
            if view.writable.iter().any(|writable| root.starts_with(writable)) {
                let guard = guard(&root, &survey, confinement, &mut claims)
                    .map_err(|error| format!("guarding `{}`: {error}", root.display()))?;
                view.guards.extend(guard.guards.iter().cloned());
                guarded.push(guard);
            }
            secrets.extend(survey.secrets);
        }
        for path in real(&confinement.guarded) {
            if view.writable.iter().any(|writable| path.starts_with(writable)) {
                view.guards.push((path, Guard::ReadOnly));
            }
        }
        view.hide(secrets, &real(&confinement.unmasked));
        // What a rule denies stays hidden, whatever else is shown.
        view.masked.extend(real(&confinement.denied));
        view.hold(&roots);
        let copies = copies(&view, &roots, confinement)
            .map_err(|error| format!("copying caches: {error}"))?;
        view.copies.clone_from(&copies.list);
        Ok(Self { view, guarded, _claims: claims, _copies: copies })
    }

    /// Puts things in order again; tells what had to be done.
    pub(crate) fn finish(self) -> Vec<String> {
        self.guarded.iter().flat_map(Guarded::look_again).collect()
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

fn guard(
    root: &Path,
    survey: &Survey,
    confinement: &Confinement,
    claims: &mut Vec<Claim>,
) -> io::Result<Guarded> {
    if confinement.level != Level::Namespaces {
        return Guarded::by_keepsakes(root, survey);
    }
    let mut claim = Claim::on(root, confinement.locks.as_path())?;
    let allowed: Vec<PathBuf> =
        confinement.write.iter().map(|path| path.as_path().to_owned()).collect();
    let guarded = Guarded::by_mounts(root, survey, &mut claim, &allowed)?;
    claims.push(claim);
    Ok(guarded)
}

/// Where a folder of our own would be in a folder to write in, it is made: nobody else may.
fn make_own(hidden: &[Raw], writable: &[PathBuf]) -> io::Result<()> {
    for folder in hidden.iter().map(Raw::as_path) {
        if !folder.exists() && writable.iter().any(|root| folder.starts_with(root)) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
    }
    Ok(())
}

fn make_scratch(scratch: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
    std::fs::set_permissions(scratch, Permissions::from_mode(0o1777))
}
