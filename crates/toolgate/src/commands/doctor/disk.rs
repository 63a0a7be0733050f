//! How much room is left.

use std::path::Path;

use rustix::fs::statvfs;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;

use super::report::{Finding, Topic, size};
use crate::home;

/// Less is not enough to record calls for long.
const LITTLE: u64 = 500_000_000;

/// Less is as good as nothing.
const NOTHING: u64 = 10_000_000;

pub(super) fn look(workspace: &Workspace) -> Topic {
    let state = home::state().ok();
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(
        state.and_then(|folder| room(&folder, "store", "calls cannot be recorded, so none run")),
    );
    findings.extend(room(workspace.root(), "workspace", "files cannot be written"));
    Topic::new("disk", findings)
}

fn room(folder: &Path, name: &'static str, means: &str) -> Option<Finding> {
    let nearest = folder.ancestors().find(|path| path.exists())?;
    let found = statvfs(nearest).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let seen = format!("{} free for the {name}", size(free));
    let fix = format!("free some space where `{}` is", visible::path(folder));
    Some(match free {
        0..NOTHING => Finding::broken(name, seen, means, fix),
        NOTHING..LITTLE => Finding::warning(name, seen, format!("soon {means}"), fix),
        LITTLE.. => Finding::ok(name, seen),
    })
}
