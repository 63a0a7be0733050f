//! Paths as bytes, which need not be text.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The bytes of a path.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The path of some bytes.
pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Several paths in one value.
pub(crate) fn join(paths: &[PathBuf]) -> Vec<u8> {
    paths.iter().map(|path| bytes_of(path)).collect::<Vec<_>>().join(&0)
}

/// The paths that were joined.
pub(crate) fn split(bytes: &[u8]) -> Vec<PathBuf> {
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| path_of(part.to_vec())).collect()
}
