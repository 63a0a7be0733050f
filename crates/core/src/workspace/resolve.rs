//! From what a model wrote to the real path.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;
use toolgate_policy::{Access, PathFact, Place, Scope};

use super::descend;
use super::roots::Workspace;
use super::version::Version;
use crate::visible;

/// A path as it was asked for and as it really is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    requested: PathBuf,
    real: PathBuf,
    place: Place,
    kind: FileKind,
    hard_links: u64,
    size: u64,
    /// Whose it is, where the workspace tells its parts apart.
    scope: Option<Scope>,
    /// Which version stood there; nothing when nothing did.
    version: Option<Version>,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, seen only when links are not followed.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Nothing yet; the folder above may be missing too.
    Missing,
    /// Not told: the path leads nowhere, and it does so outside of the workspace.
    Unreachable,
}

impl FileKind {
    fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Pipe,
            FileType::Socket => Self::Socket,
            _ => Self::Device,
        }
    }

    /// What to call it in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a directory",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe (FIFO)",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Missing | Self::Unreachable => "missing",
        }
    }
}

/// Whether a symbolic link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// To what it points to.
    Link,
    /// The link itself is meant.
    Never,
}

/// Why a path leads nowhere.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ResolveError {
    #[error("the path is empty")]
    Empty,
    #[error("the path holds a NUL byte")]
    Nul,
    #[error("`{shown}` is a symbolic link to a missing file")]
    DanglingLink { shown: String },
    #[error("`{shown}` goes up from a folder that does not exist")]
    UpFromMissing { shown: String },
    #[error("`{shown}` is a file, not a directory")]
    NotAFolder { shown: String },
    #[error(
        "`{shown}` leads through more symbolic links than the system follows, or through a magic link"
    )]
    Links { shown: String },
    #[error("no permission to reach `{shown}`")]
    Permission { shown: String },
    #[error("cannot resolve `{shown}`")]
    Other { shown: String, source: std::io::Error },
}

impl ResolvedPath {
    /// The absolute path that was asked for.
    pub fn requested(&self) -> &Path {
        &self.requested
    }

    /// The real path, every symbolic link followed.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// What stood there when it was resolved.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Whether the real path lies in the workspace.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whose it is, where the workspace tells its parts apart.
    pub fn scope(&self) -> Option<Scope> {
        self.scope
    }

    /// The size in bytes when it was resolved.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Which version stood there when it was resolved.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// What the policy should know about a use of this path.
    pub fn fact(&self, access: Access) -> PathFact {
        PathFact {
            requested: self.requested.clone(),
            resolved: self.real.clone(),
            access,
            place: self.place,
            hard_links: if self.kind == FileKind::File { self.hard_links } else { 1 },
            scope: self.scope,
        }
    }
}

impl Workspace {
    /// Follows a path to what it really is. Relative paths start at the main folder.
    ///
    /// Why a path outside of the workspace leads nowhere is told only when it is
    /// opened, after the policy has spoken: it says something about what is there.
    pub fn resolve(&self, path: &Path, follow: Follow) -> Result<ResolvedPath, ResolveError> {
        if path.as_os_str().is_empty() {
            return Err(ResolveError::Empty);
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(ResolveError::Nul);
        }
        let requested = self.root().join(path);
        match self.resolve_now(requested.clone(), follow) {
            Err(_) if self.ends_outside(&requested) => Ok(ResolvedPath {
                real: requested.clone(),
                requested,
                place: Place::Outside,
                kind: FileKind::Unreachable,
                hard_links: 0,
                size: 0,
                scope: None,
                version: None,
            }),
            resolved => resolved,
        }
    }

    /// Resolves without regard to who may know the outcome.
    pub(super) fn resolve_now(
        &self,
        requested: PathBuf,
        follow: Follow,
    ) -> Result<ResolvedPath, ResolveError> {
        match follow {
            Follow::Link => self.resolve_following(requested),
            Follow::Never => self.resolve_entry(requested),
        }
    }

    /// Whether the part of a path that exists ends outside of the workspace.
    fn ends_outside(&self, requested: &Path) -> bool {
        // Without a last dot, which needs the right to enter where looking does not.
        let requested: PathBuf = requested.components().collect();
        let existing = requested
            .ancestors()
            .find_map(|above| Some((descend::open_following(above, OFlags::PATH).ok()?, above)));
        let real = existing.and_then(|(folder, above)| real_path(&folder, above).ok());
        real.is_none_or(|real| self.place_of(&real) == Place::Outside)
    }

    fn resolve_following(&self, requested: PathBuf) -> Result<ResolvedPath, ResolveError> {
        match descend::open_following(&requested, OFlags::PATH) {
            Ok(file) => self.look_at(requested, &file),
            Err(Errno::NOENT) => self.resolve_missing(requested),
            Err(error) => Err(self.resolve_error(&requested, error)),
        }
    }

    /// Looks at what was opened.
    fn look_at(&self, requested: PathBuf, file: &OwnedFd) -> Result<ResolvedPath, ResolveError> {
        let failed = |error| self.resolve_error(&requested, error);
        let stat = rustix::fs::fstat(file).map_err(failed)?;
        let real = real_path(file, &requested).map_err(failed)?;
        Ok(self.resolved(requested, real, &stat))
    }

    fn resolved(&self, requested: PathBuf, real: PathBuf, stat: &Stat) -> ResolvedPath {
        ResolvedPath {
            requested,
            place: self.place_of(&real),
            scope: self.scope_of(&real),
            real,
            kind: FileKind::of(stat),
            hard_links: stat.st_nlink,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            version: Some(Version::of(stat)),
        }
    }

    /// Resolves the folder and takes the last name as it is.
    fn resolve_entry(&self, requested: PathBuf) -> Result<ResolvedPath, ResolveError> {
        let (Some(parent), Some(name)) = (requested.parent(), requested.file_name()) else {
            return self.resolve_following(requested);
        };
        // A trailing slash or dot names the folder behind a link, which `file_name` hides.
        let folder = match descend::open_following(parent, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return self.resolve_missing(requested),
            Err(error) => return Err(self.resolve_error(&requested, error)),
        };
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let real = real_path(&folder, parent)
                    .map_err(|error| self.resolve_error(&requested, error))?
                    .join(name);
                Ok(self.resolved(requested, real, &stat))
            }
            Err(Errno::NOENT) => self.resolve_missing(requested),
            Err(error) => Err(self.resolve_error(&requested, error)),
        }
    }

    /// Resolves the part that exists; the rest must be plain names.
    fn resolve_missing(&self, requested: PathBuf) -> Result<ResolvedPath, ResolveError> {
        let mut existing = requested.as_path();
        let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
        let folder = loop {
            let Some(Component::Normal(name)) = existing.components().next_back() else {
                let shown = visible::path(&requested);
                return Err(ResolveError::UpFromMissing { shown });
            };
            missing.push(name);
            existing = existing.parent().unwrap_or(Path::new("/"));
            match descend::open_following(existing, OFlags::PATH) {
                Ok(folder) => break folder,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(self.resolve_error(&requested, error)),
            }
        };
        let failed = |error| self.resolve_error(&requested, error);
        let mut real = real_path(&folder, existing).map_err(failed)?;
        missing.reverse();
        if let Some(first) = missing.first()
            && rustix::fs::statat(folder.as_fd(), *first, AtFlags::SYMLINK_NOFOLLOW).is_ok()
        {
            let shown = self.shown(&real.join(first));
            return Err(ResolveError::DanglingLink { shown });
        }
        real.extend(missing);
        Ok(ResolvedPath {
            place: self.place_of(&real),
            scope: self.scope_of(&real),
            requested,
            real,
            kind: FileKind::Missing,
            hard_links: 0,
            size: 0,
            version: None,
        })
    }

    pub(crate) fn place_of(&self, real: &Path) -> Place {
        if self.root_of(real).is_some() { Place::Workspace } else { Place::Outside }
    }

    fn resolve_error(&self, path: &Path, error: Errno) -> ResolveError {
        let shown = self.shown(path);
        match error {
            Errno::LOOP => ResolveError::Links { shown },
            Errno::ACCESS | Errno::PERM => ResolveError::Permission { shown },
            Errno::NOTDIR => ResolveError::NotAFolder { shown: self.shown(&file_on_the_way(path)) },
            other => ResolveError::Other { shown, source: other.into() },
        }
    }
}

/// The real path of an open file, asked of the kernel.
fn real_path(file: &OwnedFd, opened_as: &Path) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;

    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    match rustix::fs::readlink(link, Vec::with_capacity(256)) {
        Ok(target) => Ok(PathBuf::from(OsString::from_vec(target.into_bytes()))),
        // Without /proc the path is looked up again; opening still refuses links on it.
        Err(_) => opened_as
            .canonicalize()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

/// The first part of a path that is no folder.
fn file_on_the_way(path: &Path) -> PathBuf {
    let mut ancestors: Vec<&Path> = path.ancestors().skip(1).collect();
    ancestors.reverse();
    let file = ancestors.into_iter().find(|part| !part.is_dir());
    file.unwrap_or(path).to_owned()
}
