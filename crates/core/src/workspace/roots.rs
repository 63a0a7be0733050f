//! The folders that count as workspace.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use toolgate_policy::Scope;

use super::scope::{Purpose, Scopes};
use crate::visible;

/// The folder a session works in, plus folders added to it.
#[derive(Debug, Clone)]
pub struct Workspace {
    roots: Vec<Root>,
    home: Option<PathBuf>,
    scopes: Option<Scopes>,
}

#[derive(Debug, Clone)]
struct Root {
    path: PathBuf,
    folder: Arc<OwnedFd>,
}

/// Why a folder cannot be a workspace.
#[derive(Debug, thiserror::Error)]
#[error("cannot open workspace folder `{}`", visible::path(path))]
pub struct OpenWorkspaceError {
    path: PathBuf,
    source: std::io::Error,
}

impl Workspace {
    /// Opens a folder to work in.
    pub fn open(folder: &Path) -> Result<Self, OpenWorkspaceError> {
        Ok(Self { roots: vec![Root::open(folder)?], home: std::env::home_dir(), scopes: None })
    }

    /// Adds a folder that counts as workspace too.
    pub fn add(&mut self, folder: &Path) -> Result<(), OpenWorkspaceError> {
        self.roots.push(Root::open(folder)?);
        Ok(())
    }

    /// The real paths of all folders, the main one first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The main folder, its real path.
    pub fn root(&self) -> &Path {
        &self.main().path
    }

    /// A path as people and models should see it: relative to the main folder where possible.
    pub fn shown(&self, path: &Path) -> String {
        if let Some((scope, inner)) = self.scopes.as_ref().and_then(|scopes| scopes.of(path)) {
            return format!("{}:/{}", scope.name(), visible::path(inner));
        }
        match path.strip_prefix(self.root()) {
            Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Ok(inner) => visible::path(inner),
            Err(_) => visible::path(path),
        }
    }

    /// The same workspace, where paths may be `private:/`, `shared:/` or `public:/`. The folders
    /// behind the first two count as workspace from then on.
    ///
    /// # Errors
    ///
    /// When one of the folders cannot be opened.
    pub fn with_scopes(
        mut self,
        private: &Path,
        shared: &Path,
    ) -> Result<Self, OpenWorkspaceError> {
        let (private, shared) = (Root::open(private)?, Root::open(shared)?);
        self.scopes = Some(Scopes {
            private: private.path.clone(),
            shared: shared.path.clone(),
            public: self.root().to_owned(),
        });
        self.roots.extend([private, shared]);
        Ok(self)
    }

    /// Where a path from a model leads: its scope taken away, if scopes are in use.
    pub fn located<'p>(&self, path: &'p str, purpose: Purpose) -> Cow<'p, Path> {
        match &self.scopes {
            Some(scopes) => scopes.located(path, purpose),
            None => Cow::Borrowed(Path::new(path)),
        }
    }

    /// Whose a real path is; nothing when it is nobody's, or scopes are not in use.
    pub(super) fn scope_of(&self, real: &Path) -> Option<Scope> {
        let scope = self.scopes.as_ref()?.of(real).map(|(scope, _)| scope);
        // A folder that was added is as public as the main one.
        scope.or_else(|| self.roots().any(|root| real.starts_with(root)).then_some(Scope::Public))
    }

    fn main(&self) -> &Root {
        self.roots.first().expect("a workspace has its main folder")
    }

    /// The folder that holds a real path, and the rest of the path below it.
    pub(super) fn root_of<'a>(&self, real: &'a Path) -> Option<(BorrowedFd<'_>, &'a Path)> {
        self.roots.iter().find_map(|root| {
            let inner = real.strip_prefix(&root.path).ok()?;
            Some((root.folder.as_fd(), inner))
        })
    }
}

impl Root {
    fn open(folder: &Path) -> Result<Self, OpenWorkspaceError> {
        let failed = |source| OpenWorkspaceError { path: folder.to_owned(), source };
        let path = folder.canonicalize().map_err(failed)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        // A folder that may not be entered would seem to hold nothing, not even itself.
        rustix::fs::openat(&folder, ".", flags, Mode::empty())
            .map_err(|error| failed(error.into()))?;
        Ok(Self { path, folder: Arc::new(folder) })
    }
}
