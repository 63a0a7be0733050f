//! A benchmark, and the row of the report it ends in.

use std::time::Duration;

use anyhow::Result;

use super::lab::Lab;

/// Something to measure, with a name to choose it by.
pub(super) struct Benchmark {
    pub(super) name: &'static str,
    pub(super) run: Measure,
}

type Measure = Box<dyn Fn(&Lab) -> Result<Row>>;

impl Benchmark {
    pub(super) fn new(name: &'static str, run: impl Fn(&Lab) -> Result<Row> + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// One line of a table: what was measured and whether it is good enough.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) ours: String,
    pub(super) peer: String,
    pub(super) ratio: String,
    pub(super) limit: String,
    /// What was compared besides time, e.g. the matches of both sides.
    pub(super) checked: String,
    pub(super) passed: bool,
    /// Not measured, although nothing went wrong.
    pub(super) skipped: bool,
    /// The commands that were timed, ours first.
    pub(super) commands: Vec<String>,
}

impl Row {
    /// Our median against a peer's.
    pub(super) fn versus(ours: Duration, peer: Duration, peer_name: &str, limit: f64) -> Self {
        let ratio = ours.as_secs_f64() / peer.as_secs_f64();
        Self {
            ours: render_time(ours),
            peer: format!("{} ({peer_name})", render_time(peer)),
            ratio: render_ratio(ratio),
            limit: format!("{limit:.2}"),
            passed: ratio <= limit,
            ..Self::not_measured()
        }
    }

    /// Our median against a peer's, which it may exceed by a ratio and so much more.
    pub(super) fn versus_with(
        ours: Duration,
        peer: Duration,
        peer_name: &str,
        limit: f64,
        above: Duration,
    ) -> Self {
        Self {
            limit: format!("{limit:.2} + {}", render_time(above)),
            passed: ours <= peer.mul_f64(limit) + above,
            ..Self::versus(ours, peer, peer_name, limit)
        }
    }

    /// Our time against a fixed limit.
    pub(super) fn within(ours: Duration, limit: Duration) -> Self {
        Self {
            ours: render_time(ours),
            limit: render_time(limit),
            passed: ours <= limit,
            ..Self::not_measured()
        }
    }

    /// Our count, of bytes or the like, against a fixed limit.
    pub(super) fn at_most(ours: f64, limit: f64, unit: &str) -> Self {
        Self {
            ours: format!("{} {unit}", render_count(ours)),
            limit: format!("{} {unit}", render_count(limit)),
            passed: ours <= limit,
            ..Self::not_measured()
        }
    }

    /// What cannot be measured on this machine, which is said aloud.
    pub(super) fn skipped(reason: &str) -> Self {
        eprintln!("\n*** SKIPPED: {reason} ***\n");
        Self { checked: reason.to_owned(), skipped: true, ..Self::not_measured() }
    }

    pub(super) fn not_measured() -> Self {
        Self {
            name: "",
            ours: "–".to_owned(),
            peer: "–".to_owned(),
            ratio: "–".to_owned(),
            limit: "–".to_owned(),
            checked: "–".to_owned(),
            passed: false,
            skipped: false,
            commands: Vec::new(),
        }
    }

    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Adds a comparison of results, which must hold too.
    pub(super) fn checked(self, text: String, holds: bool) -> Self {
        Self { checked: text, passed: self.passed && holds, ..self }
    }

    pub(super) fn with_commands(self, commands: Vec<String>) -> Self {
        Self { commands, ..self }
    }

    pub(super) fn verdict(&self) -> &'static str {
        match (self.skipped, self.passed) {
            (true, _) => "skipped",
            (false, true) => "pass",
            (false, false) => "**fail**",
        }
    }

    /// Whether it was measured, or should have been, and is not good enough.
    pub(super) fn is_missed(&self) -> bool {
        !self.passed && !self.skipped
    }

    /// One line for the terminal while benchmarks run.
    pub(super) fn brief(&self) -> String {
        format!(
            "{} against {}, ratio {}, limit {}, checked {}: {}",
            self.ours,
            self.peer,
            self.ratio,
            self.limit,
            self.checked,
            self.verdict()
        )
    }
}

fn render_ratio(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

fn render_count(count: f64) -> String {
    if count < 10.0 { format!("{count:.2}") } else { format!("{count:.0}") }
}

fn render_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 100e-6 {
        format!("{:.2} µs", seconds * 1e6)
    } else if seconds < 10e-3 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_up_to_the_limit_passes() {
        let second = Duration::from_secs(1);
        assert!(Row::versus(second, second, "rg", 1.0).passed);
        assert!(!Row::versus(second, Duration::from_millis(900), "rg", 1.05).passed);
    }

    #[test]
    fn a_time_above_the_ratio_passes_up_to_the_limit() {
        let millis = Duration::from_millis;
        let row = |ours| Row::versus_with(millis(ours), millis(100), "bare", 1.15, millis(30));
        assert!(row(145).passed && !row(146).passed);
        assert_eq!(row(145).limit, "1.15 + 30.0 ms");
    }

    #[test]
    fn a_result_that_differs_fails_whatever_the_time() {
        let second = Duration::from_secs(1);
        let row = Row::versus(second, second, "rg", 1.0).checked("1 ≠ 2".to_owned(), false);
        assert!(!row.passed);
    }

    #[test]
    fn a_time_within_the_limit_passes() {
        let limit = Duration::from_micros(10);
        assert!(Row::within(Duration::from_micros(9), limit).passed);
        assert!(!Row::within(Duration::from_micros(11), limit).passed);
    }

    #[test]
    fn a_count_up_to_the_limit_passes() {
        let row = Row::at_most(0.126, 0.3, "a record");
        assert!(row.passed);
        assert_eq!((row.ours.as_str(), row.limit.as_str()), ("0.13 a record", "0.30 a record"));
        let row = Row::at_most(1025.0, 1024.0, "bytes");
        assert!(!row.passed);
        assert_eq!(row.ours, "1025 bytes");
    }

    #[test]
    fn what_is_skipped_is_neither_passed_nor_missed() {
        let row = Row::skipped("there is no node");
        assert!(!row.passed && !row.is_missed());
        assert_eq!((row.verdict(), row.checked.as_str()), ("skipped", "there is no node"));
        assert!(Row::not_measured().is_missed());
    }

    #[test]
    fn small_ratios_are_told_apart() {
        assert_eq!(render_ratio(0.876), "0.88");
        assert_eq!(render_ratio(0.000_23), "0.0002");
    }

    #[test]
    fn times_are_rendered_to_be_read() {
        assert_eq!(render_time(Duration::from_nanos(4_210)), "4.21 µs");
        assert_eq!(render_time(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(render_time(Duration::from_millis(1_259)), "1259.0 ms");
    }
}
