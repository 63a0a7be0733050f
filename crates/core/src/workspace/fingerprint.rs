//! What stands at a path, to the last byte.

use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags};

use super::open::{OpenError, open_error};
use super::roots::Workspace;
use super::version::Version;

/// Larger files are known by their version alone: hashing them would take too long.
const MOST_HASHED: i64 = 64 * 1024 * 1024;

/// What stands at a path, to the last byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Same as long as nobody touched it.
    pub(crate) version: Option<Version>,
    /// Same as long as it is the same thing with the same content and mode.
    pub(crate) content: String,
}

impl Workspace {
    /// Looks closely at a real path, following no link and waiting for nobody.
    pub(crate) fn fingerprint(&self, real: &Path) -> Fingerprint {
        self.look_closely(real).unwrap_or_else(|error| Fingerprint {
            version: None,
            content: format!("out of reach: {error}"),
        })
    }

    fn look_closely(&self, real: &Path) -> Result<Fingerprint, OpenError> {
        let absent = || Fingerprint { version: None, content: "nothing".to_owned() };
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Ok(Fingerprint { version: None, content: "a root folder".to_owned() });
        };
        let folder = match self.open_real(parent, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(folder) => folder,
            Err(OpenError::Missing) => return Ok(absent()),
            Err(error) => return Err(error),
        };
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(absent()),
            Err(error) => return Err(open_error(error)),
        };
        let mode = stat.st_mode & 0o7777;
        let content = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_size > MOST_HASHED => {
                format!("large file {mode:o} {:?}", Version::of(&stat))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
                match self.open_real(real, flags) {
                    Ok(file) => {
                        let hash = hash(std::fs::File::from(file)).map_err(OpenError::Other)?;
                        format!("file {mode:o} {hash}")
                    }
                    // What may be replaced but not read is known by its version alone.
                    Err(OpenError::Permission) => format!("unreadable file {mode:o}"),
                    Err(error) => return Err(error),
                }
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&folder, name, Vec::new());
                let target = target.map_err(open_error)?;
                format!("link {}", blake3::hash(target.as_bytes()).to_hex())
            }
            other => format!("{other:?} {mode:o}"),
        };
        Ok(Fingerprint { version: Some(Version::of(&stat)), content })
    }
}

/// The hash of all that is in a file.
fn hash(mut file: std::fs::File) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            count => hasher.update(buffer.get(..count).unwrap_or_default()),
        };
    }
}
