//! Which version of a file it was that somebody looked at.

use rustix::fs::Stat;

/// Tells one version of a file from the next: any change to content, name or mode makes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    inode: u64,
    device: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Version {
    /// The version a look at the file saw.
    #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino.into(),
            device: stat.st_dev.into(),
            size: stat.st_size.into(),
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: (stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }
}
