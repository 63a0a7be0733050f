//! What the engine may ask about the machine. It looks at nothing itself.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::effect::{Access, PathFact, Place};
use crate::level::Level;

/// The machine as a decision sees it.
pub trait World: fmt::Debug + Sync {
    /// The folder the session works in, where relative paths begin.
    fn workspace(&self) -> &Path;

    /// The user's home folder.
    fn home(&self) -> Option<&Path>;

    /// What an absolute path really is.
    fn look(&self, path: &Path, access: Access) -> PathFact;

    /// The files a shell pattern stands for in a folder; nothing when that cannot be told.
    fn expand(&self, folder: &Path, pattern: &str) -> Option<Vec<String>>;

    /// What in the git settings of a folder makes git run another program, if anything does.
    fn git_runs(&self, folder: &Path) -> Option<String>;

    /// Whether a test holds for a file anywhere below a folder; nothing when there is too much to
    /// look at.
    fn some_below(&self, folder: &Path, test: &mut dyn FnMut(&Path) -> bool) -> Option<bool>;

    /// Whether a bare name means a program that the workspace cannot have put there.
    fn is_trusted_program(&self, name: &str) -> bool;

    /// What a sandbox can enforce here. Asked only about commands, because it may take a moment.
    fn level(&self) -> Level;

    /// Seconds since 1970.
    fn now(&self) -> i64;

    /// Returns `true` if something is at a path. Asked only about paths that rules name.
    fn is_there(&self, _path: &Path) -> bool {
        true
    }

    /// Returns `true` if something is certainly at a path.
    fn is_certainly_there(&self, _path: &Path) -> bool {
        false
    }

    /// Returns `true` if a path is a symbolic link, or may be one.
    fn is_link(&self, _path: &Path) -> bool {
        true
    }

    /// Returns the value of one of the user's environment variables.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Returns the text of one of the user's own settings files. A file of a workspace is not
    /// one, wherever it lies.
    fn user_file(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Returns the text of a small file, wherever it lies; nothing when it cannot be read. Asked
    /// only about files that tell programs what to do.
    fn text(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Returns the addresses of the remotes of the repository around a folder.
    fn remotes(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }
}

/// A world without a file system: paths are what they say.
#[derive(Debug, Clone)]
pub struct Lexical {
    workspace: PathBuf,
    home: Option<PathBuf>,
    level: Level,
}

impl Lexical {
    /// A world with this workspace and no home.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: workspace.into(), home: None, level: Level::Namespaces }
    }

    /// The same world where a sandbox can enforce only so much.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The same world with a home folder.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }
}

impl World for Lexical {
    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn look(&self, path: &Path, access: Access) -> PathFact {
        let resolved = normal(path);
        let place =
            if lies_in(&resolved, &self.workspace) { Place::Workspace } else { Place::Outside };
        PathFact { requested: path.to_owned(), resolved, access, place, hard_links: 1, scope: None }
    }

    fn expand(&self, _folder: &Path, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    fn git_runs(&self, _folder: &Path) -> Option<String> {
        None
    }

    fn some_below(&self, _folder: &Path, _test: &mut dyn FnMut(&Path) -> bool) -> Option<bool> {
        Some(false)
    }

    fn is_trusted_program(&self, _name: &str) -> bool {
        true
    }

    fn level(&self) -> Level {
        self.level
    }

    fn now(&self) -> i64 {
        0
    }
}

/// Whether a path is a folder or lies in it.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let [path_bytes, folder_bytes] = [path, folder].map(|path| path.as_os_str().as_encoded_bytes());
    let rest = path_bytes.strip_prefix(folder_bytes);
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/'))) || path.starts_with(folder)
}

/// Whether every slash in a path is followed by a name without a leading dot, so that there is
/// nothing to take out of it.
pub(crate) fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    // Without a way out, so that many bytes are looked at at a time.
    let odd = pairs.fold(0, |found, (byte, next)| {
        found | (u8::from(*byte == b'/') & u8::from(matches!(next, b'/' | b'.')))
    });
    odd == 0 && bytes.last() != Some(&b'/')
}

/// A path as seen from a folder, in memory of the right size.
pub(crate) fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut joined = PathBuf::with_capacity(folder.as_os_str().len() + 1 + path.len());
    joined.push(folder);
    joined.push(path);
    joined
}

/// A path with `.` and `..` taken out, symbolic links not looked at.
pub fn normal(path: &Path) -> PathBuf {
    if path.is_absolute() && is_plain(path) {
        return path.to_owned();
    }
    let mut normal = PathBuf::with_capacity(path.as_os_str().len());
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
