//! The question asked of this crate.

use std::fmt;

use crate::facts::Facts;
use crate::veil::Veil;
use crate::verdict::Verdict;
use crate::world::World;

/// Decides about calls. Implementations are pure: the same facts in the same world, the same verdict.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn decide(&self, facts: &Facts, world: &dyn World) -> Verdict;

    /// What a search must leave out, however it was allowed: files that may not be read unasked.
    fn veil(&self) -> Veil {
        Veil::default()
    }
}
