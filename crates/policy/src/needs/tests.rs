use std::collections::BTreeMap;

use super::*;
use crate::effect::{Access, PathFact};
use crate::level::Level;
use crate::shell::{Reading, read};
use crate::world::Lexical;

/// A world with variables, settings files and remotes.
#[derive(Debug)]
struct Made {
    plain: Lexical,
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<PathBuf, &'static str>,
}

impl World for Made {
    fn workspace(&self) -> &Path {
        self.plain.workspace()
    }
    fn home(&self) -> Option<&Path> {
        self.plain.home()
    }
    fn look(&self, path: &Path, access: Access) -> PathFact {
        self.plain.look(path, access)
    }
    fn expand(&self, _folder: &Path, _pattern: &str) -> Option<Vec<String>> {
        None
    }
    fn git_runs(&self, _folder: &Path) -> Option<String> {
        None
    }
    fn some_below(&self, _folder: &Path, _test: &mut dyn FnMut(&Path) -> bool) -> Option<bool> {
        None
    }
    fn is_trusted_program(&self, _name: &str) -> bool {
        true
    }
    fn level(&self) -> Level {
        Level::Namespaces
    }
    fn now(&self) -> i64 {
        0
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }
    fn user_file(&self, path: &Path) -> Option<String> {
        self.files.get(path).map(|text| (*text).to_owned())
    }
    fn remotes(&self, _folder: &Path) -> Vec<String> {
        vec!["https://git.example/a.git".to_owned(), "../b.git".to_owned()]
    }
}

fn world() -> Made {
    let plain = Lexical::new("/w").with_home("/home/me");
    Made { plain, variables: BTreeMap::new(), files: BTreeMap::new() }
}

fn command(line: &str) -> Command {
    let Reading::Literal(line) = read(line) else { panic!("{line}") };
    line.commands()[0].clone()
}

fn need(line: &str, world: &Made) -> Option<Need> {
    Table::built_in().need(&command(line), Path::new("/w"), world)
}

#[test]
fn a_program_gets_its_own_cache_and_registry() {
    let need = need("cargo build", &world()).unwrap();
    assert_eq!(need.caches, ["/home/me/.cargo/git", "/home/me/.cargo/registry"].map(PathBuf::from));
    assert!(need.hosts.contains(&"index.crates.io".to_owned()));
    assert_eq!(need.words, "may use a copy of the cargo cache; may reach the crate registry");
}

#[test]
fn variables_move_caches_but_not_onto_the_home_or_workspace() {
    let mut moved = world();
    moved.variables.insert("CARGO_HOME", "/opt/cargo");
    moved.variables.insert("XDG_CACHE_HOME", "/var/cache/me");
    assert_eq!(need("cargo b", &moved).unwrap().caches[0], Path::new("/opt/cargo/git"));
    assert_eq!(need("pip list", &moved).unwrap().caches, [PathBuf::from("/var/cache/me/pip")]);
    moved.variables.insert("CARGO_TARGET_DIR", "/var/build");
    assert!(need("cargo b", &moved).unwrap().caches.contains(&PathBuf::from("/var/build")));
    for wide in ["/home/me", "/", "/home", "/w", "relative"] {
        moved.variables.insert("PIP_CACHE_DIR", wide);
        let caches = need("pip list", &moved).map(|need| need.caches).unwrap_or_default();
        assert!(!caches.iter().any(|cache| Path::new("/home/me/x").starts_with(cache)), "{wide}");
        assert!(!caches.contains(&PathBuf::from("/w")), "{wide}");
    }
}

#[test]
fn builds_go_to_a_copy_of_a_target_folder_elsewhere() {
    let mut moved = world();
    let has = |world: &Made, folder: &str| {
        need("cargo build", world).unwrap().caches.contains(&PathBuf::from(folder))
    };
    moved.variables.insert("CARGO_TARGET_DIR", "/var/target");
    assert!(has(&moved, "/var/target"));
    moved.variables.insert("CARGO_TARGET_DIR", "/w/target");
    assert!(!has(&moved, "/w/target"), "the workspace itself can be written");
}

#[test]
fn settings_of_the_user_add_hosts_and_are_shown_without_credentials() {
    let mut settings = world();
    let file = PathBuf::from("/home/me/.npmrc");
    settings.files.insert(file.clone(), "registry=https://npm.corp.example/\n");
    let plain = need("npm install", &settings).unwrap();
    assert!(plain.hosts.contains(&"npm.corp.example".to_owned()));
    assert_eq!(plain.shown, std::slice::from_ref(&file));
    settings.files.insert(file, "registry=https://npm.corp.example/\n//x/:_authToken=s\n");
    let secret = need("npm install", &settings).unwrap();
    assert!(secret.hosts.contains(&"npm.corp.example".to_owned()) && secret.shown.is_empty());
}

#[test]
fn git_reaches_its_remotes_only_to_fetch_and_push() {
    assert_eq!(need("git push -u origin main", &world()).unwrap().hosts, ["git.example"]);
    assert_eq!(need("git fetch", &world()).unwrap().hosts, ["git.example"]);
    assert_eq!(need("git -C sub pull --rebase", &world()).unwrap().hosts, ["git.example"]);
    assert_eq!(need("git remote show origin", &world()).unwrap().hosts, ["git.example"]);
    let clone = need("git clone https://other.example/x.git", &world()).unwrap();
    assert_eq!(clone.hosts, ["other.example"]);
    for local in ["git remote -v", "git commit -m fetch", "git status", "git checkout pull"] {
        assert_eq!(need(local, &world()), None, "{local}");
    }
}

#[test]
fn what_leaves_the_workspace_is_known() {
    let leaving = |line: &str| {
        let found = Table::built_in().leaving(&command(line), Path::new("/w"), &world());
        found.map(|found| format!("{} {}", found.command, found.does))
    };
    let reached = |line: &str| leaving(line).unwrap();
    assert_eq!(reached("curl -fsSL https://a.example/x"), "curl reaches a.example");
    assert_eq!(reached("git clone https://b.example/x"), "git reaches b.example");
    assert_eq!(leaving("git fetch https://git.example/a.git"), None);
    assert_eq!(leaving("curl -s http://localhost:3000/ http://127.0.0.1:80"), None);
    for (line, found) in [
        ("cargo publish", "cargo publish"),
        ("cargo +nightly --quiet publish", "cargo publish"),
        ("npm publish --tag x", "npm publish"),
        ("yarn npm publish", "yarn npm publish"),
        ("git -C x push origin main", "git push"),
        ("gh pr create", "gh"),
        ("docker run x", "docker"),
        ("/usr/bin/ssh host", "ssh"),
        ("uv publish", "uv publish"),
        ("npm install -g cowsay", "npm install -g"),
        ("npm i --global cowsay", "npm i --global"),
        ("pnpm add cowsay -g", "pnpm add -g"),
        ("yarn global add cowsay", "yarn global"),
        ("pip install --user six", "pip install --user"),
    ] {
        assert!(leaving(line).unwrap().starts_with(found), "{line}");
    }
    for line in ["npm install", "npm install left-pad --save-dev", "pip install six"] {
        assert_eq!(leaving(line), None, "{line}");
    }
    for line in ["cargo build", "npm run publish-docs", "git commit -m push", "make", "ls"] {
        assert_eq!(leaving(line), None, "{line}");
    }
}

#[test]
fn programs_without_an_entry_need_nothing() {
    for line in ["ls", "sed -i s/a/b/ x", "./build.sh"] {
        assert_eq!(need(line, &world()), None, "{line}");
    }
}
