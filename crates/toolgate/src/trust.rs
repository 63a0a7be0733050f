//! Whether a folder may bring settings of its own.
//!
//! `trusted_folders.json` holds the user's answers, one a folder. Of several answers about a
//! folder the most specific holds; without one a folder is not trusted, and nothing in its
//! `.toolgate` is used.

mod accepted;
mod answers;
mod bring;
mod question;
mod record;

pub(crate) use accepted::is_accepted;
pub(crate) use answers::{Answers, Entry, Standing, Trust};
pub(crate) use bring::{Brought, MEANING};
pub(crate) use question::settle;
pub(crate) use record::{FILE, record, remove};
