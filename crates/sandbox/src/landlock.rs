//! Landlock: what may be opened, whatever is mounted where.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
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
    let devices = ["null", "zero", "full", "random", "urandom", "tty"];
    let devices = devices.map(|name| Path::new("/dev").join(name));
    let using = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let readable = readable(view);
    let writable = writable(view);
    ruleset()?
        .add_rules(path_beneath_rules(
            readable.listed.iter().chain(&writable.listed),
            AccessFs::ReadDir,
        ))?
        .add_rules(path_beneath_rules(readable.free, AccessFs::from_read(VERSION)))?
        .add_rules(path_beneath_rules(writable.free, AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules([&view.scratch], AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules(devices, using))?
        .restrict_self()
}

/// The readable paths: all but secrets and covered folders, plus what is kept of those.
fn readable(view: &View) -> Around {
    let mut covers: BTreeSet<&Path> =
        view.covers.iter().chain(&view.temporary).map(PathBuf::as_path).collect();
    let mut avoided = covers.clone();
    avoided.extend(view.masked.iter().map(PathBuf::as_path));
    let mut around = Around::default();
    around.extend(Path::new("/"), &avoided);
    // A right to list a folder holds below it, too, so that none is given around what is covered.
    covers.extend(view.closed.iter().map(PathBuf::as_path));
    around.listed.retain(|folder| !holds(&covers, folder));
    for kept in view.kept.iter().chain(&view.writable).filter(|kept| view.is_covered(kept)) {
        around.extend(kept, &avoided);
    }
    around
}

/// The writable paths: the workspace, or all around the parts of it that must not change.
fn writable(view: &View) -> Around {
    let fixed: BTreeSet<&Path> = view.fixed.iter().map(PathBuf::as_path).collect();
    let mut around = Around::default();
    for root in &view.writable {
        around.extend(root, &fixed);
    }
    around
}

/// The largest folders, and files, without anything that is to be avoided.
#[derive(Debug, Default)]
struct Around {
    free: Vec<PathBuf>,
    /// The folders around what is avoided.
    listed: Vec<PathBuf>,
}

impl Around {
    fn extend(&mut self, start: &Path, avoided: &BTreeSet<&Path>) {
        let mut waiting = vec![start.to_owned()];
        while let Some(path) = waiting.pop() {
            if avoided.contains(path.as_path()) {
                continue;
            }
            if !holds(avoided, &path) {
                self.free.push(path);
                continue;
            }
            // Links are of no use here: what they lead to is found where it is.
            let entries = fs::read_dir(&path).into_iter().flatten().flatten().take(BESIDE);
            let entries =
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            waiting.extend(entries.map(|entry| entry.path()));
            self.listed.push(path);
        }
    }
}

/// Returns `true` if one of some paths lies in a folder.
fn holds(paths: &BTreeSet<&Path>, folder: &Path) -> bool {
    // What lies in a folder follows it, in the order of paths.
    let after = (Bound::Excluded(folder), Bound::Unbounded);
    paths.range::<Path, _>(after).next().is_some_and(|path| path.starts_with(folder))
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
        for path in ["a/b", "a/c", "a/secret", "a-d", "d"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let secret = root.join("a/secret");
        let mut around = Around::default();
        around.extend(&root, &BTreeSet::from([secret.as_path()]));
        around.free.sort();
        assert_eq!(around.free, ["a/b", "a/c", "a-d", "d"].map(|path| root.join(path)));
        assert_eq!(around.listed, [root.clone(), root.join("a")]);
    }

    #[test]
    fn what_is_covered_cannot_be_listed_and_what_is_kept_of_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/work/src", "home/other", "home/work/.env"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let view = View {
            covers: vec![root.join("home")],
            kept: vec![root.join("home/work")],
            masked: vec![root.join("home/work/.env")],
            ..View::default()
        };
        let mut around = readable(&view);
        around.free.retain(|path| path.starts_with(&root));
        assert_eq!(around.free, [root.join("home/work/src")]);
        assert_eq!(around.listed, [root.join("home/work")]);
    }
}
