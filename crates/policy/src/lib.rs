//! Facts about a tool call in, a decision out.
//!
//! This crate decides whether a call may run. It starts no process, opens no
//! socket, knows no clock and looks at no file: whatever a decision depends on
//! is handed to it as [`Facts`] and a [`World`].
//!
//! Start reading at [`Policy`], the one question asked of this crate, then
//! [`Engine`], the answer: [`rule::Rule`]s from policy files ([`load`]) in
//! [`table`]s, the [`Mode`], and floors that no ordinary rule can lower.
//! [`shell`] finds out what a command line would run.

pub mod approved;
pub mod decision;
pub mod defaults;
pub mod effect;
pub mod engine;
pub mod explain;
pub mod facts;
pub mod floor;
pub mod granted;
pub mod host;
#[cfg(feature = "import")]
pub mod import;
mod judge;
mod level;
pub mod load;
pub mod mode;
pub mod name;
pub mod needs;
pub mod pattern;
pub mod permissions;
pub mod policy;
pub mod profile;
pub mod propose;
pub mod question;
pub mod rule;
pub mod shell;
pub mod table;
pub mod veil;
pub mod verdict;
pub mod vocabulary;
pub mod wildcard;
pub mod world;

pub use decision::Decision;
pub use effect::{Access, Effect, PathFact, Place, Risk, Scope};
pub use engine::Engine;
pub use facts::Facts;
pub use level::{Level, UnknownLevel};
pub use mode::Mode;
pub use policy::Policy;
pub use verdict::Verdict;
pub use world::World;

/// The guide's example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/policy.md")]
struct Guide;
