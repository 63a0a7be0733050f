//! A page as it came.

use super::place::Place;

/// A page as it came.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// Where it was in the end.
    pub(crate) place: Place,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}
