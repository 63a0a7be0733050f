//! Whether a server still says what it said when a tool was first used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use similar::TextDiff;
use toolgate_core::keeping::{KeepingError, Pins, ServerKey};
use toolgate_core::visible;

/// A longer difference is cut.
const MOST_LINES: usize = 5_000;

/// What a server said about its tools when these were first used.
#[derive(Debug)]
pub(super) struct Pinned {
    server: ServerKey,
    kept: Option<Arc<dyn Pins>>,
    /// What is known to be kept, so that most calls need not look.
    known: Mutex<HashMap<String, Arc<str>>>,
}

/// How what is said compares with what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Compared {
    /// The tool was never used.
    First,
    /// It is the same.
    Same,
    /// It is something else than this.
    Changed(String),
}

impl Pinned {
    /// What the server of this key said. Without somewhere to keep it, it is kept in memory.
    pub(super) fn new(server: ServerKey, kept: Option<Arc<dyn Pins>>) -> Self {
        Self { server, kept, known: Mutex::default() }
    }

    /// Compares what is said about a tool now.
    pub(super) fn compare(&self, tool: &str, said: &Arc<str>) -> Result<Compared, KeepingError> {
        if self.lock().get(tool) == Some(said) {
            return Ok(Compared::Same);
        }
        // Another process may have asked meanwhile.
        let kept = match &self.kept {
            Some(kept) => kept.pinned(&self.server, tool)?,
            None => self.lock().get(tool).map(ToString::to_string),
        };
        Ok(match kept {
            None => Compared::First,
            Some(before) if before == **said => {
                self.lock().insert(tool.to_owned(), Arc::clone(said));
                Compared::Same
            }
            Some(before) => Compared::Changed(before),
        })
    }

    /// Keeps what is said about a tool from now on.
    pub(super) fn keep(&self, tool: &str, said: &Arc<str>) -> Result<(), KeepingError> {
        if let Some(kept) = &self.kept {
            kept.pin(&self.server, tool, said)?;
        }
        self.lock().insert(tool.to_owned(), Arc::clone(said));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<str>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is different, as a person reads it.
pub(super) fn difference(before: &str, now: &str) -> String {
    let (before, now) = (visible::question(before), visible::question(now));
    let whole = TextDiff::from_lines(before.as_str(), now.as_str());
    let whole =
        whole.unified_diff().context_radius(2).header("as it was", "as it is now").to_string();
    let mut lines: Vec<&str> = whole.lines().collect();
    let left = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut shown = lines.join("\n");
    if left > 0 {
        shown.push_str(&format!("\n[{left} more lines]"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_anew_is_noticed_once_it_was_used() {
        let server = ServerKey { name: "a".into(), way: "b".into() };
        let pinned = Pinned::new(server, None);
        let (first, second): (Arc<str>, Arc<str>) = ("adds\n".into(), "wipes\n".into());
        assert_eq!(pinned.compare("add", &first).unwrap(), Compared::First);
        pinned.keep("add", &first).unwrap();
        assert_eq!(pinned.compare("add", &first).unwrap(), Compared::Same);
        let changed = pinned.compare("add", &second).unwrap();
        assert_eq!(changed, Compared::Changed("adds\n".to_owned()));
        assert_eq!(
            difference(&first, &second),
            "--- as it was\n+++ as it is now\n@@ -1 +1 @@\n-adds\n+wipes"
        );
        pinned.keep("add", &second).unwrap();
        assert_eq!(pinned.compare("add", &second).unwrap(), Compared::Same);
        assert!(matches!(pinned.compare("add", &first).unwrap(), Compared::Changed(_)));
    }
}
