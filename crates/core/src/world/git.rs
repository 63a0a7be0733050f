//! Git repositories as git finds them, and what in their settings makes git run another program.
//!
//! Everything is read as [`plain_file`] does. What cannot be read or understood counts as running
//! a program.

mod index;
mod settings;

use std::path::{Path, PathBuf};

use super::plain_file;

/// Hooks that run while git only looks.
const HOOKS: &[&str] = &["post-index-change", "fsmonitor-watchman", "query-watchman"];

/// Larger settings are not read.
const MOST_BYTES: u64 = 1 << 20;
/// Repositories inside of others that are looked at.
const MOST_INSIDE: usize = 200;
/// Maximum depth of repositories inside of each other.
const DEEPEST: usize = 4;

/// The reason why nothing is known about a repository.
const UNREADABLE: &str = "settings that cannot be read";

/// Returns the setting of the repository around a folder that makes git run a program.
pub(super) fn runs(folder: &Path) -> Option<String> {
    let Some(folder) = folder.ancestors().find_map(|folder| folder.canonicalize().ok()) else {
        return Some(UNREADABLE.to_owned());
    };
    for above in folder.ancestors() {
        match repository_at(above) {
            Found::Nothing => {}
            Found::Unclear => return Some("a repository that cannot be read".to_owned()),
            Found::Bare => return Some("a bare repository".to_owned()),
            // Git goes on above a folder that only looks like one.
            Found::Incomplete(repository) => {
                let found = runs_in(&repository, above, &mut Visited::default());
                if found.is_some() {
                    return found;
                }
            }
            Found::Repository(repository) => {
                return runs_in(&repository, above, &mut Visited::default());
            }
        }
    }
    None
}

/// Returns the addresses of the remotes of the repository around a folder.
pub(super) fn remotes(folder: &Path) -> Vec<String> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let found = folder.ancestors().find_map(|above| match repository_at(above) {
        Found::Repository(repository) | Found::Incomplete(repository) => Some(repository),
        Found::Bare => Some(above.to_owned()),
        Found::Nothing | Found::Unclear => None,
    });
    let Some(common) = found.and_then(|repository| common_folder(&repository)) else {
        return Vec::new();
    };
    match plain_file::read(&common.join("config"), MOST_BYTES) {
        Ok(Some(text)) => settings::remotes(&String::from_utf8_lossy(&text)),
        _ => Vec::new(),
    }
}

/// A repository whose files may lie in a folder.
enum Found {
    Nothing,
    /// One that git would use.
    Repository(PathBuf),
    /// One that lacks something, so that git would look further.
    Incomplete(PathBuf),
    /// The folder itself is one, whatever it is called.
    Bare,
    /// Git would fail, or it cannot be read.
    Unclear,
}

/// Looks for a repository as git does: a `.git` that is a folder, one that is a file and names a
/// folder, or the folder itself.
fn repository_at(folder: &Path) -> Found {
    let inside = folder.join(".git");
    if inside.is_dir() {
        let is_whole = is_repository(&inside);
        return if is_whole { Found::Repository(inside) } else { Found::Incomplete(inside) };
    }
    if inside.symlink_metadata().is_ok() {
        let text = plain_file::read(&inside, MOST_BYTES).ok().flatten();
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let named = text.as_deref().and_then(|text| text.strip_prefix("gitdir:"));
        let named = named.map(|named| folder.join(named.trim()));
        return match named.filter(|named| is_repository(named)) {
            Some(repository) => Found::Repository(repository),
            None => Found::Unclear,
        };
    }
    if is_repository(folder) { Found::Bare } else { Found::Nothing }
}

/// Returns `true` if git would take a folder for a repository, or might.
fn is_repository(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let common = common_folder(folder);
    has("HEAD")
        && common
            .is_none_or(|common| common.join("objects").is_dir() && common.join("refs").is_dir())
}

/// Returns where a work tree keeps what it shares with others; nothing if that cannot be told.
fn common_folder(repository: &Path) -> Option<PathBuf> {
    match plain_file::read(&repository.join("commondir"), MOST_BYTES) {
        Ok(Some(text)) => Some(repository.join(String::from_utf8(text).ok()?.trim())),
        Ok(None) => Some(repository.to_owned()),
        Err(_) => None,
    }
}

/// The repositories that were looked at, so that there is an end to it.
#[derive(Debug, Default)]
struct Visited {
    depth: usize,
    count: usize,
}

/// Returns what makes git run a program in a repository or in those inside of it.
fn runs_in(repository: &Path, top: &Path, visited: &mut Visited) -> Option<String> {
    visited.count += 1;
    if visited.count > MOST_INSIDE || visited.depth > DEEPEST {
        return Some("more repositories inside of each other than are looked at".to_owned());
    }
    let Some(common) = common_folder(repository) else { return Some(UNREADABLE.to_owned()) };
    let mut hooks = common.join("hooks");
    let files = ["config", "config.worktree"].map(|name| repository.join(name));
    for file in files.into_iter().chain([common.join("config")]) {
        let text = match plain_file::read(&file, MOST_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(_) => return Some(UNREADABLE.to_owned()),
        };
        let Ok(text) = String::from_utf8(text) else { return Some(UNREADABLE.to_owned()) };
        match settings::read(&text) {
            settings::Read::Runs(setting) => return Some(setting),
            settings::Read::Plain { hooks: Some(path) } => hooks = top.join(path),
            settings::Read::Plain { hooks: None } => {}
        }
    }
    let has_hook = |hook: &&&str| hooks.join(hook).symlink_metadata().is_ok();
    if let Some(hook) = HOOKS.iter().find(has_hook) {
        return Some(format!("hook {hook}"));
    }
    visited.depth += 1;
    let found = runs_in_modules(&common.join("modules"), visited)
        .or_else(|| runs_in_links(repository, top, visited));
    visited.depth -= 1;
    found
}

/// Returns what the settings of submodules, which git enters, make it run.
fn runs_in_modules(modules: &Path, visited: &mut Visited) -> Option<String> {
    let mut waiting = vec![(modules.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let inner = entry.path();
            if !inner.is_dir() {
                continue;
            }
            if inner.join("config").symlink_metadata().is_ok() {
                let found = runs_in(&inner, &inner, visited);
                if found.is_some() {
                    return found;
                }
            } else if depth < DEEPEST && visited.count < MOST_INSIDE {
                visited.count += 1;
                waiting.push((inner, depth + 1));
            } else {
                return Some("more submodules than are looked at".to_owned());
            }
        }
    }
    None
}

/// Returns what the settings of repositories that this one tracks make git run.
fn runs_in_links(repository: &Path, top: &Path, visited: &mut Visited) -> Option<String> {
    let unreadable = || Some("an index that cannot be read".to_owned());
    let index = match plain_file::read(&repository.join("index"), index::MOST_BYTES) {
        Ok(Some(index)) => index,
        Ok(None) => return None,
        Err(_) => return unreadable(),
    };
    let Some(paths) = index::tracked_repositories(&index) else { return unreadable() };
    for path in paths {
        let folder = top.join(path);
        let inner = match repository_at(&folder) {
            Found::Repository(inner) | Found::Incomplete(inner) => inner,
            Found::Bare | Found::Unclear => {
                return Some("a submodule that cannot be read".to_owned());
            }
            Found::Nothing => continue,
        };
        let found = runs_in(&inner, &folder, visited);
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn remotes_are_those_of_the_repository_around() {
        let settings = "[core]\n\turl = x\n[remote \"origin\"]\n\turl = https://a.example/x.git\n\tfetch = +refs\n[remote \"b\"]\n\tURL = \"git@b.example:x\"\n[branch \"main\"]\n\tremote = origin\n";
        let folder = repository(settings);
        let inner = folder.path().join("src");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(remotes(&inner), ["https://a.example/x.git", "git@b.example:x"]);
        assert_eq!(remotes(Path::new("/")), [""; 0]);
    }

    fn repository(settings: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        fs::create_dir_all(folder.path().join("src")).unwrap();
        fs::write(folder.path().join(".git/config"), settings).unwrap();
        folder
    }

    #[test]
    fn plain_settings_run_nothing() {
        let plain = "[core]\n\tbare = false\n\tfilemode = true\n[remote \"origin\"]\n\turl = x\n[branch \"main\"]\n\tremote = origin\n[user]\n\tname = x\n[core]\n\tfsmonitor = true\n";
        assert_eq!(runs(&repository(plain).path().join("src")), None);
    }

    #[test]
    fn settings_that_name_a_program_are_found() {
        for (settings, found) in [
            ("[core]\n\tfsmonitor = ./evil.sh\n", "core.fsmonitor"),
            ("[CORE]\n FSMonitor=./evil.sh\n", "core.fsmonitor"),
            ("[CORE] FSMonitor=./evil.sh\n", "settings in an unusual form"),
            ("[diff \"x\"]\n\ttextconv = ./evil\n", "diff.textconv"),
            ("[diff]\nexternal = ./evil\n", "diff.external"),
            ("[filter \"x\"]\n  clean = ./evil\n", "filter.clean"),
            ("[include]\n path = ../other\n", "include.path"),
        ] {
            let folder = repository(settings);
            assert_eq!(runs(folder.path()).as_deref(), Some(found), "{settings}");
        }
    }

    #[test]
    fn hooks_and_embedded_repositories_count() {
        let folder = repository("[core]\n");
        fs::write(folder.path().join(".git/hooks/post-index-change"), "").unwrap();
        assert!(runs(folder.path()).is_some());
        let elsewhere = repository("[core]\n\thooksPath = mine\n");
        fs::create_dir(elsewhere.path().join("mine")).unwrap();
        assert_eq!(runs(elsewhere.path()), None);
        fs::write(elsewhere.path().join("mine/post-index-change"), "").unwrap();
        assert!(runs(elsewhere.path()).is_some());
        let outer = repository("[core]\n");
        let docs = outer.path().join("docs");
        bare(&docs, "[core]\n");
        assert_eq!(runs(&docs).as_deref(), Some("a bare repository"));
    }

    fn bare(folder: &Path, settings: &str) {
        fs::create_dir_all(folder.join("objects")).unwrap();
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(folder.join("config"), settings).unwrap();
    }

    const EVIL: &str = "[core]\n\tfsmonitor = ./evil\n";

    #[test]
    fn repositories_are_found_as_git_finds_them() {
        // A `.git` that lacks something is passed over.
        let folder = tempfile::tempdir().unwrap();
        bare(&folder.path().join(".git"), EVIL);
        let inner = folder.path().join("a/b");
        fs::create_dir_all(inner.join(".git")).unwrap();
        assert_eq!(runs(&inner).as_deref(), Some("core.fsmonitor"));
        // A folder that is not there yet belongs to the one above.
        assert_eq!(runs(&folder.path().join("new/one")).as_deref(), Some("core.fsmonitor"));
        // A file leads elsewhere, and a work tree shares its settings.
        let elsewhere = tempfile::tempdir().unwrap();
        let main = elsewhere.path().join("main");
        bare(&main, EVIL);
        let linked = tempfile::tempdir().unwrap();
        let own = main.join("worktrees/x");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/x\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(linked.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(runs(linked.path()).as_deref(), Some("core.fsmonitor"));
        fs::write(main.join("config"), "[core]\n\tbare = false\n").unwrap();
        assert_eq!(runs(linked.path()), None);
        fs::write(own.join("config.worktree"), EVIL).unwrap();
        assert_eq!(runs(linked.path()).as_deref(), Some("core.fsmonitor"));
        // A file that leads nowhere, or says something else.
        for text in ["gitdir: nowhere\n", "x", ""] {
            fs::write(linked.path().join(".git"), text).unwrap();
            assert!(runs(linked.path()).is_some(), "{text:?}");
        }
        // Submodules, at any depth.
        let outer = tempfile::tempdir().unwrap();
        bare(&outer.path().join(".git"), "[core]\n");
        bare(&outer.path().join(".git/modules/a/b"), "[core]\n");
        assert_eq!(runs(outer.path()), None);
        bare(&outer.path().join(".git/modules/a/b/modules/c"), EVIL);
        assert_eq!(runs(outer.path()).as_deref(), Some("core.fsmonitor"));
    }

    #[test]
    fn nothing_is_waited_for_and_failure_counts() {
        use std::os::unix::fs::symlink;
        for name in ["config", "config.worktree", "commondir", "index"] {
            let folder = tempfile::tempdir().unwrap();
            let git = folder.path().join(".git");
            bare(&git, "[core]\n");
            let file = git.join(name);
            let remove = || fs::remove_file(&file).ok();
            remove();
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, &file, fifo, 0o600.into(), 0).unwrap();
            assert!(runs(folder.path()).is_some(), "a pipe called {name}");
            for target in ["/dev/zero", "/dev/tty", "/proc/kmsg", "/proc/self/mem", "nowhere"] {
                remove();
                symlink(target, &file).unwrap();
                assert!(runs(folder.path()).is_some(), "{name} leads to {target}");
            }
            remove();
            fs::create_dir(&file).unwrap();
            assert!(runs(folder.path()).is_some(), "a folder called {name}");
            fs::remove_dir(&file).unwrap();
            fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
            assert!(runs(folder.path()).is_some(), "a huge {name}");
        }
        let pipe = tempfile::tempdir().unwrap();
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, pipe.path().join(".git"), fifo, 0o600.into(), 0)
            .unwrap();
        assert!(runs(pipe.path()).is_some());
        assert!(remotes(pipe.path()).is_empty());
    }
}
