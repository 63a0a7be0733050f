//! The gate every tool call passes through.
//!
//! A [`Call`](call::Call) is resolved in the [`Registry`](registry::Registry),
//! validated, shown to hooks, judged by a policy, settled with a person where
//! the policy asks, and only then executed: the [`Permit`](gate::permit::Permit)
//! that execution takes has no public constructor. Whatever a tool returns is
//! bounded and made safe to show before anybody sees it.
//!
//! This crate holds no tools, speaks no protocol and draws no terminal. It
//! starts no process and opens no socket.
//!
//! Start reading at [`gate`], then [`tool`] for what an author writes.

pub mod approval;
pub mod attach;
pub mod attachment;
pub mod behind;
pub mod bounds;
pub mod call;
pub mod context;
pub mod dialect;
pub mod error;
pub mod event;
pub mod export;
pub mod gate;
pub mod grants;
pub mod hook;
pub mod id;
pub mod journal;
pub mod keeping;
pub mod ledger;
mod preview;
pub mod reach;
pub mod redact;
pub mod registry;
pub mod result;
pub mod schema;
pub mod seen;
pub mod services;
pub mod settings;
pub mod spawn;
mod state;
pub mod swap;
pub mod tool;
pub mod visible;
pub mod workspace;
pub mod world;

pub use toolgate_policy as policy;

/// What an author of tools needs.
pub mod prelude {
    pub use crate::bounds::Shape;
    pub use crate::context::CallContext;
    pub use crate::dialect::{Dialect, Face};
    pub use crate::error::{ErrorKind, ToolError};
    pub use crate::result::ToolResult;
    pub use crate::tool::{Annotations, Concurrency, Group, Input, Invocation, Location, Preview};
    pub use crate::workspace::ResolvedPath;
    pub use toolgate_policy::{Access, Risk};
}
