//! What in a repository's own settings makes git run another program.

use std::fs;
use std::path::{Path, PathBuf};

/// Settings that name a program git runs while it only looks.
const RUNNING: &[(&str, &str)] = &[
    ("core", "fsmonitor"),
    ("core", "alternaterefscommand"),
    ("core", "sshcommand"),
    ("core", "gitproxy"),
    ("core", "worktree"),
    ("blame", "ignorerevsfile"),
    ("core", "askpass"),
    ("core", "pager"),
    ("diff", "external"),
    ("diff", "command"),
    ("diff", "textconv"),
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    ("gpg", "program"),
    ("interactive", "difffilter"),
    ("log", "showsignature"),
    ("merge", "driver"),
    ("pager", ""),
    ("include", "path"),
    ("includeif", "path"),
    ("trailer", "command"),
    ("trailer", "cmd"),
    ("credential", "helper"),
    ("remote", "uploadpack"),
    ("remote", "vcs"),
    ("remote", "promisor"),
    ("remote", "partialclonefilter"),
    ("pretty", ""),
    ("extensions", "partialclone"),
];

/// Hooks that run while git only looks.
const HOOKS: &[&str] = &["post-index-change", "fsmonitor-watchman", "query-watchman"];

/// Larger settings are not read.
const MOST_BYTES: u64 = 1 << 20;

/// The setting of the repository around a folder that makes git run a program, if there is one.
pub(super) fn runs(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let repository = folder.ancestors().find_map(repository_at)?;
    let common = common_folder(&repository);
    for settings in
        [repository.join("config"), common.join("config"), repository.join("config.worktree")]
    {
        if let Some(setting) = running_setting(&settings) {
            return Some(setting);
        }
    }
    let modules = running_in_modules(&common.join("modules"), 0);
    if let Some(setting) = modules.or_else(|| running_in_links(&folder, &repository)) {
        return Some(setting);
    }
    let hooks = hooks_folder(&folder, &common);
    HOOKS.iter().find(|hook| hooks.join(hook).exists()).map(|hook| format!("hook {hook}"))
}

/// Returns the addresses of the remotes of the repository around a folder.
pub(super) fn remotes(folder: &Path) -> Vec<String> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let Some(repository) = folder.ancestors().find_map(repository_at) else { return Vec::new() };
    let settings = common_folder(&repository).join("config");
    let is_small = fs::metadata(&settings).is_ok_and(|found| found.len() <= MOST_BYTES);
    let text = if is_small { fs::read_to_string(&settings).ok() } else { None };
    let mut is_remote = false;
    let mut found = Vec::new();
    for line in text.unwrap_or_default().lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let name = header.split([' ', '\t', '"', '.', ']']).next().unwrap_or_default();
            is_remote = name.eq_ignore_ascii_case("remote");
            continue;
        }
        if let Some((key, value)) = line.split_once('=').filter(|_| is_remote)
            && matches!(key.trim().to_lowercase().as_str(), "url" | "pushurl")
        {
            found.push(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}

/// What the settings of submodules, which git enters, make it run.
fn running_in_modules(modules: &Path, depth: usize) -> Option<String> {
    const DEEPEST: usize = 4;
    for entry in modules.read_dir().ok()?.flatten() {
        let folder = entry.path();
        let found = running_setting(&folder.join("config")).or_else(|| {
            (depth < DEEPEST).then(|| running_in_modules(&folder, depth + 1)).flatten()
        });
        if found.is_some() && folder.is_dir() {
            return found;
        }
    }
    None
}

/// What the settings of repositories that this one tracks make git run.
fn running_in_links(folder: &Path, repository: &Path) -> Option<String> {
    let index = fs::read(repository.join("index")).ok()?;
    let top = folder.ancestors().find(|above| repository_at(above).is_some())?;
    let Some(paths) = tracked_repositories(&index) else {
        return Some("an index that cannot be read".to_owned());
    };
    let mut inside = paths.iter().filter_map(|path| repository_at(&top.join(path)));
    inside.find_map(|inner| running_setting(&inner.join("config")))
}

/// The paths in an index at which other repositories are tracked; nothing when it is not understood.
fn tracked_repositories(index: &[u8]) -> Option<Vec<String>> {
    const REPOSITORY: u32 = 0o160_000;
    let number = |at: usize| {
        let bytes = index.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    if index.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, entries) = (number(4)?, number(8)?);
    // The fourth version shortens names; without another repository in it nothing is missed.
    if version > 3 {
        let has_modules = memchr::memmem::find(index, &REPOSITORY.to_be_bytes()).is_some();
        return (!has_modules).then(Vec::new);
    }
    let mut found = Vec::new();
    let mut at = 12;
    for _ in 0..entries {
        let mode = number(at + 24)?;
        let flags = u16::from_be_bytes(index.get(at + 60..at + 62)?.try_into().ok()?);
        let start = at + if flags & 0x4000 != 0 { 64 } else { 62 };
        let length = index.get(start..)?.iter().position(|byte| *byte == 0)?;
        if mode == REPOSITORY {
            found.push(String::from_utf8_lossy(index.get(start..start + length)?).into_owned());
        }
        // Entries are filled up to a multiple of eight.
        at += (start - at + length + 8) / 8 * 8;
    }
    Some(found)
}

/// Where the repository keeps its hooks.
fn hooks_folder(folder: &Path, common: &Path) -> PathBuf {
    let text = fs::read_to_string(common.join("config")).unwrap_or_default();
    let mut set = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let key = key.rsplit([']', ' ', '\t']).find(|word| !word.is_empty())?;
        key.eq_ignore_ascii_case("hookspath").then(|| value.trim().trim_matches('"').to_owned())
    });
    match set.next_back() {
        Some(path) => folder
            .ancestors()
            .find(|above| repository_at(above).is_some())
            .unwrap_or(folder)
            .join(path),
        None => common.join("hooks"),
    }
}

/// The repository whose files lie in a folder, as git would find it.
fn repository_at(folder: &Path) -> Option<PathBuf> {
    let inside = folder.join(".git");
    if inside.is_dir() {
        return Some(inside);
    }
    if inside.is_file() {
        let text = fs::read_to_string(&inside).ok()?;
        return Some(folder.join(text.trim().strip_prefix("gitdir:")?.trim()));
    }
    // A folder that looks like a repository is one, whatever it is called.
    let is_bare = folder.join("HEAD").exists()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir();
    is_bare.then(|| folder.to_owned())
}

/// Where a work tree keeps what it shares with others.
fn common_folder(repository: &Path) -> PathBuf {
    match fs::read_to_string(repository.join("commondir")) {
        Ok(text) => repository.join(text.trim()),
        Err(_) => repository.to_owned(),
    }
}

fn running_setting(settings: &Path) -> Option<String> {
    let metadata = fs::metadata(settings).ok()?;
    if metadata.len() > MOST_BYTES || !metadata.is_file() {
        return Some("settings that cannot be read".to_owned());
    }
    let Ok(text) = fs::read_to_string(settings) else {
        return Some("settings that cannot be read".to_owned());
    };
    let mut section = String::new();
    // A line that ends in a backslash goes on; joined lines only ever show more.
    for line in text.replace("\\\n", " ").lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (header, rest) = rest.split_once(']').unwrap_or((rest, ""));
            let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            section = name.to_lowercase();
            line = rest.trim();
        }
        let key = line.split(['=', ' ', '\t', '#', ';']).next().unwrap_or_default().to_lowercase();
        let value = line.split_once('=').map_or("", |(_, value)| value.trim());
        if !key.is_empty() && is_running(&section, &key) && !is_switch(&section, &key, value) {
            return Some(format!("{section}.{key}"));
        }
    }
    None
}

fn is_running(section: &str, key: &str) -> bool {
    RUNNING.iter().any(|(own, name)| *own == section && (name.is_empty() || *name == key))
}

/// Some settings are a program or a plain yes or no.
fn is_switch(section: &str, key: &str, value: &str) -> bool {
    let is_word = matches!(
        value.to_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1"
    );
    let may_be_word = (section, key) == ("core", "fsmonitor") || section == "pager";
    may_be_word && is_word || (section, key) == ("log", "showsignature") && value == "false"
}

#[cfg(test)]
mod tests {
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
            ("[CORE] FSMonitor=./evil.sh\n", "core.fsmonitor"),
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
        let bare = repository("[core]\n");
        let docs = bare.path().join("docs");
        fs::create_dir_all(docs.join("objects")).unwrap();
        fs::create_dir_all(docs.join("refs")).unwrap();
        fs::write(docs.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(docs.join("config"), "[core]\nfsmonitor = ./evil\n").unwrap();
        assert_eq!(runs(&docs).as_deref(), Some("core.fsmonitor"));
    }
}
