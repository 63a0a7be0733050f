//! The part of a home folder that a confined command sees: programs and what they need.
//!
//! A home folder holds whatever its owner put there, so there is no list of what is secret in it.
//! There is one of what is not.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::raw::Raw;

/// Places below a home folder that hold programs, what they load, and settings without secrets.
const SHOWN: &[&str] = &[
    // Rust.
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".rustup",
    // JavaScript.
    ".bun/bin",
    ".bun/install",
    ".cache/Cypress",
    ".cache/deno",
    ".cache/electron",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/pnpm",
    ".cache/puppeteer",
    ".cache/yarn",
    ".config/yarn/global",
    ".deno",
    ".fnm",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".nodenv",
    ".npm",
    ".npm-global",
    ".npm-packages",
    ".nvm",
    ".nvmrc",
    ".volta",
    ".yarn",
    "n",
    // Python.
    ".cache/black",
    ".cache/pip",
    ".cache/pre-commit",
    ".cache/pypoetry",
    ".cache/uv",
    ".conda",
    ".config/matplotlib",
    ".local/lib",
    ".local/pipx",
    ".local/share/pipx",
    ".local/share/pypoetry",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/virtualenv",
    ".local/share/virtualenvs",
    ".pyenv",
    ".rye",
    ".virtualenvs",
    "anaconda3",
    "mambaforge",
    "micromamba",
    "miniconda3",
    "miniforge3",
    // Go.
    ".cache/go-build",
    ".cache/golangci-lint",
    ".config/go/env",
    ".goenv",
    ".gvm",
    "go",
    "sdk",
    // Java, and what runs on it.
    ".gradle/caches",
    ".gradle/native",
    ".gradle/wrapper",
    ".jbang/bin",
    ".jdks",
    ".jenv",
    ".m2/repository",
    ".m2/wrapper",
    ".sdkman",
    // Others.
    ".cabal/bin",
    ".cabal/packages",
    ".cabal/store",
    ".cache/bazel",
    ".cache/bazelisk",
    ".cache/ccache",
    ".cache/composer",
    ".cache/rebar3",
    ".cache/sccache",
    ".cache/zig",
    ".cache/huggingface/hub",
    ".composer/vendor",
    ".config/composer/vendor",
    ".cpanm",
    ".dotnet",
    ".elan",
    ".elm",
    ".emsdk",
    ".foundry",
    ".gem/ruby",
    ".ghcup",
    ".hex/packages",
    ".julia/juliaup",
    ".juliaup",
    ".local/share/gem",
    ".local/share/NuGet",
    ".local/share/swiftly",
    ".luarocks",
    ".mix",
    ".nimble",
    ".nuget/packages",
    ".opam",
    ".phpbrew",
    ".phpenv",
    ".platformio",
    ".pub-cache/bin",
    ".pub-cache/hosted",
    ".rbenv",
    ".roswell",
    ".rvm",
    ".stack",
    ".swiftly",
    ".terraform.d/plugin-cache",
    ".terraform.d/plugins",
    ".vcpkg",
    ".wasmer/bin",
    ".wasmtime",
    ".zvm",
    "Android/Sdk",
    "flutter",
    "perl5",
    // Managers of versions and packages.
    ".asdf",
    ".asdfrc",
    ".config/mise",
    ".guix-profile",
    ".linuxbrew",
    ".local/share/mise",
    ".local/share/rtx",
    ".local/state/nix/profiles",
    ".nix-defexpr",
    ".nix-profile",
    ".pixi/bin",
    ".pixi/envs",
    ".pkgx",
    ".proto",
    ".tool-versions",
    // Programs of the user.
    ".bin",
    ".local/bin",
    ".local/opt",
    "bin",
    // Git and other programs' settings.
    ".cache/fontconfig",
    ".clang-format",
    ".config/fontconfig",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/ruff",
    ".config/rustfmt",
    ".config/yamllint",
    ".editorconfig",
    ".gitattributes",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".gitmessage",
    ".inputrc",
    ".mailmap",
    ".prettierrc",
    ".pylintrc",
    ".ripgreprc",
    ".rustfmt.toml",
    ".terminfo",
];

/// Variables that name a folder of programs, and what of it is shown; all of it where nothing is
/// named.
const VARIABLES: &[(&str, &[&str])] = &[
    ("ANDROID_HOME", &[]),
    ("ANDROID_SDK_ROOT", &[]),
    ("ASDF_DATA_DIR", &[]),
    ("ASDF_DIR", &[]),
    ("BUN_INSTALL", &["bin", "install"]),
    ("CARGO_HOME", &["bin", "config", "config.toml", "env", "git", "registry"]),
    ("CONDA_PREFIX", &[]),
    ("CURL_CA_BUNDLE", &[]),
    ("DOTNET_ROOT", &[]),
    ("FNM_DIR", &[]),
    ("GEM_HOME", &[]),
    ("GEM_PATH", &[]),
    ("GIT_SSL_CAINFO", &[]),
    ("GOMODCACHE", &[]),
    ("GOPATH", &[]),
    ("GOROOT", &[]),
    ("GRADLE_USER_HOME", &["caches", "native", "wrapper"]),
    ("JAVA_HOME", &[]),
    ("M2_HOME", &[]),
    ("MAVEN_HOME", &[]),
    ("MISE_DATA_DIR", &[]),
    ("NODE_EXTRA_CA_CERTS", &[]),
    ("NODE_PATH", &[]),
    ("NUGET_PACKAGES", &[]),
    ("NVM_BIN", &[]),
    ("NVM_DIR", &[]),
    ("PIP_CERT", &[]),
    ("PNPM_HOME", &[]),
    ("PRE_COMMIT_HOME", &[]),
    ("PYENV_ROOT", &[]),
    ("PYTHONPATH", &[]),
    ("RBENV_ROOT", &[]),
    ("REQUESTS_CA_BUNDLE", &[]),
    ("RUSTUP_HOME", &[]),
    ("SSL_CERT_DIR", &[]),
    ("SSL_CERT_FILE", &[]),
    ("TERMINFO", &[]),
    ("VIRTUAL_ENV", &[]),
    ("VOLTA_HOME", &[]),
];

/// Ends of a search path's folders whose parents hold what the programs load.
const PROGRAMS: &[&str] = &["bin", "sbin", "shims", ".bin"];

/// Links of one folder of programs that are followed, at most.
const MOST_LINKS: usize = 2_000;

/// Folders in a home that hold far more than programs.
const SHARED: &[&str] = &[".local", ".config", ".cache", ".local/share", ".local/state"];

/// The places of a home folder that are shown, of those that are there.
pub(crate) fn shown(home: &Path) -> Vec<PathBuf> {
    // Most are missing, and a list of the names that are there tells so at once.
    let names = |folder: &Path| -> BTreeSet<OsString> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).collect()
    };
    let own = names(home);
    let first = |place: &Path| place.iter().next().is_some_and(|first| own.contains(first));
    let places = SHOWN.iter().map(Path::new).filter(|place| first(place));
    let places = places.map(|place| home.join(place));
    places.filter(|place| place.symlink_metadata().is_ok()).collect()
}

/// The places that the environment of a command names as holding programs.
pub(crate) fn named(env: &[(Raw, Raw)], homes: &[PathBuf]) -> Vec<PathBuf> {
    let value = |name: &str| {
        let found = env.iter().find(|(own, _)| own.as_os() == name);
        found.map(|(_, value)| value.as_os())
    };
    let mut places = Vec::new();
    for (name, below) in VARIABLES {
        for place in value(name).into_iter().flat_map(absolute) {
            if below.is_empty() {
                places.push(place);
            } else {
                places.extend(below.iter().map(|below| place.join(below)));
            }
        }
    }
    for folder in value("PATH").into_iter().flat_map(absolute) {
        let is_programs =
            folder.file_name().is_some_and(|name| PROGRAMS.iter().any(|own| name == *own));
        let around =
            folder.parent().filter(|_| is_programs).filter(|around| !is_wide(around, homes));
        places.push(around.map_or(folder.clone(), Path::to_owned));
        if homes.iter().any(|home| folder.starts_with(home)) {
            places.extend(linked(&folder, homes));
        }
    }
    places.retain(|place| !homes.iter().any(|home| home.starts_with(place)));
    places.retain(|place| place.symlink_metadata().is_ok());
    places
}

/// The places that links in a folder of programs lead to: `~/.local/bin/x` may be installed in
/// `~/.local/share/x/bin/x`.
fn linked(folder: &Path, homes: &[PathBuf]) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_LINKS);
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets = links.filter_map(|entry| entry.path().canonicalize().ok());
    let own = targets.filter(|target| homes.iter().any(|home| target.starts_with(home)));
    own.map(|target| installed(&target, homes)).collect()
}

/// The folder that a program and what it loads are installed in, or the program alone where that
/// folder holds far more.
fn installed(program: &Path, homes: &[PathBuf]) -> PathBuf {
    let is_named = |folder: &&Path, names: &[&str]| {
        folder.file_name().is_some_and(|name| names.iter().any(|own| name == *own))
    };
    let around = program.ancestors().skip(1);
    if let Some(modules) = around.clone().filter(|one| is_named(one, &["node_modules"])).last() {
        return modules.to_owned();
    }
    let programs = around.clone().find(|one| is_named(one, PROGRAMS));
    let root = programs.and_then(Path::parent).filter(|root| !is_wide(root, homes));
    root.or(programs).map_or(program.to_owned(), Path::to_owned)
}

fn absolute(list: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(list).filter(|path| path.is_absolute()).collect::<Vec<_>>().into_iter()
}

/// Returns `true` if a folder around programs holds far more than what they need.
fn is_wide(folder: &Path, homes: &[PathBuf]) -> bool {
    let in_home = homes.iter().find_map(|home| folder.strip_prefix(home).ok());
    match in_home {
        Some(inner) => {
            let is_hidden = inner.as_os_str().as_encoded_bytes().starts_with(b".");
            !is_hidden || SHARED.iter().any(|shared| inner == Path::new(shared))
        }
        None => folder.components().count() < 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_shown_and_all_else_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let there = [
            ".cargo/bin",
            ".cargo/credentials.toml",
            ".ssh",
            "Documents/bin",
            ".local/bin",
            ".local/share/keyrings",
            ".tool/bin",
            ".gitconfig",
            "custom/cargo/bin",
        ];
        for place in there {
            fs::create_dir_all(home.join(place)).unwrap();
        }
        let places = shown(&home);
        assert_eq!(places, [".cargo/bin", ".local/bin", ".gitconfig"].map(|name| home.join(name)));
        let shown = home.display();
        let path = format!(
            "/usr/bin:{shown}/Documents/bin:{shown}/.local/bin:{shown}/.tool/bin:{shown}:relative"
        );
        let cargo = format!("{shown}/custom/cargo");
        let env =
            [("PATH", path.as_str()), ("CARGO_HOME", &cargo), ("HOME", "/x"), ("FOO", "/etc")];
        let env = env.map(|(name, value)| (Raw::from(name), Raw::from(value)));
        let mut places = named(&env, std::slice::from_ref(&home));
        places.retain(|place| place.starts_with(&home));
        let expected = ["custom/cargo/bin", "Documents/bin", ".local/bin", ".tool"];
        assert_eq!(places, expected.map(|name| home.join(name)));
    }

    #[test]
    fn links_to_programs_show_what_they_lead_to_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let there = [
            (".local/share/tool/bin/tool", ".local/share/tool"),
            (".app/lib/node_modules/x/cli.js", ".app/lib/node_modules"),
            ("src/mine/bin/mine", "src/mine/bin"),
            ("Documents/script.sh", "Documents/script.sh"),
        ];
        fs::create_dir_all(home.join(".local/bin")).unwrap();
        for (number, (target, _)) in there.iter().enumerate() {
            let target = home.join(target);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(&target, "").unwrap();
            let link = home.join(format!(".local/bin/{number}"));
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        let path = home.join(".local/bin");
        let env = [(Raw::from("PATH"), Raw::from(path.to_str().unwrap()))];
        let places = named(&env, std::slice::from_ref(&home));
        for (_, expected) in there {
            assert!(places.contains(&home.join(expected)), "{expected}: {places:?}");
        }
        assert_eq!(places.len(), there.len() + 1, "{places:?}");
    }
}
