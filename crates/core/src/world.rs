//! The machine, as the policy may ask about it.

mod git;
mod names;
mod plain_file;

use std::env;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_policy::{Access, Level, PathFact, Place, World};

use crate::spawn::Spawner;
use crate::workspace::{Follow, Workspace};

/// Larger settings are not read.
const LARGEST_TEXT: u64 = 256 * 1024;
/// More files than this are not looked through.
const MOST_FILES: usize = 50_000;

/// The machine around a workspace.
#[derive(Debug, Clone, Copy)]
pub struct SessionWorld<'w> {
    workspace: &'w Workspace,
    sandbox: Enforced<'w>,
}

/// Who knows what a sandbox can enforce.
#[derive(Debug, Clone, Copy)]
enum Enforced<'w> {
    /// Whoever starts programs, if anybody does.
    By(Option<&'w dyn Spawner>),
    /// Nobody is asked.
    Assumed(Level),
}

impl<'w> SessionWorld<'w> {
    /// The machine around a workspace.
    pub fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, sandbox: Enforced::By(None) }
    }

    /// The same machine with somebody who starts programs.
    #[must_use]
    pub fn with_spawner(mut self, spawner: Option<&'w dyn Spawner>) -> Self {
        self.sandbox = Enforced::By(spawner);
        self
    }

    /// The same machine, as if a sandbox could enforce so much.
    #[must_use]
    pub fn assuming(mut self, level: Level) -> Self {
        self.sandbox = Enforced::Assumed(level);
        self
    }
}

impl World for SessionWorld<'_> {
    fn workspace(&self) -> &Path {
        self.workspace.root()
    }

    fn home(&self) -> Option<&Path> {
        self.workspace.home()
    }

    fn look(&self, path: &Path, access: Access) -> PathFact {
        match self.workspace.resolve(path, Follow::Link) {
            Ok(resolved) => resolved.fact(access),
            // A path that leads nowhere is nobody's, least of all ours.
            Err(_) => PathFact {
                requested: path.to_owned(),
                resolved: path.to_owned(),
                access,
                place: Place::Outside,
                hard_links: 1,
                scope: None,
            },
        }
    }

    fn expand(&self, folder: &Path, pattern: &str) -> Option<Vec<String>> {
        names::expand(folder, pattern)
    }

    fn git_runs(&self, folder: &Path) -> Option<String> {
        git::runs(folder)
    }

    fn some_below(&self, folder: &Path, test: &mut dyn FnMut(&Path) -> bool) -> Option<bool> {
        let mut waiting = vec![folder.to_owned()];
        let mut seen = 0;
        while let Some(folder) = waiting.pop() {
            let Ok(entries) = folder.read_dir() else {
                // A file, or nothing we could read; whoever is asked about it cannot either.
                if test(&folder) {
                    return Some(true);
                }
                continue;
            };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MOST_FILES {
                    return None;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                    _ if test(&entry.path()) => return Some(true),
                    _ => {}
                }
            }
        }
        Some(false)
    }

    fn is_trusted_program(&self, name: &str) -> bool {
        let Some(found) = find_program(name) else {
            // A word of the shell itself, or nothing that could run.
            return true;
        };
        found.is_ok_and(|program| self.workspace.place_of(&program) == Place::Outside)
    }

    fn level(&self) -> Level {
        match self.sandbox {
            Enforced::By(spawner) => spawner.map_or(Level::None, Spawner::level),
            Enforced::Assumed(level) => level,
        }
    }

    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    fn is_link(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|found| found.is_symlink())
    }

    fn is_there(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn is_certainly_there(&self, path: &Path) -> bool {
        self.is_there(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok()
    }

    fn user_file(&self, path: &Path) -> Option<String> {
        let real = path.canonicalize().ok()?;
        let is_foreign = self.workspace.place_of(&real) == Place::Outside;
        is_foreign.then(|| self.text(&real)).flatten()
    }

    fn text(&self, path: &Path) -> Option<String> {
        match plain_file::read(path, LARGEST_TEXT) {
            Ok(Some(bytes)) => String::from_utf8(bytes).ok(),
            Ok(None) | Err(_) => None,
        }
    }

    fn remotes(&self, folder: &Path) -> Vec<String> {
        git::remotes(folder)
    }
}

/// The real path of the program a bare name means; an error when the search path depends on
/// where one is.
fn find_program(name: &str) -> Option<Result<PathBuf, ()>> {
    let path = env::var_os("PATH")?;
    for folder in env::split_paths(&path) {
        if !folder.is_absolute() {
            return Some(Err(()));
        }
        let program = folder.join(name);
        if program.is_file() {
            return Some(program.canonicalize().map_err(|_| ()));
        }
    }
    None
}
