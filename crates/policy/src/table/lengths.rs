//! Which lengths the keys of a table have.

/// The lengths of keys, in ascending order. There are few of them, however many keys there are.
#[derive(Debug, Clone, Default)]
pub(super) struct Lengths(Vec<usize>);

impl Lengths {
    pub(super) fn note(&mut self, key: &str) {
        if let Err(at) = self.0.binary_search(&key.len()) {
            self.0.insert(at, key.len());
        }
    }

    /// The beginnings of a text, up to a separator or its end, that are long enough to be a key:
    /// looking up the others is saved.
    pub(super) fn beginnings<'t>(
        &self,
        text: &'t str,
        separator: u8,
    ) -> impl Iterator<Item = &'t str> {
        let lengths = self.0.iter().copied().take_while(|length| *length <= text.len());
        let whole = move |length: &usize| {
            text.as_bytes().get(*length).is_none_or(|next| *next == separator)
        };
        lengths.filter(whole).filter_map(|length| text.get(..length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_end_at_a_separator_and_have_the_length_of_a_key() {
        let mut lengths = Lengths::default();
        for key in ["/a/b", "/a/b/c", "", "/long/enough", "/a/b"] {
            lengths.note(key);
        }
        let found: Vec<_> = lengths.beginnings("/a/b/c", b'/').collect();
        assert_eq!(found, ["", "/a/b", "/a/b/c"]);
        assert_eq!(lengths.beginnings("/abc", b'/').collect::<Vec<_>>(), ["", "/abc"]);
    }
}
