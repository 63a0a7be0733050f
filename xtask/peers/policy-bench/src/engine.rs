//! What engines have in common.

use std::hint::black_box;

use anyhow::{Result, bail};
use toolgate_policy::Decision;
use toolgate_policy::shell::{Reading, read};

use crate::workload::{Call, Kind, Rule};

/// An engine with its rules loaded.
pub trait Engine {
    /// Turns calls into what the engine takes, which is not timed.
    fn prepare(&mut self, kind: Kind, calls: &[Call]);

    /// Decides about the calls of a kind, in order, and hands each decision over.
    fn decide(&mut self, kind: Kind, take: &mut dyn FnMut(Decision)) -> Result<()>;
}

/// A call as an engine takes it that reads no shell: a question for each command.
pub struct Split<Q> {
    line: Option<String>,
    questions: Vec<Q>,
}

impl<Q> Split<Q> {
    pub fn new(call: &Call, questions: Vec<Q>) -> Self {
        Self { line: call.line.clone(), questions }
    }

    /// The strictest answer. Whoever asks about a line has to find its commands first, so a
    /// line is read by the reader that we use.
    pub fn strictest(&self, mut ask: impl FnMut(&Q) -> Result<Decision>) -> Result<Decision> {
        if let Some(line) = &self.line {
            let found = match black_box(read(black_box(line))) {
                Reading::Literal(line) => line.commands().len(),
                _ => 0,
            };
            if found != self.questions.len() {
                bail!("`{line}` was split into {found} commands");
            }
        }
        let mut strictest = Decision::Allow;
        for question in &self.questions {
            strictest = strictest.max(ask(question)?);
        }
        Ok(strictest)
    }
}

/// An engine to be loaded from text.
pub struct Dialect {
    pub name: &'static str,
    /// Rules as its users write them.
    pub write: fn(&[Rule]) -> String,
    /// From text to an engine that can decide.
    pub load: fn(&str) -> Result<Box<dyn Engine>>,
}
