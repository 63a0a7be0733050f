//! One exact edit of a large file without holding it in memory.

use std::io::{self, Read, Write};

use memchr::memmem;

/// How much is read at a time: enough to be fast, little enough to stay in cache.
const CHUNK: usize = 512 * 1024;

/// What became of an edit made while copying.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Streamed {
    /// The target stood in one place, in this line.
    Replaced { line: u64 },
    /// It did not, or the text is no UTF-8: the edit has to be looked at as a whole.
    Unclear,
}

/// Copies a text while replacing the one place where the target stands.
///
/// Whatever was written is worthless unless the answer is [`Streamed::Replaced`].
pub(crate) fn replace_once(
    mut reader: impl Read,
    mut writer: impl Write,
    target: &str,
    replacement: &str,
    mut keep_going: impl FnMut() -> bool,
) -> io::Result<Streamed> {
    let finder = memmem::Finder::new(target);
    let overlap = target.len().saturating_sub(1);
    let mut buffer = vec![0; CHUNK + overlap];
    // The first `held` bytes were read before; of those, the first `written` are done with.
    let (mut held, mut written) = (0, 0);
    let mut line = 1;
    let mut found = None;
    let mut checked = Utf8Check::default();
    loop {
        if !keep_going() {
            return Ok(Streamed::Unclear);
        }
        let count = read_some(&mut reader, buffer.get_mut(held..).unwrap_or_default())?;
        if !checked.takes(buffer.get(held..held + count).unwrap_or_default()) {
            return Ok(Streamed::Unclear);
        }
        let end = held + count;
        let window = buffer.get(..end).unwrap_or_default();
        if let Some(at) = finder.find(window) {
            let again = window.get(at + 1..).is_some_and(|rest| finder.find(rest).is_some());
            if found.is_some() || again {
                return Ok(Streamed::Unclear);
            }
            found = Some(line + newlines(window.get(..at).unwrap_or_default()));
            writer.write_all(window.get(written..at).unwrap_or_default())?;
            writer.write_all(replacement.as_bytes())?;
            written = at + target.len();
        }
        if count == 0 {
            writer.write_all(window.get(written..).unwrap_or_default())?;
            break;
        }
        // A target may begin at the end of what was read, so as much is kept to look at again.
        let sure = end.saturating_sub(overlap);
        writer.write_all(window.get(written..sure).unwrap_or_default())?;
        line += newlines(window.get(..sure).unwrap_or_default());
        buffer.copy_within(sure..end, 0);
        held = end - sure;
        written = written.saturating_sub(sure);
    }
    let complete = checked.is_complete();
    Ok(found.filter(|_| complete).map_or(Streamed::Unclear, |line| Streamed::Replaced { line }))
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Checks that bytes coming in pieces are UTF-8 as a whole.
#[derive(Debug, Default)]
struct Utf8Check {
    /// The start of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl Utf8Check {
    fn takes(&mut self, mut bytes: &[u8]) -> bool {
        while !self.begun.is_empty() {
            let Some((first, rest)) = bytes.split_first() else {
                return true;
            };
            self.begun.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                self.begun = bytes.get(error.valid_up_to()..).unwrap_or_default().to_vec();
                true
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives out a few bytes at a time, so that places fall on every boundary.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn replaced(
        text: &[u8],
        step: usize,
        target: &str,
        replacement: &str,
    ) -> Option<(Vec<u8>, u64)> {
        let mut out = Vec::new();
        match replace_once(Dribble(text, step), &mut out, target, replacement, || true).unwrap() {
            Streamed::Replaced { line } => Some((out, line)),
            Streamed::Unclear => None,
        }
    }

    #[test]
    fn refuses_what_needs_a_closer_look() {
        assert_eq!(replaced(b"x y x", 2, "x", "z"), None);
        assert_eq!(replaced(b"aaa", 1, "aa", "z"), None);
        assert_eq!(replaced(b"nothing here", 3, "x", "z"), None);
        assert_eq!(replaced(b"caf\xe9 x", 3, "x", "z"), None);
        assert_eq!(replaced(b"x caf\xc3", 3, "x", "z"), None);
    }

    proptest! {
        #[test]
        fn agrees_with_replacing_in_memory(
            before in "[ab\né]{0,30}",
            after in "[ab\né]{0,30}",
            target in "[abé]{1,5}",
            step in 1usize..7,
        ) {
            let text = format!("{before}{target}{after}");
            let places = (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(&target))).count();
            let line = text.split(&target).next().unwrap().matches('\n').count() as u64 + 1;
            let expected = (places == 1).then(|| (text.replacen(&target, "NEW", 1).into_bytes(), line));
            prop_assert_eq!(replaced(text.as_bytes(), step, &target, "NEW"), expected);
        }
    }
}
