//! What the reading or changing of one file could be allowed with.

use std::path::Path;

use super::candidate::Candidate;
use crate::effect::{Access, PathFact, Place};
use crate::floor::protected::governing_part;
use crate::floor::sensitive::sensitive;
use crate::name::{EDITING, READING, REMOVING, ToolName};
use crate::pattern::path::text;
use crate::shell::bytes;
use crate::world::World;

/// The file itself, then its folder, then the uppermost folder it lies in.
pub(super) fn candidates(tool: &ToolName, path: &PathFact, world: &dyn World) -> Vec<Candidate> {
    let Some((permission, verb)) = permission(tool, path.access) else { return Vec::new() };
    let whole = text(&path.requested);
    if path.requested != path.resolved || path.requested.to_str().is_none() || !is_plain(&whole) {
        return Vec::new();
    }
    let candidate = |pattern: &str, what: &str| {
        Candidate::new(format!("{permission}({pattern})"), format!("{verb} {what}"))
    };
    let inner = path.requested.strip_prefix(world.workspace()).ok().and_then(Path::to_str);
    let Some(inner) = inner.filter(|inner| !inner.is_empty()) else {
        return vec![candidate(&format!("/{whole}"), &whole)];
    };
    // What could be taken for the home folder or the root begins in the workspace all the same.
    let begin = if inner.starts_with('~') { "./" } else { "" };
    let mut found = vec![candidate(&format!("{begin}{inner}"), inner)];
    if permission == "delete_file" || !is_ordinary(path, world) {
        return found;
    }
    let folder = inner.rsplit_once('/').map(|(folder, _)| folder);
    let top = inner.split_once('/').map(|(top, _)| top);
    for folder in folder.into_iter().chain(top) {
        found.push(candidate(&format!("{begin}{folder}/**"), &format!("anything in {folder}")));
    }
    found.dedup();
    found
}

/// The name of the permission, and what it is to do.
fn permission(tool: &ToolName, access: Access) -> Option<(&'static str, &'static str)> {
    let name = tool.as_str();
    match name {
        "glob" => Some(("glob", "listing")),
        "grep" => Some(("grep", "searching")),
        "ls" => Some(("ls", "listing")),
        _ if REMOVING.contains(&name) => Some(("delete_file", "deleting")),
        _ if READING.contains(&name) && access == Access::Read => Some(("Read", "reading")),
        _ if EDITING.contains(&name) => Some(("Edit", "changing")),
        _ => None,
    }
}

/// Whether a path is a pattern for nothing but itself, with nothing in it that does not show.
fn is_plain(path: &str) -> bool {
    let odd = |letter: char| "*?[]{}\\()".contains(letter) || letter.is_control();
    bytes::check(path).is_ok() && !path.contains(odd) && path.trim() == path && !path.is_empty()
}

/// Whether a file governs nothing, holds no secret and lies in the workspace.
fn is_ordinary(path: &PathFact, world: &dyn World) -> bool {
    let folded = text(&path.resolved).to_lowercase();
    let home = world.home().map(|home| text(home).to_lowercase());
    path.place == Place::Workspace
        && governing_part(&folded, home.as_deref()).is_none()
        && sensitive(&folded, home.as_deref()).is_none()
}
