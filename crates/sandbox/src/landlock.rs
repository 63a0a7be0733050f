//! Landlock: what may be opened, whatever is mounted where.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use crate::view::View;

/// The newest version this was written for; older ones enforce less.
const VERSION: ABI = ABI::V6;

/// How many files beside a secret can be read, at most; a rule each would take long.
const BESIDE: usize = 10_000;

/// Restricts this process to a view, as far as the kernel can. Second to the mounts, which
/// have already made the rest read-only.
pub(crate) fn second(view: &View) -> Result<(), RulesetError> {
    let devices = ["/dev/shm", "/dev/pts"].map(PathBuf::from);
    let copies = view.copies.iter().map(|copy| &copy.of);
    let folders = view.writable.iter().chain(&view.temporary).chain(&devices).chain(copies);
    let reading = AccessFs::from_read(VERSION);
    let using = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    ruleset()?
        .add_rules(path_beneath_rules([Path::new("/")], reading))?
        .add_rules(path_beneath_rules(folders, AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules(["/dev"], using | reading))?
        .restrict_self()?;
    Ok(())
}

/// Restricts this process to a view without any mounts to help.
///
/// # Errors
///
/// When the kernel knows too little of this to keep files from being changed.
pub(crate) fn alone(view: &View) -> Result<(), String> {
    let enforced = restrict_alone(view).map_err(|error| error.to_string())?;
    match enforced.landlock {
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V3 => Ok(()),
        _ => Err("this kernel is too old for it".to_owned()),
    }
}

fn restrict_alone(view: &View) -> Result<landlock::RestrictionStatus, RulesetError> {
    let folders = view.writable.iter().chain([&view.scratch]);
    let devices = ["null", "zero", "full", "random", "urandom", "tty"];
    let devices = devices.map(|name| Path::new("/dev").join(name));
    let using = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let reading = AccessFs::from_read(VERSION);
    // Names may be listed everywhere: a right to list one folder would hold below it, too.
    ruleset()?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(around(&view.masked), reading))?
        .add_rules(path_beneath_rules(folders, AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules(devices, using))?
        .restrict_self()
}

/// All there is but secrets: the largest folders without any, and what lies beside them.
fn around(secrets: &[PathBuf]) -> Vec<PathBuf> {
    let mut free = Vec::new();
    let mut waiting = vec![PathBuf::from("/")];
    while let Some(path) = waiting.pop() {
        if secrets.contains(&path) {
            continue;
        }
        if !secrets.iter().any(|secret| secret.starts_with(&path)) {
            free.push(path);
            continue;
        }
        // Links are of no use here: what they lead to is found where it is.
        let entries = fs::read_dir(&path).into_iter().flatten().flatten().take(BESIDE);
        let entries =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        waiting.extend(entries.map(|entry| entry.path()));
    }
    free
}

fn ruleset() -> Result<landlock::RulesetCreated, RulesetError> {
    let everything: BitFlags<AccessFs> = AccessFs::from_all(VERSION);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .scope(Scope::from_all(VERSION))?
        .create()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_around_a_secret_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["a/b", "a/c", "a/secret", "d"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let mut free = around(&[root.join("a/secret")]);
        free.retain(|path| path.starts_with(&root));
        free.sort();
        assert_eq!(free, ["a/b", "a/c", "d"].map(|path| root.join(path)));
    }
}
