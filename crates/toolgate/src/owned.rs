//! Files of the owner's: settings, policies, answers.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::exit::UsageError;

/// Larger files are nobody's settings.
const MOST: u64 = 64 * 1024 * 1024;

/// Reads such a file. It waits for nobody: only a regular file is read.
///
/// # Errors
///
/// When it is missing, or no regular file, or no text, or too large.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if metadata.len() > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a changed text in the place of the old one, whole or not at all, one at a time. A file
/// that is not there yet is empty.
///
/// # Errors
///
/// When it cannot be read or written, or cannot be changed so.
pub(crate) fn change(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot use `{}`: {error}", path.display());
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(format!("`{}` is no file", path.display()));
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = File::open(folder).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let before = match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    let text = change(&before)?;
    // One that is a link stays one.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut unfinished = OsString::from(".");
    unfinished.push(name);
    unfinished.push(".new");
    let unfinished = path.with_file_name(unfinished);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600);
    file = file.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = file.open(&unfinished).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&unfinished, &path).map_err(failed)
}

/// Returns the policy files in a folder, by name.
///
/// # Errors
///
/// Errors if the folder is there and cannot be read.
pub(crate) fn policies_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = |error: io::Error| {
        UsageError(format!("cannot read the policies in `{}`: {error}", folder.display()))
    };
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error).into()),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "toml" || ending == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(read(&pipe).unwrap_err().to_string(), "it is no regular file");
        assert_eq!(read(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::fs::write(folder.path().join("text"), "hello").unwrap();
        assert_eq!(read(&folder.path().join("text")).unwrap(), "hello");
    }
}
