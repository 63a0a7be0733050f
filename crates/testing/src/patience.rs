//! Waiting for something that happens sooner or later, depending on how busy the machine is.

use std::thread;
use std::time::{Duration, Instant};

/// The longest a test waits for something that must happen.
///
/// Far longer than it takes even on a machine that is busy with other work. A test that asserts
/// "this was quick" compares with this as well, and lets the slow alternative take for ever.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Waits until `holds` returns `true`.
///
/// # Panics
///
/// If it still returns `false` after [`PATIENCE`]; the message contains `what`.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "still not after {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_until_it_holds() {
        let mut asked = 0;
        eventually("asked three times", || {
            asked += 1;
            asked == 3
        });
        assert_eq!(asked, 3);
    }
}
