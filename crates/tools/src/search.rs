//! Finding files and text.

pub mod glob;
pub mod grep;
pub mod ls;
