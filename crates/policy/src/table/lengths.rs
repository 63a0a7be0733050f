//! Which lengths the keys of a table have.

/// Lengths, so roughly kept that a text of one that is in here may still be no key.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lengths(u64);

impl Lengths {
    pub(super) fn note(&mut self, key: &str) {
        self.0 |= bit(key.len());
    }

    /// Whether a key may have this length: saves looking up what cannot be there.
    pub(super) fn may_hold(self, length: usize) -> bool {
        self.0 & bit(length) != 0
    }
}

fn bit(length: usize) -> u64 {
    1 << (length % 64)
}
