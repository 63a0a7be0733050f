//! Programs that are not ours, as `cargo xtask test` installs them.

use std::env;
use std::path::PathBuf;

/// The folder that `cargo xtask test` installed what a test needs into, and names by a variable.
/// Where there is none, that is said aloud; in CI it fails.
pub(crate) fn installed(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        let skipped = format!("`cargo xtask test` installs what this needs, and sets {variable}");
        assert!(env::var_os("CI").is_none_or(|value| value == "false"), "{skipped}");
        eprintln!("\n*** SKIPPED: {skipped} ***\n");
    }
    folder
}
