//! What waits for a person.

use toolgate_store::Audit;
use toolgate_store::approvals::Desk;

use super::report::{Finding, Topic, count};
use crate::home;
use crate::prompt;

pub(super) fn look() -> Topic {
    Topic::new("approvals", waiting().into_iter().collect())
}

/// What waits, where there is a store that can be read; what is wrong with it is told elsewhere.
fn waiting() -> Option<Finding> {
    let folder = home::state().ok()?;
    let none = || Finding::ok("waiting", "nothing waits for an answer");
    // Nobody asked where nothing was ever recorded, and a desk would make the store.
    if Audit::open(&folder).ok()?.is_none() {
        return Some(none());
    }
    let pending = Desk::open(&folder).ok()?.pending().ok()?;
    let Some(oldest) = pending.first() else { return Some(none()) };
    let number = count(pending.len(), "request waits", "requests wait");
    let seen = format!("{number} for an answer, the oldest for {}", prompt::span(oldest.waited));
    let means = "whoever asked goes on when it is answered, or gives up in time";
    Some(Finding::warning("waiting", seen, means, "toolgate approvals"))
}
