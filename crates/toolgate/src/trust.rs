//! Whether a folder may bring settings of its own.
//!
//! `trusted_folders.json` holds the user's answers, one a folder. Of several answers about a
//! folder the most specific holds; without one a folder is not trusted, and nothing in its
//! `.toolgate` is used. What a trusted folder brings counts as it was when the user accepted it.

mod accepted;
mod answers;
mod bring;
mod content;
pub(crate) mod programs;
mod question;
mod record;
mod review;
mod snapshot;

pub(crate) use accepted::{Accepted, Version, path as accepted_file};
pub(crate) use answers::{Answers, Entry, Standing, Trust};
pub(crate) use bring::{Brought, MEANING};
pub(crate) use programs::ProgramFile;
pub(crate) use question::settle;
pub(crate) use record::{FILE, record, remove};
pub(crate) use review::{Review, few};
pub(crate) use snapshot::{is_policy, policies, policy_name};
