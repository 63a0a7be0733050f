//! Tests that cannot run on this machine.

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;

/// The environment variable with the file that skipped tests are appended to.
///
/// `cargo xtask test` sets it: test runners do not show the output of tests that pass.
pub const SKIPPED_VARIABLE: &str = "TOOLGATE_TEST_SKIPPED";

/// Reports that this test, or the part of it named by `reason`, does not run on this machine.
///
/// The caller returns or goes on with the next part.
#[expect(clippy::print_stderr, reason = "shown where the output of tests is shown")]
pub fn skip(reason: impl Display) {
    let line = line(&test_name(), &reason.to_string());
    eprintln!("\n*** SKIPPED {line} ***\n");
    if let Some(path) = env::var_os(SKIPPED_VARIABLE) {
        // A test that runs itself as another user may not be allowed to.
        append(Path::new(&path), &line).ok();
    }
}

/// Appends a line in one write, so that lines of tests that run side by side do not mix.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

fn line(test: &str, reason: &str) -> String {
    let reason: Vec<&str> = reason.split_whitespace().collect();
    format!("{test}: {}", reason.join(" "))
}

/// The name of the test that runs in this thread, as far as the test runner tells.
fn test_name() -> String {
    let program = env::current_exe().unwrap_or_default();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| program.display().to_string());
    let test = env::var("NEXTEST_TEST_NAME").ok();
    let test = test.or_else(|| thread::current().name().map(str::to_owned));
    format!("{package} {}", test.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_reason_takes_one_line() {
        assert_eq!(line("a b::c", "no\n  mount: denied\n"), "a b::c: no mount: denied");
    }

    #[test]
    fn the_test_is_named() {
        let name = test_name();
        assert!(name.starts_with("toolgate-testing "), "{name}");
        assert!(name.ends_with("the_test_is_named"), "{name}");
    }

    #[test]
    fn lines_are_appended() {
        let path = env::temp_dir().join(format!("toolgate-skipped-{}", std::process::id()));
        append(&path, "one").unwrap();
        append(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::remove_file(path).unwrap();
    }
}
