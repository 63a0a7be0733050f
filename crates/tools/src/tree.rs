//! Walking folders as ripgrep does: in parallel, with nested ignore files.
//!
//! A folder is opened from the folder above it by descriptor and never through
//! a symbolic link, so a walk cannot be led out of where it began. Names of
//! ignore files are seen while listing, which saves looking for them.

mod folder;
mod ignores;
mod line;
mod processors;
mod rules;
mod walk;

pub(crate) use folder::{Folder, Kind, is_never_entered};
pub(crate) use walk::{Flow, Found, Unread, Visit, WalkOptions, walk};
