//! Values by the words a command begins with.

use hashbrown::HashMap;

use super::lengths::Lengths;

/// Values by the words a command begins with; looking a command up costs no more steps than it
/// has words.
#[derive(Debug)]
pub(super) struct Words<T> {
    values: HashMap<String, T>,
    lengths: Lengths,
}

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self { values: HashMap::new(), lengths: Lengths::default() }
    }
}

impl<T: Default> Words<T> {
    pub(super) fn entry(&mut self, words: &str) -> &mut T {
        self.lengths.note(words);
        self.values.entry_ref(words).or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Shows the value of the first word of a command, of the first two, and so on.
    pub(super) fn visit(&self, command: &str, mut look: impl FnMut(&T)) {
        let beginnings = self.lengths.beginnings(command, b' ');
        beginnings.filter_map(|words| self.values.get(words)).for_each(&mut look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_by_its_first_words_and_by_no_half_of_one() {
        let mut words = Words::<u32>::default();
        for (number, key) in (0..).zip(["git", "git push", "git push origin", "git pull"]) {
            *words.entry(key) = number;
        }
        let found = |command: &str| {
            let mut found = Vec::new();
            words.visit(command, |number| found.push(*number));
            found
        };
        assert_eq!(found("git push origin main"), [0, 1, 2]);
        assert_eq!(found("git push"), [0, 1]);
        assert_eq!(found("git pusher"), [0]);
        assert_eq!(found("gi"), [0; 0]);
    }
}
