//! The folder a session works in, and the one way to reach a file.
//!
//! A path from a model is first resolved: every symbolic link is followed by
//! the kernel and the real path is what the policy judges. Opening then takes
//! that real path and refuses any symbolic link on it, so what is opened is
//! what was judged even when somebody swaps a folder for a link in between.
//! Only regular files are opened; pipes, devices, sockets and most of `/proc`
//! are refused before a byte is read.

mod descend;
mod fingerprint;
mod open;
mod replace;
mod resolve;
mod roots;
mod scope;
mod version;

pub use descend::{open_absolute, open_beneath};
pub(crate) use fingerprint::Fingerprint;
pub use open::{OpenError, OpenFile};
pub use replace::{Finish, Replacement};
pub use resolve::{FileKind, Follow, ResolveError, ResolvedPath};
pub use roots::{OpenWorkspaceError, Workspace};
pub use scope::Purpose;
pub use version::Version;

#[cfg(test)]
mod tests;
