//! What stands at a path, looked at and put back without following a link.
//!
//! Paths here are real paths that were judged once. Whoever swaps a folder on
//! the way for a link gets a refusal, and nothing but regular files is opened.

mod look;
mod place;
mod put;
mod stamp;
mod version;

pub(crate) use look::{KnownHashes, Looking, look};
pub(crate) use place::{Place, open_regular, stat_entry};
pub(crate) use put::{PutError, put};
pub(crate) use stamp::{Moment, Stamp};
pub(crate) use version::{Kind, Version, same};
