//! The parts of a workspace: a task's own, its group's, everybody's.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use toolgate_policy::Scope;

/// The real folders of the scopes.
#[derive(Debug, Clone)]
pub(super) struct Scopes {
    pub(super) private: PathBuf,
    pub(super) shared: PathBuf,
    /// The workspace itself.
    pub(super) public: PathBuf,
}

/// What a path is wanted for, which decides what it means without a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The task's own file, if there is one of that name; else everybody's.
    Reading,
    /// The task's own file.
    Changing,
}

impl Scopes {
    /// Where a path from a model leads, its scope taken away.
    pub(super) fn located<'p>(&self, path: &'p str, purpose: Purpose) -> Cow<'p, Path> {
        if let Some((scope, inner)) = split(path) {
            return Cow::Owned(self.folder(scope).join(inner));
        }
        let path = Path::new(path);
        let first = path.components().find(|part| *part != Component::CurDir);
        if !matches!(first, Some(Component::Normal(_))) {
            return Cow::Borrowed(path);
        }
        let own = self.private.join(path);
        match purpose {
            Purpose::Reading if !own.is_file() => Cow::Borrowed(path),
            _ => Cow::Owned(own),
        }
    }

    /// Whose a path is, and the rest of it in that scope.
    pub(super) fn of<'p>(&self, path: &'p Path) -> Option<(Scope, &'p Path)> {
        let inner = |scope: Scope| path.strip_prefix(self.folder(scope)).ok();
        Scope::ALL.into_iter().find_map(|scope| Some((scope, inner(scope)?)))
    }

    fn folder(&self, scope: Scope) -> &Path {
        match scope {
            Scope::Private => &self.private,
            Scope::Shared => &self.shared,
            Scope::Public => &self.public,
        }
    }
}

/// The scope a path names, and the rest of it.
fn split(path: &str) -> Option<(Scope, &str)> {
    let (name, inner) = path.split_once(':')?;
    Some((Scope::named(name)?, inner.trim_start_matches('/')))
}
