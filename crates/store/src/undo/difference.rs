//! What differs between two versions, for a person.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};
use toolgate_core::visible;

use crate::blobs::Blobs;
use crate::disk::{Kind, Version};

/// Larger contents are not compared line by line.
const COMPARED: u64 = 1024 * 1024;

/// Longer differences are cut.
const LONGEST: usize = 200;

const PATIENCE: Duration = Duration::from_millis(500);

/// How many lines differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LineCounts {
    /// Lines that only the newer has.
    pub added: usize,
    /// Lines that only the older had.
    pub removed: usize,
}

/// The difference between two versions, where both are text.
pub(crate) fn unified(
    blobs: &Blobs,
    path: &Path,
    (from, to): (Option<&Version>, Option<&Version>),
    (from_name, to_name): (&str, &str),
) -> Option<String> {
    let (from, to) = (text(blobs, from)?, text(blobs, to)?);
    // A lone return would count as a line end.
    let (from, to) = (visible::text(&from), visible::text(&to));
    if from == to {
        return None;
    }
    let shown = visible::path(path);
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .timeout(PATIENCE)
        .diff_lines(&*from, &*to)
        .unified_diff()
        .context_radius(3)
        .header(&format!("{shown} ({from_name})"), &format!("{shown} ({to_name})"))
        .to_string();
    Some(cut(&diff))
}

/// How many lines differ, where both are text.
pub(crate) fn counts(
    blobs: &Blobs,
    from: Option<&Version>,
    to: Option<&Version>,
) -> Option<LineCounts> {
    let (from, to) = (text(blobs, from)?, text(blobs, to)?);
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .timeout(PATIENCE)
        .diff_lines(&from, &to);
    let mut counts = LineCounts::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => counts.added += 1,
            ChangeTag::Delete => counts.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    Some(counts)
}

/// The text of a version; none when it is no text, nothing when there is no file.
fn text(blobs: &Blobs, version: Option<&Version>) -> Option<String> {
    let Some(version) = version else {
        return Some(String::new());
    };
    if version.kind != Kind::File || !version.is_kept() || version.size > COMPARED {
        return None;
    }
    let bytes = blobs.read(&version.hash, COMPARED).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn cut(diff: &str) -> String {
    let count = diff.lines().count();
    if count <= LONGEST {
        return diff.to_owned();
    }
    let kept: String = diff.split_inclusive('\n').take(LONGEST).collect();
    format!("{kept}[{} more lines]\n", count - LONGEST)
}
