//! Other servers behind the gate.
//!
//! [`Servers`] keeps them running and their tools in a registry, under the same validation, policy,
//! approvals, bounding and ledger as any other. Start reading at `upstream`, which is one server,
//! then `tool`, which is one tool of it.

mod addresses;
mod all;
mod answering;
mod asked;
mod ears;
mod explicit;
mod find_tools;
mod index;
mod life;
mod listed;
mod name;
mod offering;
mod once;
mod pinned;
mod questions;
mod result;
mod roots;
mod settings;
mod shared;
mod texts;
mod tool;
mod upstream;

pub use all::{Health, Servers, Status};
pub use find_tools::Finder;
pub use listed::{Naming, Quarantined};
pub use name::{InvalidServerName, ServerName};
pub use offering::Gateway;
pub use settings::{Entry, ServersSettings};
