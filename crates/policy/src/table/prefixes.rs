//! Values by the text something begins with.

use hashbrown::HashMap;

/// Values by the text something begins with; looking one up costs as many steps as there are
/// different lengths, however many values there are.
#[derive(Debug)]
pub(super) struct Prefixes<T> {
    values: HashMap<String, T>,
    /// In ascending order.
    lengths: Vec<usize>,
}

impl<T> Default for Prefixes<T> {
    fn default() -> Self {
        Self { values: HashMap::new(), lengths: Vec::new() }
    }
}

impl<T: Default> Prefixes<T> {
    pub(super) fn entry(&mut self, prefix: &str) -> &mut T {
        if let Err(at) = self.lengths.binary_search(&prefix.len()) {
            self.lengths.insert(at, prefix.len());
        }
        self.values.entry_ref(prefix).or_default()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.values_mut()
    }

    /// Shows the value of everything the text begins with.
    pub(super) fn visit(&self, text: &str, mut look: impl FnMut(&T)) {
        for length in self.lengths.iter().take_while(|length| **length <= text.len()) {
            if let Some(value) = text.get(..*length).and_then(|prefix| self.values.get(prefix)) {
                look(value);
            }
        }
    }
}
