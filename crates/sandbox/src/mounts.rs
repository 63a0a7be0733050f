//! Building the file tree a confined command sees, in a namespace of its own.

mod devices;
mod piece;

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};

use self::devices::{Devices, EMPTY_FILE, EMPTY_FOLDER, READABLE_FILE};
use self::piece::{FIXED, Piece, TAME, find};
use crate::sys;
use crate::view::{Guard, View, outermost};

/// Builds the tree.
///
/// # Errors
///
/// When a step fails, with the step. The command must not run then.
pub(crate) fn build(view: &View) -> Result<(), String> {
    let step = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(|error| step("leaving the other mounts")(error.into()))?;
    let devices = Devices::take();
    let scratch = take(&view.scratch, TAME).map_err(step("taking the temporary folder"))?;
    let kept = take_kept(view).map_err(step("taking the workspace"))?;
    let copies = take_copies(view).map_err(step("copying caches"))?;
    find(Path::new("/"))
        .and_then(|root| sys::set_mounts(root.as_fd(), FIXED))
        .map_err(step("making everything read-only"))?;
    devices.put().map_err(step("making /dev"))?;
    cover(view, &scratch).map_err(step("placing the temporary folder"))?;
    put_kept(kept).map_err(step("placing the workspace"))?;
    put_copies(copies).map_err(step("placing copies of caches"))?;
    guard(view)?;
    mask(view)?;
    Piece::new(c"proc", &[])
        .and_then(|proc| proc.with(FIXED)?.put_on(Path::new("/proc")))
        .map_err(step("making /proc"))?;
    seal_devices().map_err(step("closing /dev"))
}

fn take(path: &Path, attributes: u64) -> io::Result<Piece> {
    Piece::of(path)?.with(attributes)
}

/// Something that stays where it is whatever is put over it.
struct Kept {
    at: PathBuf,
    is_folder: bool,
    is_covered: bool,
    piece: Piece,
}

/// Takes the folders to write in, and what would be covered. Outer ones come first.
fn take_kept(view: &View) -> io::Result<Vec<Kept>> {
    let is_covered = |path: &Path| view.temporary.iter().any(|cover| path.starts_with(cover));
    let writable = view.writable.iter().map(|path| (path, TAME));
    let readable = view.kept.iter().filter(|path| is_covered(path)).cloned().collect();
    let readable = outermost(readable);
    let readable = readable.iter().map(|path| (path, FIXED));
    let mut kept = Vec::new();
    for (path, attributes) in writable.chain(readable) {
        let found = find(path)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode);
        let piece = Piece::of_found(&found)?.with(attributes)?;
        let is_folder = kind == FileType::Directory;
        kept.push(Kept { at: path.clone(), is_folder, is_covered: is_covered(path), piece });
    }
    kept.sort_by_key(|kept| kept.at.components().count());
    Ok(kept)
}

/// Makes copies of caches. Where an overlay cannot be made, the copy begins empty.
fn take_copies(view: &View) -> io::Result<Vec<(PathBuf, Piece)>> {
    let mut copies = Vec::new();
    for copy in &view.copies {
        let piece = Piece::overlay(&copy.of, &copy.upper, &copy.work)
            .or_else(|_| take(&copy.upper, TAME))?;
        copies.push((copy.of.clone(), piece));
    }
    Ok(copies)
}

fn put_copies(copies: Vec<(PathBuf, Piece)>) -> io::Result<()> {
    for (at, piece) in copies {
        // A cache below the temporary folder is covered by it.
        if find(&at).is_err() {
            make_place(&at, true)?;
        }
        piece.put_on(&at)?;
    }
    Ok(())
}

/// Puts the temporary folder where programs expect one.
fn cover(view: &View, scratch: &Piece) -> io::Result<()> {
    for place in &view.temporary {
        Piece::of_found(scratch)?.with(TAME)?.put_on(place)?;
    }
    Ok(())
}

fn put_kept(kept: Vec<Kept>) -> io::Result<()> {
    for Kept { at, is_folder, is_covered, piece } in kept {
        if is_covered && find(&at).is_err() {
            make_place(&at, is_folder)?;
        }
        piece.put_on(&at)?;
    }
    Ok(())
}

/// Makes a path to put something on. A command that ran before may have left anything there;
/// whatever is no folder on the way is removed, and no link is followed.
fn make_place(path: &Path, is_folder: bool) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let mut folder = openat(CWD, "/", flags, Mode::empty())?;
    let mut parts = path.components().skip(1).peekable();
    while let Some(part) = parts.next() {
        let name = part.as_os_str();
        let is_last = parts.peek().is_none();
        let kind = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kind = kind.map(|stat| FileType::from_raw_mode(stat.st_mode));
        let wants_folder = !is_last || is_folder;
        let is_right = kind.is_some_and(|kind| (kind == FileType::Directory) == wants_folder);
        if !is_right {
            if kind.is_some() {
                unlinkat(&folder, name, AtFlags::empty())?;
            }
            let made = if wants_folder {
                mkdirat(&folder, name, Mode::from_raw_mode(0o755))
            } else {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                openat(&folder, name, flags, Mode::from_raw_mode(0o444)).map(drop)
            };
            match made {
                // Another command of the same session was first.
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !is_last {
            folder = openat(&folder, name, flags, Mode::empty())?;
        }
    }
    Ok(())
}

/// Fixes what must not change. Outer paths come first.
fn guard(view: &View) -> Result<(), String> {
    for (path, guard) in &view.guards {
        let attributes = match guard {
            Guard::ReadOnly => FIXED,
            Guard::Immovable => TAME,
        };
        let guarded = find(path).and_then(|place| {
            // Nothing can be read from a socket, and programs that copy the folder would fail.
            let kind = FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
            let is_stand_in = kind == FileType::Socket;
            let piece = if is_stand_in {
                take(Path::new(READABLE_FILE), FIXED)?
            } else {
                take(path, attributes)?
            };
            piece.put_on_found(place)
        });
        guarded.map_err(|error| format!("protecting `{}`: {error}", path.display()))?;
    }
    Ok(())
}

/// Puts nothing over secrets. What is not there any more, or cannot be reached, shows nothing.
fn mask(view: &View) -> Result<(), String> {
    for path in &view.masked {
        let place = match find(path) {
            Ok(place) => place,
            Err(error) if is_out_of_reach(&error) => continue,
            Err(error) => return Err(format!("hiding `{}`: {error}", path.display())),
        };
        let masked = rustix::fs::fstat(&place).map_err(io::Error::from).and_then(|stat| {
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let empty = if is_folder { EMPTY_FOLDER } else { EMPTY_FILE };
            take(Path::new(empty), FIXED)?.put_on_found(&place)
        });
        masked.map_err(|error| format!("hiding `{}`: {error}", path.display()))?;
    }
    Ok(())
}

fn is_out_of_reach(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// Only the folder itself: what is mounted in it stays as it is.
fn seal_devices() -> io::Result<()> {
    sys::set_mount(find(Path::new("/dev"))?.as_fd(), libc::MOUNT_ATTR_RDONLY)
}
