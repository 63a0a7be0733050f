//! Opening what was judged.

use std::fs::{File, Metadata};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::descend;
use super::resolve::{FileKind, Follow, ResolveError, ResolvedPath};
use super::roots::Workspace;

/// `/proc` as `fstatfs` names it.
const PROC_MAGIC: i64 = 0x9fa0;

/// What may be read below `/proc`: facts about the machine, not about a process.
const HARMLESS_PROC: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/filesystems",
    "/proc/stat",
];

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    /// The file itself.
    pub file: File,
    /// What the file system says about it.
    pub metadata: Metadata,
}

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum OpenError {
    #[error("there is no such file")]
    Missing,
    #[error("it is {}, not a regular file", kind.noun())]
    NotRegular { kind: FileKind },
    #[error("it is a file of `/proc` that can expose a process")]
    Proc,
    #[error(transparent)]
    Unresolved(ResolveError),
    #[error("permission denied")]
    Permission,
    #[error("a folder on the way was replaced by a symbolic link")]
    Replaced,
    #[error("it was changed since it was looked at")]
    Changed,
    #[error(transparent)]
    Other(std::io::Error),
}

impl Workspace {
    /// Opens a resolved path for reading: a regular file, or an error.
    pub fn open_file(&self, path: &ResolvedPath) -> Result<OpenFile, OpenError> {
        self.reachable(path)?;
        match path.kind() {
            FileKind::File => {}
            FileKind::Missing => return Err(OpenError::Missing),
            kind => return Err(OpenError::NotRegular { kind }),
        }
        // Non-blocking, so that a pipe put there in the meantime cannot hold us up.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open_real(path.real(), flags)?);
        let metadata = file.metadata().map_err(OpenError::Other)?;
        if !metadata.is_file() {
            return Err(OpenError::NotRegular { kind: FileKind::Device });
        }
        // Most files of /proc say they are empty, so others need the second look only there.
        let suspicious = metadata.len() == 0 || path.real().starts_with("/proc");
        if suspicious && is_guarded_proc(&file, path.real()) {
            return Err(OpenError::Proc);
        }
        Ok(OpenFile { file, metadata })
    }

    /// Opens a resolved folder for listing.
    pub fn open_folder(&self, path: &ResolvedPath) -> Result<OwnedFd, OpenError> {
        self.reachable(path)?;
        match path.kind() {
            FileKind::Folder => {
                let folder = self.open_real(path.real(), OFlags::RDONLY | OFlags::DIRECTORY)?;
                if is_proc(&folder) { Err(OpenError::Proc) } else { Ok(folder) }
            }
            FileKind::Missing => Err(OpenError::Missing),
            kind => Err(OpenError::NotRegular { kind }),
        }
    }

    /// Tells why a path leads nowhere, now that it may be told.
    pub(super) fn reachable(&self, path: &ResolvedPath) -> Result<(), OpenError> {
        if path.kind() != FileKind::Unreachable {
            return Ok(());
        }
        match self.resolve_now(path.requested().to_owned(), Follow::Link) {
            Err(error) => Err(OpenError::Unresolved(error)),
            // It leads somewhere by now, but that was not judged.
            Ok(_) => Err(OpenError::Replaced),
        }
    }

    /// Opens a real path, refusing symbolic links anywhere on it.
    pub(super) fn open_real(&self, real: &Path, flags: OFlags) -> Result<OwnedFd, OpenError> {
        let opened = match self.root_of(real) {
            Some((folder, inner)) => descend::open_beneath(folder, inner, flags),
            None => descend::open_absolute(real, flags),
        };
        opened.map_err(open_error)
    }
}

fn is_guarded_proc(file: &File, real: &Path) -> bool {
    !HARMLESS_PROC.iter().any(|path| Path::new(path) == real) && is_proc(file)
}

/// Whether something lies in `/proc`. A file system that does not say what it is counts as such.
fn is_proc(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file).map_or(true, |system| system.f_type == PROC_MAGIC)
}

pub(super) fn open_error(error: Errno) -> OpenError {
    match error {
        Errno::NOENT => OpenError::Missing,
        Errno::ACCESS | Errno::PERM => OpenError::Permission,
        Errno::LOOP | Errno::XDEV => OpenError::Replaced,
        other => OpenError::Other(other.into()),
    }
}
