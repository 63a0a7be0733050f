//! Files made for benchmarks.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;

/// Size of the large text file.
const LARGE: usize = 100 * 1000 * 1000;

/// A large text file of numbered lines.
pub(super) struct LargeText {
    pub(super) lines: usize,
}

/// Writes 100 MB of numbered lines, the one in the middle ending in `middle`.
pub(super) fn write_large_text(path: &Path, middle: &str) -> Result<LargeText> {
    write_text(path, middle, LARGE)
}

/// The start of a line of the large text, which no other line has.
pub(super) fn numbered(line: usize) -> String {
    format!("line {line:08}")
}

fn write_text(path: &Path, middle: &str, size: usize) -> Result<LargeText> {
    const REST: &str =
        " of a text long enough to look like what people keep in large files and read";
    let line_size = numbered(0).len() + REST.len() + 1;
    let lines = size / line_size;
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for line in 1..=lines {
        let rest = if line == lines / 2 { middle } else { REST };
        writeln!(file, "{}{rest}", numbered(line))?;
    }
    file.flush()?;
    Ok(LargeText { lines })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_middle_is_unique_and_lines_are_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big.txt");
        let text = write_text(&path, " needle", 10_000).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        assert_eq!(written.lines().count(), text.lines);
        assert_eq!(written.matches("needle").count(), 1);
        let last = written.lines().last().unwrap();
        assert!(last.starts_with(&numbered(text.lines)));
        assert!(written.len() > 9_000);
    }
}
