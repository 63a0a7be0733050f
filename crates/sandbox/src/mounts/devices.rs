//! A `/dev` with nothing in it that reaches anything.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::piece::{FIXED, Piece};

/// Devices that hold nothing and lead nowhere.
const HARMLESS: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Memory that programs share by files, at most.
const SHARED_MEMORY: &std::ffi::CStr = c"2g";

/// What stands in for a masked file; nobody may open it.
pub(super) const EMPTY_FILE: &str = "/dev/.masked-file";
/// An empty file that everybody may read.
pub(super) const READABLE_FILE: &str = "/dev/.empty-file";
/// What stands in for a masked folder.
pub(super) const EMPTY_FOLDER: &str = "/dev/.masked-folder";

/// Makes an empty folder to put over another one. Places can be made in it.
pub(super) fn make_cover(number: usize) -> io::Result<PathBuf> {
    let cover = PathBuf::from(format!("/dev/.cover-{number}"));
    DirBuilder::new().mode(0o755).create(&cover)?;
    Ok(cover)
}

/// The devices, taken before they are out of reach.
#[derive(Debug)]
pub(super) struct Devices(Vec<(PathBuf, Piece)>);

impl Devices {
    /// Takes those there are.
    pub(super) fn take() -> Self {
        let paths = HARMLESS.iter().map(|name| Path::new("/dev").join(name));
        Self(paths.filter_map(|path| Some((path.clone(), Piece::of(&path).ok()?))).collect())
    }

    /// Puts a new `/dev` in place.
    pub(super) fn put(self) -> io::Result<()> {
        let dev = Path::new("/dev");
        let options = [(c"mode", c"755"), (c"size", c"1m")];
        Piece::new(c"tmpfs", &options)?.put_on(dev)?;
        for (path, piece) in self.0 {
            File::create(&path)?;
            piece.with(libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)?.put_on(&path)?;
        }
        for (name, target) in LINKS {
            symlink(target, dev.join(name))?;
        }
        for name in ["pts", "shm", "mqueue"] {
            fs::create_dir(dev.join(name))?;
        }
        let options = [(c"newinstance", c""), (c"ptmxmode", c"0666"), (c"mode", c"0620")];
        Piece::new(c"devpts", &options)?.put_on(&dev.join("pts"))?;
        let options = [(c"mode", c"1777"), (c"size", SHARED_MEMORY)];
        Piece::new(c"tmpfs", &options)?.put_on(&dev.join("shm"))?;
        File::create(EMPTY_FILE)?.set_permissions(Permissions::from_mode(0o000))?;
        File::create(READABLE_FILE)?.set_permissions(Permissions::from_mode(0o444))?;
        DirBuilder::new().mode(0o555).create(EMPTY_FOLDER)?;
        // Whatever is put over a secret is read-only because this is.
        for empty in [EMPTY_FILE, EMPTY_FOLDER].map(Path::new) {
            Piece::of(empty)?.with(FIXED)?.put_on(empty)?;
        }
        Ok(())
    }
}
