//! Taking back what calls changed.
//!
//! First everything is checked: which calls are meant, whether each file still
//! is what the call left, whether what was there before is whole. Only then
//! anything is written, and what cannot be finished is put back. An undo is
//! kept like any other change, so it can be taken back itself.

mod apply;
mod difference;
mod plan;
mod report;
mod select;

pub(crate) use apply::apply;
pub use difference::LineCounts;
pub(crate) use difference::{counts, unified};
pub(crate) use plan::{Plan, Step, plan};
pub use report::{Action, Conflict, Reason, Refusal, Taken, UndoError, Undone, Unrestored};
pub(crate) use select::select;
pub use select::{Force, Target, UndoRequest};
