//! Which files are ignored, by the rules of every folder above them.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::GitignoreBuilder;
use rustix::fs::{Mode, OFlags};

use super::line::Rule;
use super::rules::Rules;

/// Ignore files are not read beyond this.
const MOST_BYTES: u64 = 1024 * 1024;

/// The ignore rules that hold in a folder: its own and those above it.
#[derive(Debug, Clone)]
pub(super) struct Ignores {
    nearest: Option<Arc<Level>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    global: Rules,
    /// Whether `.gitignore` counts outside of a repository too.
    git_everywhere: bool,
}

/// The rules of one folder that has some.
#[derive(Debug, Default)]
struct Level {
    above: Option<Arc<Level>>,
    /// `.rgignore` and `.ignore`, the stronger first.
    plain: Vec<Rules>,
    /// `.gitignore` and the repository's own exclude file, the stronger first.
    git: Vec<Rules>,
    is_repository: bool,
    in_repository: bool,
}

/// Which ignore files a folder has.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each file there may be")]
pub(super) struct Present {
    rgignore: bool,
    ignore: bool,
    gitignore: bool,
    git: bool,
}

impl Present {
    /// Takes note of a name.
    pub(super) fn see(&mut self, name: &[u8]) {
        match name {
            b".rgignore" => self.rgignore = true,
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }

    fn look(folder: &Path) -> Self {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        Self {
            rgignore: has(".rgignore"),
            ignore: has(".ignore"),
            gitignore: has(".gitignore"),
            git: has(".git"),
        }
    }

    fn any(self) -> bool {
        self.rgignore || self.ignore || self.gitignore || self.git
    }
}

impl Ignores {
    /// The rules above a folder where a walk begins.
    pub(super) fn above(root: &Path) -> Self {
        let (global, _) = GitignoreBuilder::new(".").build_global();
        let mut above: Vec<&Path> = root.ancestors().skip(1).collect();
        above.reverse();
        let in_repository =
            root.ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok());
        let shared = Shared {
            global: Rules::opaque(root, global),
            git_everywhere: in_repository || !hides_everything(root),
        };
        let mut ignores = Self { nearest: None, shared: Arc::new(shared) };
        for folder in above {
            ignores.go_below(folder, Present::look(folder));
        }
        ignores
    }

    /// Adds the rules of a folder, given which ignore files it has.
    pub(super) fn go_below(&mut self, folder: &Path, present: Present) {
        if !present.any() {
            return;
        }
        let read =
            |wanted: bool, name: &str| wanted.then(|| load(folder, &folder.join(name))).flatten();
        let mut level = Level {
            above: self.nearest.clone(),
            is_repository: present.git,
            in_repository: present.git
                || self.nearest.as_ref().is_some_and(|above| above.in_repository),
            ..Level::default()
        };
        level.plain.extend(read(present.rgignore, ".rgignore"));
        level.plain.extend(read(present.ignore, ".ignore"));
        level.git.extend(read(present.gitignore, ".gitignore"));
        if present.git {
            level.git.extend(load(folder, &exclude_file(folder)));
        }
        self.nearest = Some(Arc::new(level));
    }

    /// What the rules say about a path directly in the folder.
    pub(super) fn rule(&self, path: &Path, name: &OsStr, is_folder: bool) -> Rule {
        let mut plain = Rule::None;
        let mut git = Rule::None;
        let mut level = self.nearest.as_deref();
        let git_counts =
            self.shared.git_everywhere || level.is_some_and(|level| level.in_repository);
        let mut left_repository = false;
        while let Some(current) = level {
            if plain == Rule::None {
                plain = first_rule(&current.plain, path, name, is_folder);
            }
            if git == Rule::None && git_counts && !left_repository {
                git = first_rule(&current.git, path, name, is_folder);
            }
            left_repository |= current.is_repository;
            level = current.above.as_deref();
        }
        match (plain, git) {
            (Rule::None, Rule::None) if git_counts => {
                self.shared.global.rule(path, name, is_folder)
            }
            (Rule::None, git) => git,
            (plain, _) => plain,
        }
    }
}

fn first_rule(files: &[Rules], path: &Path, name: &OsStr, is_folder: bool) -> Rule {
    files
        .iter()
        .map(|file| file.rule(path, name, is_folder))
        .find(|rule| *rule != Rule::None)
        .unwrap_or(Rule::None)
}

/// Reads an ignore file.
fn load(folder: &Path, file: &Path) -> Option<Rules> {
    Rules::parse(folder, &String::from_utf8_lossy(&read(file)?))
}

/// Reads a small file that somebody else may have put there: never through a link,
/// never from a pipe or device, and never more than is reasonable.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    // One more than there is, so that the end is seen without asking for more memory.
    let expected = metadata.len().min(MOST_BYTES) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn text_of(path: &Path) -> Option<String> {
    read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a repository keeps its own excludes, worktrees included.
fn exclude_file(folder: &Path) -> PathBuf {
    let git = folder.join(".git");
    let directory = match text_of(&git) {
        Some(text) => {
            let named = text.strip_prefix("gitdir:").unwrap_or_default().trim();
            let private = folder.join(named);
            match text_of(&private.join("commondir")) {
                Some(common) => private.join(common.trim()),
                None => private,
            }
        }
        None => git,
    };
    directory.join("info/exclude")
}

/// Whether the `.gitignore` files at or above a folder outside of any repository
/// would hide all of it. Such files are not about this tree: a home folder kept
/// in a bare repository, or a source package that only tracks its packaging.
fn hides_everything(root: &Path) -> bool {
    let name = OsStr::new("a name nobody gives to a file");
    let probe = root.join(name);
    root.ancestors().any(|folder| {
        let rules = load(folder, &folder.join(".gitignore"));
        rules.is_some_and(|rules| rules.rule(&probe, name, false) == Rule::Ignored)
    })
}
