//! Text files in any encoding.

mod encoding;
mod lines;
mod wide;

pub(crate) use encoding::{Decoded, Encoding, decode, looks_binary};
pub(crate) use lines::{LineRange, SliceError, slice};
