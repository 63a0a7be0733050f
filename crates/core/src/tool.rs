//! What an author of tools writes.
//!
//! A tool is one type that implements [`Invocation`]: its parameters, what it
//! says about a call before anything happens, and what it then does.
//! [`typed`] turns it into the [`Tool`] a registry holds.

mod definition;
mod erased;
mod invocation;

pub use definition::{Annotations, Definition, Group, ServerTool};
pub use erased::{Authority, DynInvocation, Tool, typed};
pub use invocation::{Concurrency, Input, Invocation, Location};

pub use crate::preview::Preview;
