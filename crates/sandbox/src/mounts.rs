//! Building the file tree a confined command sees, in a namespace of its own.

mod devices;
mod piece;

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};

use self::devices::{Devices, EMPTY_FILE, EMPTY_FOLDER, READABLE_FILE};
use self::piece::{FIXED, Piece, TAME, find};
use crate::sys;
use crate::view::{Guard, View};

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
    let mut layers = take_writable(view).map_err(step("taking the workspace"))?;
    find(Path::new("/"))
        .and_then(|root| sys::set_mounts(root.as_fd(), FIXED))
        .map_err(step("making everything read-only"))?;
    layers.extend(take_readable(view).map_err(step("taking what is shown"))?);
    devices.put().map_err(step("making /dev"))?;
    put_layers(view, layers).map_err(step("placing the workspace"))?;
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

/// Something that is put over what is there.
struct Layer {
    at: PathBuf,
    is_folder: bool,
    /// The piece that is put there; without one, only what is put there later is seen.
    piece: Option<Piece>,
}

/// Takes what can be written.
fn take_writable(view: &View) -> io::Result<Vec<Layer>> {
    let mut layers = Vec::new();
    let scratch = find(&view.scratch)?;
    for place in &view.temporary {
        layers.push(folder(place, Some(Piece::of_found(&scratch)?.with(TAME)?)));
    }
    for path in &view.writable {
        layers.push(Layer::of(path, &find(path)?, TAME)?);
    }
    // A person agreed to show something among the secrets of a folder that can be written.
    let kept = view.kept.iter().filter(|path| !view.writable.contains(path));
    for path in kept.filter(|path| view.is_written(path) && view.is_covered(path)) {
        if let Ok(found) = find(path) {
            layers.push(Layer::of(path, &found, TAME)?);
        }
    }
    layers.extend(take_copies(view)?);
    Ok(layers)
}

/// Takes what is seen although something covers it, after all of it has become read-only.
fn take_readable(view: &View) -> io::Result<Vec<Layer>> {
    let mut layers: Vec<Layer> = view.covers.iter().map(|cover| folder(cover, None)).collect();
    let is_copy = |path: &PathBuf| view.copies.iter().any(|copy| copy.of == *path);
    let kept = view.kept.iter().filter(|path| !is_copy(path) && !view.is_written(path));
    let kept: BTreeSet<&PathBuf> = kept.filter(|path| view.is_covered(path)).collect();
    for path in kept {
        // What was replaced by a link meanwhile, or is gone, is not to be seen.
        if let Ok(found) = find(path) {
            layers.push(Layer::of(path, &found, 0)?);
        }
    }
    Ok(layers)
}

impl Layer {
    fn of(path: &Path, found: &OwnedFd, attributes: u64) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(found)?.st_mode);
        let mut piece = Piece::of_found(found)?;
        if attributes != 0 {
            piece = piece.with(attributes)?;
        }
        let is_folder = kind == FileType::Directory;
        Ok(Self { at: path.to_owned(), is_folder, piece: Some(piece) })
    }
}

fn folder(at: &Path, piece: Option<Piece>) -> Layer {
    Layer { at: at.to_owned(), is_folder: true, piece }
}

/// Makes copies of caches. Where an overlay cannot be made, the copy begins empty.
fn take_copies(view: &View) -> io::Result<Vec<Layer>> {
    let mut copies = Vec::new();
    for copy in &view.copies {
        let piece = Piece::overlay(&copy.of, &copy.upper, &copy.work)
            .or_else(|_| take(&copy.upper, TAME))?;
        copies.push(folder(&copy.of, Some(piece)));
    }
    Ok(copies)
}

/// Puts everything in its place.
fn put_layers(view: &View, mut layers: Vec<Layer>) -> io::Result<()> {
    // Outer ones first, and of those at the same place what has nothing in it.
    layers.sort_by_key(|layer| (layer.at.components().count(), layer.piece.is_some()));
    let mut open = Vec::new();
    for Layer { at, is_folder, piece } in layers {
        if find(&at).is_err() {
            if !view.is_covered(&at) {
                continue;
            }
            make_place(&at, is_folder)?;
        }
        let Some(piece) = piece else {
            // A cover is sealed when all that is seen in it is there.
            let cover = devices::make_cover(open.len())?;
            take(&cover, TAME)?.put_on(&at)?;
            open.push(at);
            continue;
        };
        piece.put_on(&at)?;
    }
    for (link, target) in view.links.iter().filter(|(link, _)| view.is_covered(link)) {
        make_link(link, target)?;
    }
    if view.is_covered(&view.folder) && find(&view.folder).is_err() {
        make_place(&view.folder, true)?;
    }
    for cover in open {
        sys::set_mount(find(&cover)?.as_fd(), libc::MOUNT_ATTR_RDONLY)?;
    }
    Ok(())
}

/// Makes a link in a cover, unless something is there.
fn make_link(link: &Path, target: &Path) -> io::Result<()> {
    let Some(folder) = link.parent() else { return Ok(()) };
    make_place(folder, true)?;
    match std::os::unix::fs::symlink(target, link) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
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
        let guarded = find(path).and_then(|place| {
            // Nothing can be read from a socket, and programs that copy the folder would fail.
            let kind = FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
            let is_stand_in = kind == FileType::Socket;
            let piece = match guard {
                _ if is_stand_in => take(Path::new(READABLE_FILE), FIXED)?,
                Guard::ReadOnly => take(path, FIXED)?,
                Guard::Immovable => take(path, TAME)?,
                Guard::Writable => take(path, TAME)?.writable(),
            };
            piece.put_on_found(place)
        });
        guarded.map_err(|error| format!("protecting `{}`: {error}", path.display()))?;
    }
    Ok(())
}

/// Puts nothing over secrets. What is not there any more, or cannot be reached, shows nothing.
fn mask(view: &View) -> Result<(), String> {
    let empty_folder = find(Path::new(EMPTY_FOLDER)).map_err(|error| error.to_string())?;
    let empty_file = find(Path::new(EMPTY_FILE)).map_err(|error| error.to_string())?;
    for path in &view.masked {
        let place = match find(path) {
            Ok(place) => place,
            Err(error) if is_out_of_reach(&error) => continue,
            Err(error) => return Err(format!("hiding `{}`: {error}", path.display())),
        };
        let masked = rustix::fs::fstat(&place).map_err(io::Error::from).and_then(|stat| {
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let empty = if is_folder { &empty_folder } else { &empty_file };
            Piece::of_found(empty)?.put_on_found(&place)
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
