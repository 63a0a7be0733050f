//! What engines have in common.

use anyhow::Result;
use toolgate_policy::Decision;

use crate::workload::{Call, Kind, Rule};

/// An engine with its rules loaded.
pub trait Engine {
    /// Turns calls into what the engine takes, which is not timed.
    fn prepare(&mut self, kind: Kind, calls: &[Call]);

    /// Decides about the calls of a kind, in order, and hands each decision over.
    fn decide(&mut self, kind: Kind, take: &mut dyn FnMut(Decision)) -> Result<()>;
}

/// An engine to be loaded from text.
pub struct Dialect {
    pub name: &'static str,
    /// Rules as its users write them.
    pub write: fn(&[Rule]) -> String,
    /// From text to an engine that can decide.
    pub load: fn(&str) -> Result<Box<dyn Engine>>,
}
