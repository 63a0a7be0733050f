//! What a background command has put out, kept in a file until it is asked for.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use toolgate_core::bounds::{MOST_KEPT, Whole};

/// Text that grows at its end and is read from where it was left off.
#[derive(Debug)]
pub(super) struct Transcript {
    file: File,
    path: Option<PathBuf>,
    written: u64,
    read: u64,
    /// Why nothing more is kept.
    broken: Option<String>,
}

/// What is new in a transcript.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) text: String,
    /// How many bytes wait to be asked for.
    pub(crate) waiting: u64,
}

impl Transcript {
    /// An empty one, kept where long results are.
    pub(super) fn create(whole: &Whole) -> io::Result<Self> {
        let (file, path) = whole.create()?;
        Ok(Self { file, path, written: 0, read: 0, broken: None })
    }

    /// The file, if it has a name.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes more text.
    pub(super) fn push(&mut self, text: &str) {
        if self.broken.is_some() {
            return;
        }
        if self.written > MOST_KEPT {
            self.broken = Some("it is larger than 4 GB".to_owned());
            return;
        }
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => self.written += text.len() as u64,
            Err(error) => self.broken = Some(error.to_string()),
        }
    }

    /// What came since the last time, as much as fits.
    pub(super) fn news(&mut self, most: usize) -> io::Result<News> {
        let waiting = self.written - self.read;
        let size = usize::try_from(waiting).unwrap_or(usize::MAX).min(most);
        let mut bytes = vec![0; size];
        self.file.read_exact_at(&mut bytes, self.read)?;
        // INVARIANT: only whole characters are written, so at most a part of the last one is cut.
        let whole = match std::str::from_utf8(&bytes) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        bytes.truncate(whole);
        self.read += whole as u64;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let waiting = self.written - self.read;
        if let (Some(why), 0) = (&self.broken, waiting) {
            text.push_str(&format!("\n[what came after this could not be kept: {why}]\n"));
        }
        Ok(News { text, waiting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_comes_once() {
        let mut transcript = Transcript::create(&Whole::Dropped).unwrap();
        transcript.push("aé€😀");
        transcript.push("z");
        let mut seen = String::new();
        loop {
            let news = transcript.news(4).unwrap();
            if news.text.is_empty() {
                break;
            }
            seen.push_str(&news.text);
        }
        assert_eq!(seen, "aé€😀z");
        transcript.push("more");
        assert_eq!(transcript.news(100).unwrap(), News { text: "more".to_owned(), waiting: 0 });
    }
}
