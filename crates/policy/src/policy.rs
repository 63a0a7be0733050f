//! The question asked of this crate.

use std::fmt;

use crate::facts::Facts;
use crate::propose::Proposed;
use crate::veil::Veil;
use crate::verdict::Verdict;
use crate::world::World;

/// Decides about calls. Implementations are pure: the same facts in the same world, the same verdict.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn decide(&self, facts: &Facts, world: &dyn World) -> Verdict;

    /// Rules a person could give in answer to the question about a call, the narrowest first.
    ///
    /// Each would let this very call run. There are none where a call is not asked about, and
    /// none where nothing narrow enough says what it would allow.
    fn proposals(&self, _facts: &Facts, _world: &dyn World) -> Vec<Proposed> {
        Vec::new()
    }

    /// What a search must leave out, however it was allowed: files that may not be read unasked.
    fn veil(&self) -> Veil {
        Veil::default()
    }
}
