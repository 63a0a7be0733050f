//! Programs that are not ours, as `cargo xtask test` installs them.

use std::env;
use std::path::PathBuf;

use toolgate_testing::skip;

/// The folder that `cargo xtask test` installed what a test needs into, and names by a variable.
/// Where there is none, the test is reported as skipped; `cargo xtask test` says why.
pub(crate) fn installed(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        skip(format!("{variable} is not set; `cargo xtask test` installs what this needs"));
    }
    folder
}
