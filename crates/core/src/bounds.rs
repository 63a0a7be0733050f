//! One place where every result is kept within limits.
//!
//! A [`Collector`] takes text as it comes, makes control characters visible,
//! keeps what the limit allows and writes the whole to a file as soon as
//! something has to go. Its memory depends on the limit, never on the output.

mod buffer;
mod collector;
mod limit;
mod spill;

pub use collector::Collector;
pub use limit::{Cap, Keep, Limit, Preset, Shape, Whole};
pub use spill::MOST_KEPT;

#[cfg(test)]
mod tests;
