//! Metadata by which a changed file is recognized without reading it.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The coarsest clock of a file system that records fractions of a second.
const TICK: Duration = Duration::from_millis(50);

/// The coarsest clock of a file system that records whole seconds only, such as FAT.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// Inode, size and times of a file. Every change of the file changes at least one of them,
/// unless two changes fall into the same tick of the file system's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: Moment,
    /// The time of the last change of content or metadata, which programs cannot set.
    pub(crate) changed: Moment,
}

/// A point in time as file systems record it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

impl Stamp {
    /// Returns the stamp of the file that `stat` describes.
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: Moment::new(stat.st_mtime, stat.st_mtime_nsec),
            changed: Moment::new(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Returns the stamp of a folder, whose size means nothing.
    pub(crate) fn of_folder(stat: &Stat) -> Self {
        Self { size: 0, ..Self::of(stat) }
    }

    /// Returns `true` if the file could change at `now` or later and still bear the same stamp.
    pub(crate) fn is_settling(&self, now: SystemTime) -> bool {
        let Moment { seconds, nanos } = self.changed;
        let changed = UNIX_EPOCH + Duration::new(u64::try_from(seconds).unwrap_or(0), nanos);
        let tick = if nanos == 0 { COARSE_TICK } else { TICK };
        changed + tick > now
    }
}

impl Moment {
    fn new(seconds: i64, nanos: impl TryInto<u32>) -> Self {
        Self { seconds, nanos: nanos.try_into().unwrap_or(0) }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inode, size, modified, changed } = self;
        write!(formatter, "{inode}.{size}.{modified}.{changed}")
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.seconds, self.nanos)
    }
}

/// A text that is not a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a stamp")]
pub(crate) struct InvalidStamp;

impl FromStr for Stamp {
    type Err = InvalidStamp;

    fn from_str(text: &str) -> Result<Self, InvalidStamp> {
        fn next<T: FromStr>(parts: &mut std::str::Split<'_, char>) -> Result<T, InvalidStamp> {
            parts.next().and_then(|part| part.parse().ok()).ok_or(InvalidStamp)
        }
        let mut parts = text.split('.');
        let stamp = Self {
            inode: next(&mut parts)?,
            size: next(&mut parts)?,
            modified: Moment { seconds: next(&mut parts)?, nanos: next(&mut parts)? },
            changed: Moment { seconds: next(&mut parts)?, nanos: next(&mut parts)? },
        };
        if parts.next().is_some() { Err(InvalidStamp) } else { Ok(stamp) }
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_the_same_after_writing_and_reading_it() {
        let stamp = Stamp {
            inode: u64::MAX,
            size: 3,
            modified: Moment { seconds: -5, nanos: 7 },
            changed: Moment { seconds: 9, nanos: 999_999_999 },
        };
        assert_eq!(stamp.to_string().parse(), Ok(stamp));
        for text in ["", "1.2.3", "1.2.3.4.5.6.7", "1.2.3.4.5.x"] {
            assert_eq!(text.parse::<Stamp>(), Err(InvalidStamp));
        }
    }

    #[test]
    fn a_file_is_settling_until_the_clock_has_ticked() {
        let at = |seconds, nanos| Stamp { changed: Moment { seconds, nanos }, ..Stamp::default() };
        let now = UNIX_EPOCH + Duration::from_millis(10_500);
        assert!(at(10, 460_000_000).is_settling(now));
        assert!(!at(10, 440_000_000).is_settling(now));
        // Whole seconds point to a clock that has no others.
        assert!(at(9, 0).is_settling(now));
        assert!(!at(8, 0).is_settling(now));
        // A file from the future never settles.
        assert!(at(20, 1).is_settling(now));
    }
}
