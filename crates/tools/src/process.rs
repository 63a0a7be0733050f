//! Commands while they run: what they are given, what they put out, how they end.

mod background;
mod environment;
mod hint;
mod inputs;
mod launch;
mod missing;
mod output;
mod overwritten;
mod report;
mod shells;
mod transcript;
mod watch;

pub(crate) use background::{Background, Job};

pub use environment::MoreVariables;
pub(crate) use environment::environment;
pub use inputs::existing_inputs;
pub(crate) use launch::{Launch, is_read_only, line_inputs, programs};
pub(crate) use output::Stream;
pub(crate) use overwritten::refuse_overwriting;
pub(crate) use report::{Ran, report, said, sandbox};
pub use shells::shell;
pub(crate) use watch::{End, Why, watch};
