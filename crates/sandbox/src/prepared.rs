//! Getting a confined command's surroundings ready, and putting them in order again.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toolgate_policy::Level;

use crate::claim::Claim;
use crate::guard::Guarded;
use crate::secrets;
use crate::survey::Survey;
use crate::view::{View, real};
use crate::wire::{Confinement, Plan, Raw};

/// What a command sees, and what must be done when it has ended.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// What it sees.
    pub(crate) view: View,
    guarded: Vec<Guarded>,
    /// Given up when all else is done.
    _claims: Vec<Claim>,
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
        for root in real(&confinement.roots) {
            let survey = Survey::of(&root);
            if view.writable.iter().any(|writable| root.starts_with(writable)) {
                let guard = guard(&root, &survey, confinement, &mut claims)
                    .map_err(|error| format!("guarding `{}`: {error}", root.display()))?;
                view.guards.extend(guard.guards.iter().cloned());
                guarded.push(guard);
            }
            secrets.extend(survey.secrets);
        }
        view.hide(secrets, &real(&confinement.unmasked));
        view.hold(&real(&confinement.roots));
        Ok(Self { view, guarded, _claims: claims })
    }

    /// Puts things in order again; tells what had to be done.
    pub(crate) fn finish(self) -> Vec<String> {
        self.guarded.iter().flat_map(Guarded::look_again).collect()
    }
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
    let guarded = Guarded::by_mounts(root, survey, &mut claim)?;
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
