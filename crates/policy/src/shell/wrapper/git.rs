//! What `git` runs, and where its subcommand stands.

use crate::shell::command::Word;

/// The words of a `git` command without git's own options: the name, then the subcommand and on.
///
/// Words that are not understood stay where they are.
///
/// ```
/// use toolgate_policy::shell::{Word, git_without_globals};
///
/// let words = ["git", "-C", "x", "--no-pager", "push", "-f"].map(Word::plain);
/// let short = git_without_globals(&words);
/// assert_eq!(short, ["git", "push", "-f"].map(Word::plain));
/// ```
pub fn git_without_globals(words: &[Word]) -> Vec<Word> {
    let Some((name, arguments)) = words.split_first() else { return Vec::new() };
    let mut kept = vec![name.clone()];
    kept.extend_from_slice(arguments.get(globals(arguments)..).unwrap_or_default());
    kept
}

/// How many of the arguments are git's own options and their values.
fn globals(arguments: &[Word]) -> usize {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        at += if takes_value(&option.text) { 2 } else { 1 };
    }
    at
}

fn takes_value(option: &str) -> bool {
    matches!(
        option,
        "-C" | "-c"
            | "--git-dir"
            | "--work-tree"
            | "--namespace"
            | "--super-prefix"
            | "--config-env"
            | "--exec-path"
            | "--attr-source"
            | "--list-cmds"
    )
}

/// Settings given on the command line: `-c name=value`.
pub(super) fn settings(arguments: &[Word]) -> impl Iterator<Item = (&str, &str)> {
    let before = arguments.get(..globals(arguments).min(arguments.len())).unwrap_or_default();
    let pairs = before.iter().zip(before.iter().skip(1));
    pairs
        .filter(|(option, _)| option.text == "-c")
        .filter_map(|(_, value)| value.text.split_once('='))
}

/// Whether git runs the value of a setting as a command.
pub(super) fn is_command_setting(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let whole = [
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "diff.external",
        "sequence.editor",
        "interactive.difffilter",
        "uploadpack.packobjectshook",
        "gpg.program",
        "core.hookspath",
        "init.templatedir",
        "include.path",
    ];
    let ends = [
        ".textconv",
        ".command",
        ".clean",
        ".smudge",
        ".process",
        ".driver",
        ".cmd",
        ".helper",
        ".program",
        ".uploadpack",
        ".receivepack",
        ".vcs",
        ".proxycommand",
    ];
    whole.contains(&name.as_str())
        || name.starts_with("pager.")
        || name.starts_with("alias.")
        || ends.iter().any(|end| name.ends_with(end))
}

/// Words of a subcommand that git runs: as a text for the shell.
pub(super) fn texts(words: &[Word]) -> Vec<String> {
    let Some((subcommand, rest)) = words.split_first() else { return Vec::new() };
    let joined =
        |words: &[Word]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let behind = |mark: &str| {
        let place = rest.iter().position(|word| word.text == mark);
        place.and_then(|place| rest.get(place + 1..))
    };
    match subcommand.text.as_str() {
        "bisect" => behind("run").map(joined).into_iter().collect(),
        "submodule" => behind("foreach").map(joined).into_iter().collect(),
        "filter-branch" => filters(rest),
        _ => Vec::new(),
    }
}

/// The commands that rewrite each commit: `--tree-filter 'text'`.
fn filters(words: &[Word]) -> Vec<String> {
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.text.as_str(), None),
        };
        if name.ends_with("-filter") {
            values.extend(value.or_else(|| words.get(at + 1).map(|next| next.text.clone())));
        }
    }
    values
}

/// Settings that `git clone` writes into the new repository and obeys at once: `-c name=value`.
pub(super) fn given_settings<'w>(subcommand: &str, words: &'w [Word]) -> Vec<(&'w str, &'w str)> {
    if !matches!(subcommand, "clone" | "submodule") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let long = text.split('=').next().unwrap_or(text);
        let is_long = long.len() > 4 && "--config".starts_with(long);
        let value = match text.split_once('=').filter(|_| is_long) {
            Some((_, value)) => Some(value),
            None if is_long || text == "-c" => words.get(at + 1).map(|next| next.text.as_str()),
            None => text.strip_prefix("-c"),
        };
        found.extend(value.and_then(|value| value.split_once('=')));
    }
    found
}

/// Commands of git that run other programs, whatever their options.
const RUNNING: &[&str] = &[
    "citool",
    "credential",
    "cvsserver",
    "daemon",
    "difftool",
    "gui",
    "imap-send",
    "instaweb",
    "mergetool",
    "p4",
    "remote-ext",
    "remote-fd",
    "shell",
    "svn",
    "web--browse",
];

/// Returns `true` if git's own options say where its programs or settings are, or its command is
/// there to run another program.
pub(super) fn names_programs(arguments: &[Word]) -> bool {
    const OPTIONS: &[&str] =
        &["--bare", "--config-env", "--exec-path=", "--git-dir", "--work-tree"];
    let end = globals(arguments).min(arguments.len());
    let before = arguments.get(..end).unwrap_or_default();
    let subcommand = arguments.get(end).map_or("", |word| word.text.as_str());
    RUNNING.contains(&subcommand)
        || before.iter().any(|word| OPTIONS.iter().any(|option| word.text.starts_with(option)))
}
