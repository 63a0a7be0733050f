//! Everything in some folders, so that what a command changed can be found.
//!
//! Small files are kept whole, others are known by what the file system says
//! about them. What is not listed at all is remembered, too: nothing below
//! it can be mistaken for something that a command made.

mod compare;
mod ignoring;
mod manifest;
mod tree;
mod walk;

pub(crate) use compare::compare;
pub(crate) use manifest::{parse, render};
pub(crate) use tree::Limits;
pub(crate) use walk::{Known, scan};
