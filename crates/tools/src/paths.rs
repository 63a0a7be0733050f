//! Paths from a model, with errors that say what to do next.

use std::path::{Path, PathBuf};

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::{Place, Risk, Scope};
use toolgate_core::workspace::{
    FileKind, Follow, OpenError, OpenFile, Purpose, ResolveError, ResolvedPath,
};

use crate::tree::{Folder, Kind};

/// How far from a name a suggestion may be.
const NEAR_ENOUGH: f64 = 0.7;
/// How many names of a folder are looked at for a suggestion.
const NAMES_LOOKED_AT: usize = 10_000;

/// Resolves a path; `otherwise` is the kind of error for what has no kind of its own.
pub(crate) fn resolve(
    context: &CallContext,
    path: &str,
    otherwise: ErrorKind,
) -> Result<ResolvedPath, ToolError> {
    resolve_with(context, path, Follow::Link, otherwise)
}

/// Resolves the path of a file that is to be changed.
pub(crate) fn resolve_to_change(
    context: &CallContext,
    path: &str,
    follow: Follow,
    otherwise: ErrorKind,
) -> Result<ResolvedPath, ToolError> {
    resolve_for(context, path, Purpose::Changing, follow, otherwise)
}

/// How much harm a change of a file can do: little where it is the task's own.
pub(crate) fn risk_of_changing(file: &ResolvedPath) -> Risk {
    match file.scope() {
        Some(Scope::Private) => Risk::Low,
        _ => Risk::Medium,
    }
}

/// Resolves a path, following a last link or not.
pub(crate) fn resolve_with(
    context: &CallContext,
    path: &str,
    follow: Follow,
    otherwise: ErrorKind,
) -> Result<ResolvedPath, ToolError> {
    resolve_for(context, path, Purpose::Reading, follow, otherwise)
}

fn resolve_for(
    context: &CallContext,
    path: &str,
    purpose: Purpose,
    follow: Follow,
    otherwise: ErrorKind,
) -> Result<ResolvedPath, ToolError> {
    let workspace = context.workspace();
    // An empty path stays one, so that it can be refused as such.
    let located = workspace.located(path, purpose);
    workspace.resolve(&located, follow).map_err(|error| resolve_error(context, &error, otherwise))
}

/// What it means that a path leads nowhere.
fn resolve_error(context: &CallContext, error: &ResolveError, otherwise: ErrorKind) -> ToolError {
    let name = context.parameter("path");
    match error {
        ResolveError::Empty => {
            ToolError::invalid(format!("parameter `{name}` is empty; give a path"))
        }
        ResolveError::Nul => {
            ToolError::invalid(format!("parameter `{name}` holds a NUL byte, which no path can"))
        }
        ResolveError::Permission { .. } => ToolError::new(
            ErrorKind::PermissionError,
            format!("{error}; the owner has to change its permissions"),
        ),
        ResolveError::Other { source, .. } => {
            ToolError::new(otherwise, format!("{error}: {source}"))
        }
        _ => ToolError::new(otherwise, format!("{error}; give the path of the real file")),
    }
}

/// Opens a regular file for reading.
pub(crate) fn open(
    context: &CallContext,
    path: &ResolvedPath,
    otherwise: ErrorKind,
) -> Result<OpenFile, ToolError> {
    context
        .workspace()
        .open_file(path)
        .map_err(|error| open_error(context, path, &error, otherwise))
}

/// What it means that a path could not be opened.
pub(crate) fn open_error(
    context: &CallContext,
    path: &ResolvedPath,
    error: &OpenError,
    otherwise: ErrorKind,
) -> ToolError {
    let shown = context.workspace().shown(path.real());
    match error {
        OpenError::Missing => not_found(context, path),
        OpenError::Unresolved(error) => resolve_error(context, error, otherwise),
        OpenError::Permission => ToolError::new(
            ErrorKind::PermissionError,
            format!("permission denied: `{shown}`; the owner has to change its permissions"),
        ),
        OpenError::NotRegular { kind: FileKind::Folder } => ToolError::new(
            otherwise,
            format!(
                "`{shown}` is a directory, not a file; list it with `ls`, or find files in it with `glob`"
            ),
        ),
        OpenError::NotRegular { kind } => ToolError::new(
            otherwise,
            format!(
                "`{shown}` is {}, not a regular file; only regular files are opened",
                kind.noun()
            ),
        ),
        OpenError::Replaced => ToolError::new(
            otherwise,
            format!(
                "`{shown}` was replaced by a symbolic link while the call was on its way; look again and retry"
            ),
        ),
        OpenError::Changed => ToolError::new(
            otherwise,
            format!(
                "`{shown}` was changed by somebody else while the call was on its way; nothing was done, look again and retry"
            ),
        ),
        OpenError::Proc => ToolError::new(
            ErrorKind::PermissionError,
            format!("`{shown}` belongs to `/proc` and can expose a process, so it is not read"),
        ),
        other => ToolError::new(otherwise, format!("cannot open `{shown}`: {other}")),
    }
}

/// There is nothing there; names what comes nearest.
pub(crate) fn not_found(context: &CallContext, path: &ResolvedPath) -> ToolError {
    let workspace = context.workspace();
    let mut message = format!("there is no file `{}`", workspace.shown(path.real()));
    match everybodys(context, path).or_else(|| nearest(context, path)) {
        Some(near) => message.push_str(&format!("; did you mean `{}`?", workspace.shown(&near))),
        None => message.push_str("; find it with `glob`, or list the folder with `ls`"),
    }
    ToolError::new(ErrorKind::FileNotFoundError, message)
}

/// Everybody's file of the name that a task does not have.
fn everybodys(context: &CallContext, missing: &ResolvedPath) -> Option<PathBuf> {
    let workspace = context.workspace();
    let shown = workspace.shown(missing.requested());
    let inner = shown.strip_prefix("private:/").filter(|_| missing.scope() == Some(Scope::Private));
    let public = workspace.resolve(Path::new(inner?), Follow::Link).ok()?;
    let exists = public.place() == Place::Workspace && public.kind() == FileKind::File;
    exists.then(|| public.requested().to_owned())
}

/// The path in the workspace that comes nearest to a missing one. Looked for through
/// open folders and never through links, so that it tells nothing about other places.
fn nearest(context: &CallContext, missing: &ResolvedPath) -> Option<PathBuf> {
    if missing.place() != Place::Workspace {
        return None;
    }
    let (mut folder, rest) = missing.real().ancestors().skip(1).find_map(|above| {
        let resolved = context.workspace().resolve(above, Follow::Link).ok()?;
        let inside = resolved.place() == Place::Workspace && resolved.real() == above;
        let descriptor = context.workspace().open_folder(&resolved).ok().filter(|_| inside)?;
        let rest = missing.real().strip_prefix(above).ok()?;
        Some((Folder::root(descriptor, above), rest))
    })?;
    let wanted = rest.components().next()?.as_os_str().to_string_lossy().to_lowercase();
    let names = folder.list().ok()?;
    let (_, name, kind) = (0..names.len().min(NAMES_LOOKED_AT))
        .filter_map(|number| names.get(number))
        .map(|(name, kind)| {
            let score = strsim::jaro_winkler(&wanted, &name.to_string_lossy().to_lowercase());
            (score, name, kind)
        })
        .filter(|(score, ..)| *score >= NEAR_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))?;
    let mut near = folder.path().join(name);
    let below: PathBuf = rest.components().skip(1).collect();
    if kind == Kind::Folder && !below.as_os_str().is_empty() {
        let resolved = context.workspace().resolve(&near.join(&below), Follow::Link).ok()?;
        if resolved.kind() != FileKind::Missing && resolved.real() == near.join(&below) {
            near.push(below);
        }
    }
    Some(near)
}

/// Opens a folder to list or walk it.
pub(crate) fn open_folder(
    context: &CallContext,
    path: &ResolvedPath,
    otherwise: ErrorKind,
) -> Result<Folder, ToolError> {
    let shown = context.workspace().shown(path.real());
    match context.workspace().open_folder(path) {
        Ok(descriptor) => Ok(Folder::root(descriptor, path.real())),
        Err(OpenError::NotRegular { kind }) => Err(ToolError::new(
            otherwise,
            format!("`{shown}` is {}, not a directory; name the directory it is in", kind.noun()),
        )),
        Err(error) => Err(open_error(context, path, &error, otherwise)),
    }
}
