//! Putting a plan into effect, in an order that always has folders to write into.

use std::cmp::Reverse;
use std::path::PathBuf;

use super::plan::Step;
use super::report::{UndoError, Unrestored};
use crate::archive::Archive;
use crate::blobs::Survive;
use crate::disk::{Kind, KnownHashes, Looking, PutError, Version, look, put, same};
use crate::journal::LARGEST;

/// What the owner needs to work in a folder.
const OWN: u32 = 0o700;

/// Takes every step or none; folders that others put something into stay and are named.
pub(crate) fn apply(archive: &Archive, steps: &[Step]) -> Result<Vec<Unrestored>, UndoError> {
    refuse_if_changed(archive, steps)?;
    let mut left = Vec::new();
    let Err((path, error)) = run(archive, steps, &mut left) else {
        return Ok(left);
    };
    let back: Vec<Step> = steps
        .iter()
        .map(|step| Step {
            path: step.path.clone(),
            now: step.wanted.clone(),
            wanted: step.now.clone().filter(Version::is_kept),
        })
        .collect();
    let is_put_back = run(archive, &back, &mut Vec::new()).is_ok();
    Err(UndoError::Failed { path, why: error.to_string(), is_put_back })
}

/// Somebody may have changed a file while the plan was made.
fn refuse_if_changed(archive: &Archive, steps: &[Step]) -> Result<(), UndoError> {
    let known = &KnownHashes::new();
    let survive = Survive::Process;
    for step in steps {
        let looking = Looking { blobs: &archive.blobs, largest: LARGEST, survive, known };
        if !same(look(&step.path, looking)?.as_ref(), step.now.as_ref()) {
            return Err(UndoError::Failed {
                path: step.path.clone(),
                why: "somebody else changed it at the same moment".to_owned(),
                is_put_back: true,
            });
        }
    }
    Ok(())
}

fn run(
    archive: &Archive,
    steps: &[Step],
    left: &mut Vec<Unrestored>,
) -> Result<(), (PathBuf, PutError)> {
    let make = |step: &Step, wanted: Option<&Version>| {
        put(&step.path, wanted, &archive.blobs).map_err(|error| (step.path.clone(), error))
    };
    let mut deepest_first: Vec<&Step> = steps.iter().collect();
    deepest_first.sort_by_key(|step| Reverse(step.path.components().count()));
    for step in
        steps.iter().filter(|step| is_folder(step.now.as_ref()) && is_folder(step.wanted.as_ref()))
    {
        make(step, open_folder(step).as_ref())?;
    }
    for step in deepest_first.iter().filter(|step| must_go(step)) {
        match make(step, None) {
            Err((path, PutError::NotEmpty)) if step.wanted.is_none() => {
                let why = "is not empty, so it stays".to_owned();
                left.push(Unrestored { path, why });
            }
            other => other?,
        }
    }
    // By path, so a folder comes before what is in it.
    for step in steps.iter().filter(|step| step.wanted.is_some()) {
        if is_folder(step.wanted.as_ref()) {
            make(step, open_folder(step).as_ref())?;
        } else {
            make(step, step.wanted.as_ref())?;
        }
    }
    for step in deepest_first.iter().filter(|step| is_folder(step.wanted.as_ref())) {
        make(step, step.wanted.as_ref())?;
    }
    Ok(())
}

/// A file takes the place of a file in one step; everything else has to make room first.
fn must_go(step: &Step) -> bool {
    step.now.is_some()
        && (step.wanted.is_none()
            || is_folder(step.now.as_ref()) != is_folder(step.wanted.as_ref()))
}

/// A folder as it shall be, but open to its owner.
fn open_folder(step: &Step) -> Option<Version> {
    step.wanted.clone().map(|wanted| Version { mode: wanted.mode | OWN, ..wanted })
}

fn is_folder(version: Option<&Version>) -> bool {
    version.is_some_and(|version| version.kind == Kind::Folder)
}
