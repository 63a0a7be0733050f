//! Landlock: what may be opened, whatever is mounted where.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use crate::view::View;

/// The newest version this was written for; older ones enforce less.
const VERSION: ABI = ABI::V6;

/// Restricts this process to a view, as far as the kernel can. Second to the mounts, which
/// have already made the rest read-only.
pub(crate) fn second(view: &View) -> Result<(), RulesetError> {
    let devices = ["/dev/shm", "/dev/pts"].map(PathBuf::from);
    let folders = view.writable.iter().chain(&view.temporary).chain(&devices);
    let reading = AccessFs::from_read(VERSION);
    let using = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    ruleset()?
        .add_rules(path_beneath_rules([Path::new("/")], reading))?
        .add_rules(path_beneath_rules(folders, AccessFs::from_all(VERSION)))?
        .add_rules(path_beneath_rules(["/dev"], using | reading))?
        .restrict_self()?;
    Ok(())
}

fn ruleset() -> Result<landlock::RulesetCreated, RulesetError> {
    let everything: BitFlags<AccessFs> = AccessFs::from_all(VERSION);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .scope(Scope::from_all(VERSION))?
        .create()
}
