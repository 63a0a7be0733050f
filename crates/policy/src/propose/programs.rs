//! Programs whose first words say what they do.

use crate::shell::risk::is_interpreter;

/// Programs that end others or the machine, or that write what they are fed.
pub(super) const UNFIT: &[&str] = &[
    "halt", "init", "kill", "killall", "pkill", "poweroff", "reboot", "shutdown", "tee", "telinit",
];

/// Programs of many commands: their name alone says nothing. Of the commands listed the name says
/// what they do, whatever follows. `+` stands for the name of a script or a target that narrows it,
/// `=` for one without which it says nothing.
///
/// Left out is what takes further commands or programs to run behind it: goals of `mvn`, tasks of
/// `gradle`, properties of `dotnet`, `bazel test --run_under`.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("ansible", &[]),
    ("apt", &["list", "search", "show"]),
    ("apt-get", &[]),
    ("aws", &[]),
    ("az", &[]),
    ("bazel", &[]),
    ("brew", &["deps", "info", "list", "outdated", "search"]),
    ("bundle", &["check", "list"]),
    (
        "cargo",
        &[
            "bench",
            "build",
            "check",
            "clippy",
            "doc",
            "fmt",
            "metadata",
            "nextest list",
            "nextest run",
            "test",
            "tree",
        ],
    ),
    ("choco", &[]),
    ("cmake", &[]),
    ("composer", &["outdated", "show", "validate"]),
    ("conda", &["info", "list", "search"]),
    ("dnf", &["info", "list", "search"]),
    (
        "docker",
        &[
            "compose config",
            "compose logs",
            "compose ps",
            "images",
            "inspect",
            "logs",
            "ps",
            "stats",
            "top",
        ],
    ),
    ("docker-compose", &["config", "logs", "ps"]),
    ("dotnet", &[]),
    ("flutter", &["analyze", "build", "test"]),
    ("gcloud", &[]),
    ("gem", &["list", "search"]),
    (
        "gh",
        &[
            "issue list",
            "issue status",
            "issue view",
            "pr checks",
            "pr diff",
            "pr list",
            "pr status",
            "pr view",
            "release list",
            "release view",
            "run list",
            "run view",
            "run watch",
            "workflow list",
            "workflow view",
        ],
    ),
    (
        "git",
        &[
            "add",
            "blame",
            "commit",
            "describe",
            "diff",
            "fetch",
            "log",
            "ls-files",
            "merge-base",
            "reflog show",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "stash list",
            "stash show",
            "status",
        ],
    ),
    ("go", &["build", "doc", "fmt", "list", "mod tidy", "mod why", "test", "vet"]),
    ("gradle", &[]),
    ("helm", &["lint", "list", "status"]),
    ("just", &[]),
    ("kubectl", &["api-resources", "describe", "explain", "get", "logs", "top", "version"]),
    ("make", &[]),
    ("mix", &["compile", "format", "test"]),
    ("mvn", &[]),
    ("ninja", &[]),
    ("nix", &[]),
    ("npm", &["ls", "outdated", "run +", "run-script +", "test", "view"]),
    ("nx", &["build +", "lint +", "test +"]),
    ("pip", &["check", "freeze", "list", "show"]),
    ("pip3", &["check", "freeze", "list", "show"]),
    ("pnpm", &["ls", "outdated", "run +", "test"]),
    ("podman", &["images", "inspect", "logs", "ps", "stats", "top"]),
    ("poetry", &["check", "show"]),
    ("rails", &[]),
    ("rake", &[]),
    ("rustup", &["show"]),
    ("sbt", &[]),
    ("swift", &["build", "test"]),
    ("systemctl", &["is-active", "is-enabled", "list-units", "status"]),
    ("task", &[]),
    ("terraform", &["fmt", "output", "plan", "show", "validate"]),
    ("turbo", &["run +"]),
    ("uv", &["pip check", "pip freeze", "pip list", "pip show", "tree"]),
    ("yarn", &["outdated", "run =", "test", "why"]),
    ("yum", &["info", "list", "search"]),
    ("zypper", &["info", "search"]),
];

/// Programs that do one thing, whatever follows.
const SINGLE: &[&str] = &[
    "black",
    "eslint",
    "gofmt",
    "jest",
    "mypy",
    "phpunit",
    "prettier",
    "pytest",
    "rspec",
    "ruff",
    "rustfmt",
    "shellcheck",
    "tsc",
    "vitest",
];

/// Commands of such programs that cannot be taken back, or that run what they fetch.
const NEVER: &[&str] = &[
    "delete",
    "destroy",
    "nuke",
    "prune",
    "publish",
    "purge",
    "rm",
    "rmi",
    "uninstall",
    "unpublish",
];

/// Commands that run code given to them, or fetched by name.
const RUNNING: &[(&str, &str)] = &[
    ("go", "run"),
    ("npm", "create"),
    ("npm", "explore"),
    ("npm", "init"),
    ("pnpm", "create"),
    ("rails", "runner"),
    ("yarn", "create"),
    ("yarn", "node"),
];

/// Programs that do what a file of the folder says, by the names of its scripts, tasks or targets,
/// and programs that run a file or a program of the folder.
const LOCAL: &[&str] = &[
    "ant", "bash", "bun", "bunx", "composer", "deno", "gmake", "go", "gradle", "gradlew", "inv",
    "invoke", "just", "lua", "make", "mix", "mvn", "mvnw", "node", "nox", "npm", "npx", "nx",
    "perl", "php", "pnpm", "pnpx", "poe", "poetry", "python", "python3", "rails", "rake", "ruby",
    "sh", "task", "tox", "turbo", "uv", "uvx", "yarn", "zsh",
];

/// Commands of those that mean the same in any folder, or run nothing.
const ANYWHERE: &[&str] = &[
    "build", "check", "doc", "fmt", "info", "list", "ls", "mod", "outdated", "pip", "search",
    "show", "tree", "validate", "vet", "view", "why",
];

/// Returns `true` if the folder that a command runs in defines what it does.
pub(super) fn is_local(name: &str, words: &[&str]) -> bool {
    let runs_nothing = || words.get(1).is_some_and(|word| ANYWHERE.contains(word));
    let is_go_test = name == "go" && words.get(1) != Some(&"run");
    name.contains('/') || LOCAL.contains(&name) && !runs_nothing() && !is_go_test
}

/// Whether nothing is proposed about a call, given the words behind the program's name.
pub(super) fn is_never(name: &str, words: &[&str]) -> bool {
    if commands_of(name).is_none() {
        return false;
    }
    let Some(first) = words.first() else { return true };
    let mut operands = words.iter().filter(|word| !word.starts_with('-')).take(2);
    RUNNING.contains(&(name, first))
        // `yarn run` finds programs, too.
        || operands.any(|word| NEVER.contains(word) || (name == "yarn" && is_interpreter(word)))
}

/// The first words of a command that say what it does, the longest first.
pub(super) fn prefixes(words: &[&str]) -> Vec<String> {
    let Some((name, rest)) = words.split_first() else { return Vec::new() };
    if SINGLE.contains(name) {
        return vec![(*name).to_owned()];
    }
    let mut found = Vec::new();
    for command in commands_of(name).unwrap_or_default() {
        let mut fixed: Vec<&str> = command.split(' ').collect();
        let mark = fixed.pop_if(|last| matches!(*last, "+" | "="));
        let Some(behind) = rest.strip_prefix(fixed.as_slice()) else { continue };
        let script = behind.first().filter(|word| mark.is_some() && !word.starts_with('-'));
        let prefix = format!("{name} {}", fixed.join(" "));
        found.extend(script.map(|script| format!("{prefix} {script}")));
        if mark != Some("=") {
            found.push(prefix);
        }
    }
    found
}

fn commands_of(name: &str) -> Option<&'static [&'static str]> {
    PROGRAMS.iter().find(|(own, _)| *own == name).map(|(_, commands)| *commands)
}
