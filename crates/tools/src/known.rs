//! The files a session has read: what stood in them, and whether it still does.
//!
//! A tool says when it has read ([`has_read`]), wants to change ([`may_change`]), has changed
//! ([`has_changed`]) or removed ([`has_removed`]) a file. [`ChangedFiles`] tells the session,
//! once, what others changed meanwhile.

mod changes;
mod files;
mod inotify;
mod look;
mod session;
mod watch;

use std::path::Path;
use std::sync::Arc;

use toolgate_core::context::{CallContext, Lasts};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::Place;
use toolgate_core::seen::{SeenFile, SeenFiles, Told};
use toolgate_core::workspace::{FileKind, Follow, ResolvedPath, Version};

pub use self::changes::ChangedFiles;
use self::look::{Look, look};
use self::session::KnownFiles;
use crate::text::LineRange;

/// Notes that the model was shown a file, or some lines of it.
pub(crate) fn has_read(context: &CallContext, file: &ResolvedPath, range: Option<LineRange>) {
    let Some(known) = known(context) else { return };
    let Ok(look) = look(context.workspace(), file) else { return };
    note_read(context, &known, file, look, range);
}

/// The same for all of a file, where its bytes of a version are at hand.
pub(crate) fn has_read_all(
    context: &CallContext,
    file: &ResolvedPath,
    version: Version,
    bytes: Vec<u8>,
) {
    let Some(known) = known(context) else { return };
    // Nothing is new about a version that is known whole.
    if file.version() != Some(version) || !known.lock().is_used_again(file.real(), version) {
        note_read(context, &known, file, Look::of(version, bytes), None);
    }
}

/// Whether what a session knows is kept elsewhere, too, which takes its time.
pub(crate) fn is_kept_elsewhere(context: &CallContext) -> bool {
    context.session().lasts() == Lasts::Joined
}

fn note_read(
    context: &CallContext,
    known: &KnownFiles,
    file: &ResolvedPath,
    look: Look,
    range: Option<LineRange>,
) {
    // When it changed while it was read, nobody knows what of it was shown.
    let same = file.version() == Some(look.version);
    let range = range.map(|range| (range.first, range.last));
    note(context, known, file, &if same { look } else { look.unsure(file) }, range);
}

/// Whether the session may change a file: it has read it, and it is still what it read.
///
/// # Errors
///
/// `NotRead` or `ModifiedSinceRead`, when it may not.
pub(crate) fn may_change(context: &CallContext, file: &ResolvedPath) -> Result<(), ToolError> {
    let Some(known) = known(context).filter(|_| file.kind() == FileKind::File) else {
        return Ok(());
    };
    let store = store(context);
    let seen = known.get(file.real()).or_else(|| {
        // Another process of the same session may have read it meanwhile.
        known.load(context.session(), store.as_deref());
        known.get(file.real())
    });
    let Some(seen) = seen else {
        // Calls made up in advance could not have waited for what a read says.
        return match context.session().lasts() {
            Lasts::Batch => Ok(()),
            _ => Err(not_read(context, file)),
        };
    };
    if file.version() == Some(seen.version) && !seen.young {
        return Ok(());
    }
    let now = look(context.workspace(), file).ok();
    match (seen.hash, now) {
        (Some(hash), Some(now)) if now.hash == Some(hash) => {
            known.lock().is_unchanged(file.real(), now.version, now.young);
            Ok(())
        }
        _ => Err(modified(context, file)),
    }
}

/// Notes that the session wrote a file, which it therefore knows.
pub(crate) fn has_changed(context: &CallContext, file: &ResolvedPath) {
    let Some(known) = known(context) else { return };
    let Ok(file) = context.workspace().resolve(file.requested(), Follow::Link) else { return };
    match look(context.workspace(), &file) {
        Ok(look) => note(context, &known, &file, &look, None),
        Err(_) => forget(context, &known, &file),
    }
}

/// Notes that the session removed a file.
pub(crate) fn has_removed(context: &CallContext, file: &ResolvedPath) {
    if let Some(known) = known(context) {
        forget(context, &known, file);
    }
}

/// What the session knows; nothing when it lasts for one call only.
fn known(context: &CallContext) -> Option<Arc<KnownFiles>> {
    let known = KnownFiles::of(context.session())?;
    known.load_once(context.session(), store(context).as_deref());
    Some(known)
}

/// Where it is kept beyond this process, for sessions that go on elsewhere.
fn store(context: &CallContext) -> Option<Arc<dyn SeenFiles>> {
    is_kept_elsewhere(context).then(|| context.service::<dyn SeenFiles>()).flatten()
}

fn note(
    context: &CallContext,
    known: &KnownFiles,
    file: &ResolvedPath,
    look: &Look,
    range: Option<(u64, Option<u64>)>,
) {
    let outside = file.place() == Place::Outside;
    // What may not be read unasked is not shown later, so its text is not kept either.
    let hidden = outside || context.veil(Path::new("/")).hides(file.real());
    let text = look.text.as_deref().filter(|_| !hidden);
    let seen = SeenFile {
        path: file.real().to_owned(),
        version: look.version,
        young: look.young,
        hash: look.hash,
        range,
        accesses: 1,
        outside,
        told: Told::of(look.hash, look.version),
    };
    let seen = known.put(seen, text);
    if let Some(store) = store(context) {
        // What is not kept has to be read again, which does no harm.
        store.keep(context.session().id(), &seen, text).ok();
    }
}

fn forget(context: &CallContext, known: &KnownFiles, file: &ResolvedPath) {
    known.lock().forget(file.real());
    if let Some(store) = store(context) {
        store.forget(context.session().id(), file.real()).ok();
    }
}

fn not_read(context: &CallContext, file: &ResolvedPath) -> ToolError {
    let shown = context.workspace().shown(file.requested());
    ToolError::new(
        ErrorKind::NotRead,
        format!(
            "`{shown}` was not read in this session; read it first, so that the change fits what is there"
        ),
    )
}

fn modified(context: &CallContext, file: &ResolvedPath) -> ToolError {
    let shown = context.workspace().shown(file.requested());
    ToolError::new(
        ErrorKind::ModifiedSinceRead,
        format!(
            "`{shown}` was changed since this session read it; read it again, then make the change anew"
        ),
    )
}
