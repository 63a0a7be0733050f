//! How long an exchange has been waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::error::ClientError;

/// Measures the time a server takes. The time that answers to its questions take does not count.
#[derive(Debug)]
pub(super) struct Clock {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    begun: Instant,
    last_sign: Instant,
    had_progress: bool,
    /// How many questions are open, and since when there is one.
    held: usize,
    held_since: Instant,
    /// How long questions were open in all.
    held_for: Duration,
}

impl Clock {
    /// A clock that begins now.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        let state = State {
            begun: now,
            last_sign: now,
            had_progress: false,
            held: 0,
            held_since: now,
            held_for: Duration::ZERO,
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// The server gave a sign of life.
    pub(super) fn progressed(&self) {
        let mut state = self.lock();
        state.last_sign = Instant::now();
        state.had_progress = true;
    }

    /// Stands still until the guard is dropped.
    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        let mut state = self.lock();
        if state.held == 0 {
            state.held_since = Instant::now();
        }
        state.held += 1;
        Hold(Arc::clone(self))
    }

    /// Waits until the server has had more time than it may have.
    pub(super) async fn run_out(&self, patience: Duration, most: Duration) -> ClientError {
        loop {
            let deadline = {
                let state = self.lock();
                let silent = later(state.last_sign, patience);
                let in_all = later(state.begun, most.saturating_add(state.held_for));
                let deadline = silent.min(in_all);
                if state.held > 0 {
                    None
                } else if deadline <= Instant::now() {
                    let after = if silent <= in_all { patience } else { most };
                    return ClientError::TimedOut { after, had_progress: state.had_progress };
                } else {
                    Some(deadline)
                }
            };
            match deadline {
                Some(deadline) => tokio::select! {
                    () = sleep_until(deadline) => {}
                    () = self.changed.notified() => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A moment later; one that never comes is far enough away.
fn later(from: Instant, by: Duration) -> Instant {
    const AGES: Duration = Duration::from_hours(30 * 365 * 24);
    from.checked_add(by.min(AGES)).unwrap_or(from)
}

/// A question that is open.
#[derive(Debug)]
pub(super) struct Hold(Arc<Clock>);

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.held = state.held.saturating_sub(1);
        if state.held == 0 {
            let now = Instant::now();
            let held_for = now.duration_since(state.held_since);
            state.held_for = state.held_for.saturating_add(held_for);
            state.last_sign = now;
        }
        drop(state);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_question_stops_the_clock() {
        let clock = Arc::new(Clock::new());
        let begun = Instant::now();
        let hold = clock.hold();
        let other = Arc::clone(&clock);
        tokio::spawn(async move {
            tokio::time::sleep(MOMENT * 10).await;
            other.progressed();
            drop(hold);
        });
        let error = clock.run_out(MOMENT * 500, MOMENT).await;
        assert_eq!(error, ClientError::TimedOut { after: MOMENT, had_progress: true });
        assert!(begun.elapsed() >= MOMENT * 11);
    }

    #[tokio::test]
    async fn silence_runs_out_first() {
        let error = Clock::new().run_out(MOMENT, Duration::MAX).await;
        assert_eq!(error, ClientError::TimedOut { after: MOMENT, had_progress: false });
    }
}
