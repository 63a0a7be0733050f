//! Small texts that nobody has to wait for.

use std::fs::File;
use std::io::IoSliceMut;

use rustix::io::{ReadWriteFlags, preadv2};
use toolgate_core::context::CallContext;
use toolgate_core::workspace::{FileKind, OpenFile, ResolvedPath, Version};

use crate::formats::{self, Kind};
use crate::reading::{Part, Reading, is_notebook};
use crate::text;

/// Larger files are worth a thread of their own.
const SMALL: usize = 8 * 1024;

/// All of a small text.
#[derive(Debug)]
pub(crate) struct AtOnce {
    pub(crate) reading: Reading,
    pub(crate) bytes: Vec<u8>,
    pub(crate) version: Version,
}

/// Reads all of a small text that the system has in memory; nothing where it has not, or where the
/// file is anything else, which includes every error.
pub(crate) fn read(context: &CallContext, path: &ResolvedPath, part: &Part) -> Option<AtOnce> {
    let whole = part.lines.is_none() && part.pages.is_none();
    if !whole || path.kind() != FileKind::File || is_notebook(path) {
        return None;
    }
    let OpenFile { file, metadata } = context.workspace().open_file(path).ok()?;
    let size = usize::try_from(metadata.len()).ok().filter(|size| *size <= SMALL)?;
    let bytes = in_memory(&file, size)?;
    if formats::kind(&bytes) != Kind::Text {
        return None;
    }
    let reading = Reading::Text(text::decode(bytes.clone()));
    Some(AtOnce { reading, bytes, version: Version::from(&metadata) })
}

/// All of a file of a size, unless it has to be fetched or has another size by now. Files of
/// `/proc` say they are empty and are not.
fn in_memory(file: &File, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size + 1];
    let read = preadv2(file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT);
    let read = read.ok().filter(|read| *read == size && size > 0)?;
    bytes.truncate(read);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn only_what_is_all_there_is_taken() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"hello\n").unwrap();
        // Some file systems can not be asked without waiting.
        if let Some(bytes) = in_memory(&file, 6) {
            assert_eq!(bytes, b"hello\n");
        }
        for size in [0, 5, 7] {
            assert_eq!(in_memory(&file, size), None, "{size}");
        }
    }
}
