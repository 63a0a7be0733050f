//! Reading files that the workspace may have put there.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rustix::fs::{self, Mode, OFlags};

/// Returns the content of a regular file, or nothing if nothing is there.
///
/// Links are followed, as the programs do whose files these are. A pipe, a device, a file of the
/// kernel or one with more bytes than `most` is an error, and none of them is waited for.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if is_absent(&error) && path.symlink_metadata().is_err() => return Ok(None),
        Err(error) => return Err(error),
    };
    if ["/proc", "/sys", "/dev"].iter().any(|kernels| real.starts_with(kernels)) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "a file of the kernel"));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let file = File::from(fs::open(&real, flags | OFlags::CLOEXEC, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > most {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file of this size"));
    }
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it grew while it was read"));
    }
    Ok(Some(content))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
