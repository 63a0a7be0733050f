//! The servers behind the gate: what the settings say, ready to be started.

pub(crate) mod edit;
mod expand;
mod mcp_json;
mod prepared;
mod workspace;

pub(crate) use prepared::{Origin, Prepared, Servers};
pub(crate) use workspace::{OwnSettings, is_trusted, mcp_json_settings, own_settings};
