//! The servers behind the gate: what the settings say, ready to be started.

pub(crate) mod edit;
mod pinned;
mod prepared;
mod workspace;

pub(crate) use pinned::guarded;
pub(crate) use prepared::{Origin, Prepared, Servers};
pub(crate) use workspace::{OwnSettings, is_trusted, mcp_json_settings, own_settings};
