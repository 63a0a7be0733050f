//! Several threads that share a pile of jobs.

use std::mem;
use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Maximum number of jobs taken at once, so that threads seldom wait for each other.
const TAKEN: usize = 8;

/// Runs all jobs, and those that they add, on up to `threads` threads. Returns all results.
pub(crate) fn run<J: Send, R: Send>(
    threads: usize,
    jobs: Vec<J>,
    work: impl Fn(J, &mut Vec<J>) -> R + Sync,
) -> Vec<R> {
    if threads < 2 {
        return alone(jobs, work);
    }
    let state = Mutex::new(State { jobs, busy: 0 });
    let pile = Pile { state, changed: Condvar::new(), threads };
    let job = || {
        let mut results = Vec::new();
        let mut added = Vec::new();
        while let Some(mut taken) = pile.take() {
            for job in mem::take(&mut taken.jobs) {
                results.push(work(job, &mut added));
            }
            pile.add(&mut added);
        }
        results
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(job)).collect();
        let mut results = job();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => panic::resume_unwind(panic),
            }
        }
        results
    })
}

fn alone<J, R>(mut jobs: Vec<J>, work: impl Fn(J, &mut Vec<J>) -> R) -> Vec<R> {
    let mut results = Vec::new();
    let mut added = Vec::new();
    while let Some(job) = jobs.pop() {
        results.push(work(job, &mut added));
        jobs.append(&mut added);
    }
    results
}

/// Returns the number of threads that are worth their start.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(8)
}

struct Pile<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    threads: usize,
}

struct State<J> {
    jobs: Vec<J>,
    /// Threads that may still add jobs.
    busy: usize,
}

/// Jobs that a thread works on; they count as unfinished until this is dropped.
struct Taken<'a, J> {
    jobs: Vec<J>,
    pile: &'a Pile<J>,
}

impl<J> Pile<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes some jobs. Returns `None` when there are none left and none can be added.
    fn take(&self) -> Option<Taken<'_, J>> {
        let mut state = self.lock();
        loop {
            if !state.jobs.is_empty() {
                let count = (state.jobs.len() / self.threads).clamp(1, TAKEN);
                let rest = state.jobs.len() - count;
                let jobs = state.jobs.split_off(rest);
                state.busy += 1;
                return Some(Taken { jobs, pile: self });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add(&self, jobs: &mut Vec<J>) {
        if !jobs.is_empty() {
            self.lock().jobs.append(jobs);
            self.changed.notify_all();
        }
    }
}

impl<J> Drop for Taken<'_, J> {
    fn drop(&mut self) {
        let mut state = self.pile.lock();
        state.busy -= 1;
        if state.busy == 0 {
            self.pile.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_add_jobs_are_all_done() {
        for threads in [1, 2, 5] {
            let work = |number: u32, added: &mut Vec<u32>| {
                if number < 1000 {
                    added.extend([number * 2, number * 2 + 1]);
                }
                u64::from(number)
            };
            let done = run(threads, vec![1], work);
            assert_eq!(done.len(), 1999);
            assert_eq!(done.iter().sum::<u64>(), 1999 * 2000 / 2);
            assert!(run(threads, Vec::new(), work).is_empty());
        }
    }

    #[test]
    fn a_panic_ends_everything() {
        let work = |number: u32, _: &mut Vec<u32>| assert_ne!(number, 50);
        let done = panic::catch_unwind(|| run(3, (0..100).collect(), work));
        assert!(done.is_err());
    }
}
