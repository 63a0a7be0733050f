//! A processor for each thread of a walk.
//!
//! Two threads that wake each other tend to end up on one processor while the next one idles, for
//! milliseconds, which is long for a walk.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processors that may be used, where there is exactly one for each thread.
///
/// With fewer threads than processors they would have to be chosen, and every program that chooses
/// would choose the same ones.
#[derive(Debug)]
pub(super) struct Processors {
    numbers: Vec<usize>,
    all: CpuSet,
}

/// Keeps this thread on one processor while it lives.
#[derive(Debug)]
pub(super) struct Settled<'a> {
    processors: &'a Processors,
}

impl Processors {
    /// The processors for so many threads; this thread's comes first.
    pub(super) fn for_threads(threads: usize) -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let mut numbers: Vec<usize> =
            (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number)).take(threads + 1).collect();
        if threads < 2 || numbers.len() != threads {
            return None;
        }
        let here = sched_getcpu();
        let at = numbers.iter().position(|number| *number == here)?;
        numbers.swap(0, at);
        Some(Self { numbers, all })
    }

    /// Keeps this thread on the processor of a number.
    pub(super) fn settle(&self, number: usize) -> Option<Settled<'_>> {
        let mut one = CpuSet::new();
        one.set(*self.numbers.get(number)?);
        sched_setaffinity(None, &one).ok().map(|()| Settled { processors: self })
    }
}

impl Drop for Settled<'_> {
    fn drop(&mut self) {
        // Where it could be kept on one, it can be let go again.
        sched_setaffinity(None, &self.processors.all).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_on_a_processor_and_let_go_again() {
        let before = sched_getaffinity(None).unwrap();
        let threads = before.count() as usize;
        let Some(processors) = Processors::for_threads(threads) else {
            assert_eq!(threads, 1);
            return;
        };
        for number in 0..threads {
            let settled = processors.settle(number).unwrap();
            assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
            drop(settled);
            assert_eq!(sched_getaffinity(None).unwrap(), before);
        }
        assert!(processors.settle(threads).is_none());
        assert!(Processors::for_threads(threads + 1).is_none());
        assert!(Processors::for_threads(threads - 1).is_none());
    }
}
