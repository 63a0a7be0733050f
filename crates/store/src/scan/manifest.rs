//! A tree as bytes.
//!
//! Each entry is its path, a NUL, its JSON and a line end: paths hold no NUL, JSON no line end.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::tree::{Hidden, Tree};
use crate::disk::Version;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Version),
    Hidden { hidden: Hidden },
}

/// Writes a tree down.
pub(crate) fn render(tree: &Tree) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    let mut push = |path: &Path, line: &Line| {
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
        Ok(())
    };
    for (path, version) in &tree.entries {
        push(path, &Line::Entry(version.clone()))?;
    }
    for (path, hidden) in &tree.hidden {
        push(path, &Line::Hidden { hidden: hidden.clone() })?;
    }
    Ok(bytes)
}

/// Reads a tree that was written down; nothing when it is none.
pub(crate) fn parse(bytes: &[u8]) -> Option<Tree> {
    let mut tree = Tree::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (path, after) = split_at_byte(rest, 0)?;
        let (json, after) = split_at_byte(after, b'\n')?;
        let path = Path::new(OsStr::from_bytes(path)).to_owned();
        match serde_json::from_slice(json).ok()? {
            Line::Entry(version) => drop(tree.entries.insert(path, version)),
            Line::Hidden { hidden } => drop(tree.hidden.insert(path, hidden)),
        }
        rest = after;
    }
    Some(tree)
}

fn split_at_byte(bytes: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|other| *other == byte)?;
    let (before, after) = bytes.split_at_checked(at)?;
    Some((before, after.get(1..)?))
}
