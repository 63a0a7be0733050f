//! Being the same user in a new namespace as outside of it.

use std::fs;
use std::io;

use rustix::process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior};

/// Says in a namespace that was just made who this is. Nobody knows that in it before.
pub(crate) fn keep((user, group): (Uid, Gid)) -> io::Result<()> {
    let (user, group) = (user.as_raw(), group.as_raw());
    // Only what may be looked at may say who it is.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}
