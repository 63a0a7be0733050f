//! Toolgate's built-in tools, one file each.
//!
//! Files are reached through the workspace's path layer alone, and nothing
//! here asks for permission: a tool states what it touches and the gate
//! decides. To add a tool, write its file and add one line to [`all`].

pub mod files;
pub mod search;

mod content;
mod edit;
mod paths;
mod pattern;
mod preview;
mod text;
mod tree;

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::registry::Registry;
use toolgate_core::tool::{Tool, typed};

/// Every built-in tool.
///
/// # Errors
///
/// When a tool has a name no tool can have; the tests rule that out.
pub fn all() -> Result<Vec<Arc<dyn Tool>>, InvalidToolName> {
    Ok(vec![
        typed::<files::read_file::ReadFile>()?,
        typed::<files::read_many_files::ReadManyFiles>()?,
        typed::<files::write_file::WriteFile>()?,
        typed::<files::edit_file::EditFile>()?,
        typed::<files::delete_file::DeleteFile>()?,
        typed::<search::glob::Glob>()?,
        typed::<search::grep::Grep>()?,
        typed::<search::ls::Ls>()?,
    ])
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
