//! Contents of files that somebody else may write.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use toolgate_core::workspace::Version as Stamp;

use super::accepted::{Version, digest};

/// Larger files are known by their size and times alone.
const MOST: u64 = 64 * 1024 * 1024;
/// Longer texts are not kept.
const MOST_TEXT: usize = 1024 * 1024;

/// The content of a file, or what stands for it where it cannot be read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) otherwise: String,
}

/// Reads a regular file, waiting for nobody.
pub(super) fn read(path: &Path) -> Found {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let unreadable = |error: std::io::Error| Found {
        bytes: None,
        otherwise: format!("unreadable: {}", error.kind()),
    };
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) => return unreadable(error),
    };
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(error),
    };
    if !metadata.is_file() {
        return Found { bytes: None, otherwise: "not a regular file".to_owned() };
    }
    if metadata.len() > MOST {
        let stamp = format!("{:?}", Stamp::from(&metadata));
        return Found { bytes: None, otherwise: digest(stamp.as_bytes()) };
    }
    let mut bytes = Vec::new();
    match file.take(MOST).read_to_end(&mut bytes) {
        Ok(_) => Found { bytes: Some(bytes), otherwise: String::new() },
        Err(error) => unreadable(error),
    }
}

/// Returns the version of a file with this content.
pub(super) fn version(bytes: &[u8]) -> Version {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MOST_TEXT);
    Version { digest: digest(bytes), text: text.map(str::to_owned) }
}
