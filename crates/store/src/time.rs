//! Moments as numbers.

use std::time::{Duration, SystemTime};

/// Microseconds since 1970.
pub(crate) fn micros(at: SystemTime) -> i64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The moment that many microseconds after 1970.
pub(crate) fn moment(micros: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
