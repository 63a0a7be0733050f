//! Support for tests, so that they pass on machines other than the one they were written on.
//!
//! A dev-dependency of the other crates; it depends on none of them.

mod elsewhere;
mod git;
mod patience;
mod process;
mod skip;
mod soak;
mod time;

pub use elsewhere::elsewhere;
pub use git::git;
pub use patience::{PATIENCE, eventually};
pub use process::{Process, processes, unique_sleep};
pub use skip::{SKIPPED_VARIABLE, skip};
pub use soak::{SOAK_VARIABLE, repeats};
pub use time::processor_time;
