//! Toolgate's built-in tools, one file each.
//!
//! Files are reached through the workspace's path layer alone, and nothing
//! here asks for permission: a tool states what it touches and the gate
//! decides. To add a tool, write its file and add one line to the list of its
//! group, such as `files.rs` or `search.rs`.

/// Declares the tools of a group: a module each, and the list a registry is made from.
macro_rules! tools {
    ($($module:ident::$tool:ident,)*) => {
        $(pub mod $module;)*

        /// Every tool of this group.
        pub(crate) fn tools() -> Result<Vec<Arc<dyn Tool>>, InvalidToolName> {
            Ok(vec![$(typed::<$module::$tool>()?),*])
        }
    };
}

pub mod discovered;
pub mod exec;
pub mod files;
pub mod goals;
pub mod meta;
pub mod planning;
pub mod remembering;
pub mod search;
pub mod web;

mod at_once;
mod content;
mod edit;
mod formats;
mod keeping;
mod known;
mod notebook;
mod paths;
mod pattern;
mod preview;
mod process;
mod reading;
pub mod settings;
mod text;
mod tree;

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::registry::Registry;
use toolgate_core::tool::Tool;

pub use crate::formats::helper;
pub use crate::known::ChangedFiles;
pub use crate::preview::diff;
pub use crate::process::{MoreVariables, existing_inputs, shell};

/// Every built-in tool.
///
/// # Errors
///
/// When a tool has a name no tool can have; the tests rule that out.
pub fn all() -> Result<Vec<Arc<dyn Tool>>, InvalidToolName> {
    let mut tools = files::tools()?;
    tools.extend(search::tools()?);
    tools.extend(exec::tools()?);
    tools.extend(meta::tools()?);
    tools.extend(remembering::tools()?);
    tools.extend(planning::tools()?);
    tools.extend(goals::tools()?);
    tools.extend(web::tools()?);
    Ok(tools)
}

/// A registry with every built-in tool.
///
/// # Errors
///
/// When two tools share a name; the tests rule that out.
pub fn registry() -> Result<Registry, Box<dyn std::error::Error + Send + Sync>> {
    let registry = Registry::new();
    for tool in all()? {
        registry.register(tool)?;
    }
    Ok(registry)
}

#[cfg(test)]
mod tests;
