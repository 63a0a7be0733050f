//! What a search found, in order of paths as far as memory allows.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use toolgate_core::bounds::Collector;

/// Up to this many bytes results are held back to be put in order of paths.
const HELD_BACK: usize = 4 * 1024 * 1024;

/// What one file contributes.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Where each match ends in the text; what follows the last one is context.
    pub(super) ends: Vec<usize>,
    pub(super) matches: usize,
}

/// How many results may still come.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    taken: AtomicUsize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: AtomicUsize::new(0) }
    }

    /// Takes one result; `false` when there is none left.
    pub(super) fn take(&self) -> bool {
        self.taken.fetch_add(1, Ordering::Relaxed) < self.most
    }

    pub(super) fn is_spent(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.most
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }
}

/// Gathers what the threads of a search find.
#[derive(Debug)]
pub(super) struct Report {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    held: Vec<Block>,
    held_bytes: usize,
    streaming: bool,
    totals: Totals,
}

/// The text of all results and how many there are.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) collector: Collector,
    pub(super) matches: usize,
    pub(super) files: usize,
}

impl Report {
    pub(super) fn new(collector: Collector) -> Self {
        Self {
            state: Mutex::new(State {
                held: Vec::new(),
                held_bytes: 0,
                streaming: false,
                totals: Totals { collector, matches: 0, files: 0 },
            }),
        }
    }

    pub(super) fn add(&self, block: Block) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.streaming {
            state.totals.write(&block);
            return;
        }
        state.held_bytes += block.text.len();
        state.held.push(block);
        if state.held_bytes > HELD_BACK {
            state.write_held();
            state.streaming = true;
        }
    }

    pub(super) fn finish(self) -> Totals {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.write_held();
        state.totals
    }
}

impl State {
    fn write_held(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        held.sort_unstable_by(|left, right| left.path.as_os_str().cmp(right.path.as_os_str()));
        for block in held {
            self.totals.write(&block);
        }
    }
}

impl Totals {
    fn write(&mut self, block: &Block) {
        self.files += 1;
        self.matches += block.matches;
        let mut rest = block.text.as_str();
        let mut done = 0;
        for end in &block.ends {
            let (item, after) = rest.split_at(end - done);
            self.collector.item(item);
            (rest, done) = (after, *end);
        }
        if !rest.is_empty() {
            self.collector.push(rest);
        }
    }
}
