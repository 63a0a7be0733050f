//! Time that a thread spent working.

use std::fs;
use std::time::Duration;

/// Returns how long this thread has run on a processor.
///
/// Other work on the machine does not make it longer, so a test can compare it with a limit that
/// tells "linear" from "quadratic".
///
/// # Panics
///
/// If `/proc` cannot be read.
pub fn processor_time() -> Duration {
    // The first number is in nanoseconds; kernels without statistics have none.
    let precise = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let precise = precise.and_then(|text| text.split(' ').next()?.parse().ok());
    precise.map_or_else(in_ticks, Duration::from_nanos)
}

/// The same in hundredths of a second.
fn in_ticks() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/stat").expect("there is a /proc");
    let (_, fields) = stat.rsplit_once(')').expect("the name of the program is in parentheses");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn work_for(time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time {
            std::hint::black_box(0);
        }
    }

    #[test]
    fn grows_with_work_and_not_with_waiting() {
        for time in [processor_time, in_ticks] {
            let before = time();
            std::thread::sleep(Duration::from_millis(300));
            let waited = time().saturating_sub(before);
            assert!(waited < Duration::from_millis(200), "{waited:?}");
            while time().saturating_sub(before) < Duration::from_millis(50) {
                work_for(Duration::from_millis(20));
            }
        }
    }
}
