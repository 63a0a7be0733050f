//! Which version of a file it was that somebody looked at.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

/// File systems tell times apart in steps; two changes within one look the same.
const STEP: Duration = Duration::from_millis(50);

/// Tells one version of a file from the next: any change to content, name or mode makes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
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

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }

    /// Whether it is so young that a later change could look the same.
    pub fn is_young(&self) -> bool {
        let (seconds, nanos) = self.changed;
        let since =
            Duration::new(u64::try_from(seconds).unwrap_or(0), 0) + Duration::from_nanos(nanos);
        let changed = UNIX_EPOCH + since;
        SystemTime::now().duration_since(changed).map_or(true, |age| age < STEP)
    }
}

impl From<&Metadata> for Version {
    fn from(metadata: &Metadata) -> Self {
        let nanos = |nanos: i64| u64::try_from(nanos).unwrap_or(0);
        Self {
            inode: metadata.ino(),
            device: metadata.dev(),
            size: i64::try_from(metadata.size()).unwrap_or(i64::MAX),
            modified: (metadata.mtime(), nanos(metadata.mtime_nsec())),
            changed: (metadata.ctime(), nanos(metadata.ctime_nsec())),
        }
    }
}
