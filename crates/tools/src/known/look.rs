//! One look at a file: which version it is, and what is in it.

use std::fs::File;
use std::io::{self, Read as _};

use toolgate_core::workspace::{OpenError, ResolvedPath, Version, Workspace};

use crate::text;

/// Larger files are told apart by their version alone.
const HASHED: u64 = 64 * 1024 * 1024;
/// The text of larger files is not kept.
const KEPT: u64 = 1024 * 1024;

/// What a look at a file saw.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) version: Version,
    /// Whether a change right after it could look like the same version.
    pub(super) young: bool,
    pub(super) hash: Option<[u8; 32]>,
    pub(super) text: Option<String>,
}

impl Look {
    /// The look at a version of a file, all of which was read.
    pub(super) fn of(version: Version, bytes: Vec<u8>) -> Self {
        let hash = Some(*blake3::hash(&bytes).as_bytes());
        let is_text = !text::looks_binary(&bytes) && bytes.len() as u64 <= KEPT;
        let text = is_text.then(|| text::decode(bytes).text);
        Self { young: version.is_young(), version, hash, text }
    }

    /// The look at a file of which nobody knows what was seen.
    pub(super) fn unsure(self, file: &ResolvedPath) -> Self {
        let version = file.version().unwrap_or(self.version);
        Self { version, young: true, hash: None, text: None }
    }
}

/// Looks at a file.
pub(super) fn look(workspace: &Workspace, file: &ResolvedPath) -> Result<Look, OpenError> {
    let opened = workspace.open_file(file)?;
    let version = Version::from(&opened.metadata);
    let hash = match opened.metadata.len() {
        size if size > HASHED => None,
        size if size > KEPT => Some(hash(opened.file).map_err(OpenError::Other)?),
        size => {
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
            // It may grow while it is read.
            opened.file.take(HASHED).read_to_end(&mut bytes).map_err(OpenError::Other)?;
            return Ok(Look::of(version, bytes));
        }
    };
    Ok(Look { young: version.is_young(), version, hash, text: None })
}

/// The hash of all that is in a file.
fn hash(file: File) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(HASHED))?;
    Ok(*hasher.finalize().as_bytes())
}
