//! Where this program's code is in memory.

use std::ops::Range;

/// Where code of a program is in memory.
///
/// INVARIANT: it can be executed and not written, and is the same as in the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Code {
    place: Range<usize>,
}

impl Code {
    /// Reads a line of `/proc/self/maps`; nothing for what is no code of the program.
    pub(crate) fn mapped(line: &str, program: &str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let permissions = words.next()?;
        let path = words.nth(3)?.trim_start();
        if permissions != "r-xp" || path != program {
            return None;
        }
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(Self { place: number(start)?..number(end)? })
    }

    pub(crate) fn place(&self) -> &Range<usize> {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_is_executed_and_not_written() {
        let read = |permissions: &str, path: &str| {
            let line = format!("55d0-55f0 {permissions} 00b7d000 fe:00 1234    {path}");
            Code::mapped(&line, "/bin/a b")
        };
        assert_eq!(read("r-xp", "/bin/a b"), Some(Code { place: 0x55d0..0x55f0 }));
        for (permissions, path) in [
            ("r--p", "/bin/a b"),
            ("rwxp", "/bin/a b"),
            ("r-xs", "/bin/a b"),
            ("r-xp", "/bin/a b (deleted)"),
            ("r-xp", "/lib/c"),
            ("r-xp", ""),
        ] {
            assert_eq!(read(permissions, path), None, "{permissions} {path}");
        }
        assert_eq!(Code::mapped("55d0-55f0 r-xp 0 0 0", "/bin/a b"), None);
    }
}
