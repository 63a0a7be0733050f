//! Tests that find more the longer they run.

use std::env;

/// The environment variable that makes tests take longer and try more.
pub const SOAK_VARIABLE: &str = "TOOLGATE_SOAK";

/// Returns how often a test repeats what it tries: `usual`, or `soak` if [`SOAK_VARIABLE`] is set.
pub fn repeats<T>(usual: T, soak: T) -> T {
    if env::var_os(SOAK_VARIABLE).is_some() { soak } else { usual }
}
