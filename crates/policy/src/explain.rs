//! A decision with everything that led to it.

use std::cell::RefCell;

use serde::Serialize;

use crate::decision::Decision;
use crate::engine::Engine;
use crate::facts::Facts;
use crate::judge::Asked;
use crate::verdict::{RuleName, Verdict};
use crate::world::World;

/// A verdict, and what every rule had to say.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// What the rules were asked, one after another.
    pub asked: Vec<Explained>,
}

/// One thing the rules were asked about.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// What it is: a command, a path, a host, a tool.
    pub about: String,
    /// The rules about that tool, strongest first.
    pub rules: Vec<Considered>,
}

/// What one rule had to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Considered {
    /// The rule.
    pub rule: RuleName,
    /// What it would say.
    pub decision: Decision,
    /// Why it is not about this; nothing when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
}

impl Engine {
    /// Decides, and tells what every rule about the tool had to say.
    pub fn explain(&self, facts: &Facts, world: &dyn World) -> Explanation {
        let asked = RefCell::new(Vec::new());
        let verdict = self.judged(facts, world, Some(&asked));
        let asked = asked.into_inner().into_iter().map(explained).collect();
        Explanation { verdict, asked }
    }
}

fn explained(asked: Asked) -> Explained {
    let considered = |(rule, decision, mismatch)| Considered { rule, decision, mismatch };
    Explained { about: asked.about, rules: asked.rules.into_iter().map(considered).collect() }
}
