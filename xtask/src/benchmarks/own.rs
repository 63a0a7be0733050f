//! Benchmarks of our own crates, which print a figure a line.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::lab::{self, Lab};
use crate::process;

/// A benchmark of one of the crates.
pub(super) struct Bench<'a> {
    pub(super) lab: &'a Lab,
    pub(super) package: &'a str,
    pub(super) program: &'a str,
    /// The figure that is wanted of it.
    pub(super) name: &'a str,
}

impl Bench<'_> {
    pub(super) fn run(&self) -> Result<Figures> {
        process::capture(&mut self.command()).map(Figures)
    }

    pub(super) fn shown(&self) -> String {
        lab::shown(&self.command())
    }

    fn command(&self) -> Command {
        let mut command = self.lab.workspace.cargo(["bench", "--locked"]);
        command.args(["-p", self.package, "--bench", self.program, "--", self.name]);
        command
    }
}

/// What a benchmark printed, a figure a line: `NAME: NUMBER UNIT`.
pub(super) struct Figures(String);

impl Figures {
    pub(super) fn number(&self, name: &str, unit: &str) -> Result<f64> {
        let number = |line: &str| {
            let rest = line.strip_prefix(name)?.strip_prefix(": ")?;
            rest.strip_suffix(unit)?.trim_end().parse().ok()
        };
        self.0
            .lines()
            .find_map(number)
            .with_context(|| format!("the benchmark printed no `{name}: N {unit}`"))
    }

    pub(super) fn time(&self, name: &str, unit: &str) -> Result<Duration> {
        let nanoseconds = self.number(name, unit)?;
        Ok(Duration::try_from_secs_f64(nanoseconds / 1e9)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_by_its_name_and_unit() {
        let figures = Figures(
            "900 ns without, 4500 ns with\n\
             16 callers: 0.125 syncs per record\n\
             16 callers: 4210 ns per record\n\
             SQLite: 99000 ns per record\n"
                .to_owned(),
        );
        let unit = "ns per record";
        assert_eq!(figures.time("16 callers", unit).unwrap(), Duration::from_nanos(4210));
        assert_eq!(figures.time("SQLite", unit).unwrap(), Duration::from_micros(99));
        let syncs = figures.number("16 callers", "syncs per record").unwrap();
        assert!((syncs - 0.125).abs() < f64::EPSILON);
    }

    #[test]
    fn a_figure_that_is_missing_is_named() {
        let figures = Figures("idle: many ns per request\n".to_owned());
        let error = figures.time("idle", "ns per request").unwrap_err();
        assert_eq!(error.to_string(), "the benchmark printed no `idle: N ns per request`");
    }
}
