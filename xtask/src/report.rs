//! The end of a test run: what failed, and what was skipped and why.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, bail};

/// The result of running all tests.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The lines in which the runner sums up.
    pub(crate) closing: Vec<String>,
    /// The names of what failed.
    pub(crate) failed: Vec<String>,
    /// The reason of each skipped test, with the names of the tests.
    skipped: BTreeMap<String, Vec<String>>,
}

impl Report {
    /// Adds tests that did not run at all.
    pub(crate) fn skip(&mut self, tests: &str, reason: &str) {
        self.skipped.entry(reason.to_owned()).or_default().push(tests.to_owned());
    }

    /// Prints the report.
    ///
    /// # Errors
    ///
    /// If something failed.
    pub(crate) fn finish(&self) -> Result<()> {
        println!("\n{self}");
        match self.failed.len() {
            0 => Ok(()),
            count => bail!("{count} failed"),
        }
    }

    /// Adds what tests reported as skipped, one `test: reason` a line.
    pub(crate) fn add_skipped(&mut self, lines: &str) {
        for line in lines.lines() {
            let (test, reason) = line.split_once(": ").unwrap_or((line, "no reason given"));
            self.skip(test, reason);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.closing {
            writeln!(formatter, "{line}")?;
        }
        if !self.skipped.is_empty() {
            writeln!(formatter, "\n*** SKIPPED, with the reasons ***")?;
        }
        for (reason, tests) in &self.skipped {
            writeln!(formatter, "{reason}")?;
            let mut tests = tests.clone();
            tests.sort();
            tests.dedup();
            for test in tests {
                writeln!(formatter, "    {test}")?;
            }
        }
        if !self.failed.is_empty() {
            writeln!(formatter, "\n*** FAILED ***")?;
        }
        for name in &self.failed {
            writeln!(formatter, "    {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_trouble_is_its_closing_lines() {
        let report = Report { closing: vec!["Summary [ 1s]".to_owned()], ..Report::default() };
        assert_eq!(report.to_string(), "Summary [ 1s]\n");
    }

    #[test]
    fn skipped_tests_are_listed_below_their_reason_and_failed_ones_last() {
        let mut report = Report { closing: vec!["Summary".to_owned()], ..Report::default() };
        report.failed.push("toolgate-sandbox::it table::x".to_owned());
        report.skip("the tests with npm", "there is no `npm`: not found");
        report.add_skipped("b y: no mount\na x: no mount\na x: no mount\nc z: no gcc: none\n");
        assert_eq!(
            report.to_string(),
            "Summary\n\
             \n*** SKIPPED, with the reasons ***\n\
             no gcc: none\n    c z\n\
             no mount\n    a x\n    b y\n\
             there is no `npm`: not found\n    the tests with npm\n\
             \n*** FAILED ***\n    toolgate-sandbox::it table::x\n"
        );
    }
}
