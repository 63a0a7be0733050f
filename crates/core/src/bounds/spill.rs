//! The file that holds a result too long to return.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::limit::Whole;

/// No result is kept that is larger: nobody reads it, and it would fill the disk.
pub const MOST_KEPT: u64 = 4 * 1024 * 1024 * 1024;

/// Where the whole of a result is written while it streams by.
#[derive(Debug)]
pub(super) struct Spill {
    path: PathBuf,
    file: BufWriter<File>,
    /// How much may still be written.
    room: u64,
}

impl Spill {
    /// Makes a new file named after the call; never opens one that is there.
    pub(super) fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let (file, path) = create_file(folder, name)?;
        Ok(Self { path, file: BufWriter::with_capacity(256 * 1024, file), room: MOST_KEPT })
    }

    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.room = self
            .room
            .checked_sub(size)
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 GB"))?;
        self.file.write_all(text.as_bytes())
    }

    /// Ends the file and tells where it is; half a result is not left behind.
    pub(super) fn finish(mut self) -> io::Result<PathBuf> {
        match self.file.flush() {
            Ok(()) => Ok(self.path),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    /// Takes an unfinished file away.
    pub(super) fn discard(self) {
        // What is still buffered would only fail to be written again.
        drop(self.file.into_parts());
        // Nothing more can be done about a file that cannot be removed.
        drop(std::fs::remove_file(&self.path));
    }
}

impl Whole {
    /// A new file for a result that is read back while it grows, which only its owner may read.
    /// One that is not to be kept has no name.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(&self) -> io::Result<(File, Option<PathBuf>)> {
        match self {
            Self::Kept { folder, name } => {
                create_file(folder, name).map(|(file, path)| (file, Some(path)))
            }
            Self::Dropped => Ok((tempfile::tempfile()?, None)),
        }
    }
}

/// Makes a new file in a folder, which is made when needed.
fn create_file(folder: &Path, name: &str) -> io::Result<(File, PathBuf)> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let stem = file_stem(name);
    let mut path = folder.join(format!("{stem}.txt"));
    let mut number = 1;
    loop {
        let mut options = OpenOptions::new();
        let attempt = options.read(true).append(true).create_new(true).mode(0o600).open(&path);
        match attempt {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {
                number += 1;
                path = folder.join(format!("{stem}-{number}.txt"));
            }
            Err(error) => return Err(error),
        }
    }
}

/// A file name for any call id: callers choose ids, so `/`, `..` and the like must not pass.
fn file_stem(id: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let stem: String =
        id.chars().take(100).map(|letter| if plain(letter) { letter } else { '_' }).collect();
    if stem.is_empty() { "call".to_owned() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_leave_the_folder() {
        assert_eq!(file_stem("../../etc/passwd"), "______etc_passwd");
        assert_eq!(file_stem(""), "call");
        assert_eq!(file_stem(&"x".repeat(500)).len(), 100);
    }

    #[test]
    fn a_second_call_with_the_same_id_gets_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let first = Spill::create(folder.path(), "a").unwrap().finish().unwrap();
        let second = Spill::create(folder.path(), "a").unwrap().finish().unwrap();
        assert_ne!(first, second);
    }
}
