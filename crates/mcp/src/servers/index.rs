//! Which tools of servers are told of unasked.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use toolgate_core::context::Session;
use toolgate_core::id::ToolName;

/// Which tools of servers are told of unasked: all, or, where there are many, those that a
/// session looked up.
#[derive(Debug)]
pub(crate) struct Index {
    /// With more tools than this, they have to be looked up.
    most: usize,
    tools: AtomicUsize,
}

/// The tools that a session looked up.
#[derive(Debug, Default)]
struct LookedUp(Mutex<HashSet<ToolName>>);

impl Index {
    pub(super) fn new(most: usize) -> Self {
        Self { most, tools: AtomicUsize::new(0) }
    }

    /// Notes how many tools there are.
    pub(super) fn count(&self, tools: usize) {
        self.tools.store(tools, Ordering::Relaxed);
    }

    /// Whether there are so many that they have to be looked up.
    pub(super) fn is_large(&self) -> bool {
        self.tools.load(Ordering::Relaxed) > self.most
    }

    /// Whether a session is told of a tool.
    pub(super) fn is_listed(&self, tool: &ToolName, session: &Session) -> bool {
        !self.is_large() || session.state::<LookedUp>().lock().contains(tool)
    }

    /// Tells a session of tools from now on; whether that is new to it.
    pub(super) fn look_up(tools: &[ToolName], session: &Session) -> bool {
        let state = session.state::<LookedUp>();
        let mut known = state.lock();
        let before = known.len();
        known.extend(tools.iter().cloned());
        known.len() > before
    }
}

impl LookedUp {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<ToolName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
