//! The index of a git repository.

/// A larger index is not read.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// Returns the paths at which other repositories are tracked; nothing when the index is not
/// understood.
pub(super) fn tracked_repositories(index: &[u8]) -> Option<Vec<String>> {
    const REPOSITORY: u32 = 0o160_000;
    let number = |at: usize| {
        let bytes = index.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    if index.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, entries) = (number(4)?, number(8)?);
    // The fourth version shortens names; without another repository in it nothing is missed.
    if version > 3 {
        let has_modules = memchr::memmem::find(index, &REPOSITORY.to_be_bytes()).is_some();
        return (!has_modules).then(Vec::new);
    }
    let mut found = Vec::new();
    let mut at = 12;
    for _ in 0..entries {
        let mode = number(at + 24)?;
        let flags = u16::from_be_bytes(index.get(at + 60..at + 62)?.try_into().ok()?);
        let start = at + if flags & 0x4000 != 0 { 64 } else { 62 };
        let length = index.get(start..)?.iter().position(|byte| *byte == 0)?;
        if mode == REPOSITORY {
            found.push(String::from_utf8_lossy(index.get(start..start + length)?).into_owned());
        }
        // Entries are filled up to a multiple of eight.
        at += (start - at + length + 8) / 8 * 8;
    }
    // Part of a split index lies in another file.
    let is_split = memchr::memmem::find(index.get(at..)?, b"link").is_some();
    (!is_split).then_some(found)
}
