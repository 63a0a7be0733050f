//! Git commands that show what files hold, or bring it elsewhere, out of the objects of a
//! repository.
//!
//! A command counts as one unless it is known to show names and messages only. What its pathspecs
//! limit it to counts only where they are plain paths.

use crate::shell::command::{Command, Word};
use crate::shell::readonly::{LOG_ATTACHED, LOG_FLAGS, LOG_TEXTS};
use crate::shell::wrapper::{git_without_globals, normal_name};

/// The content of a repository that a command may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Names and messages at most.
    Nothing,
    /// The content at these paths, in any revision.
    Paths(Vec<Word>),
    /// Files of the work tree that are tracked, at these paths if there are any.
    WorkTree(Vec<Word>),
    /// Any file of the work tree, and whatever a revision holds.
    WholeTree,
    /// Anything that was ever tracked.
    Anything,
}

/// Programs that show what a repository holds, in ways of their own.
const OTHER_PROGRAMS: &[&str] = &[
    "bzr", "darcs", "fossil", "gitk", "gitui", "hg", "jj", "lazygit", "pijul", "sl", "svn", "tig",
];

/// Commands that show no content with any option.
const NAMES_ONLY: &str = "branch bugreport check-attr check-ignore check-mailmap \
    check-ref-format cherry cherry-pick clean config count-objects describe fetch for-each-ref \
    fsck gc help init ls-files ls-remote ls-tree maintenance merge-base mv name-rev pack-refs \
    prune pull push rebase remote repack revert rev-list rev-parse rm shortlog show-ref \
    sparse-checkout switch symbolic-ref tag update-index var verify-commit version";

/// Options and words with which those show or move content all the same.
const UNLESS: &[&str] =
    &["--blob", "--cacheinfo", "--index-info", "--lost-found", "--show-current-patch"];

/// Commands that show content with an option to choose or to tell more.
const WITH_HUNKS: &str = "add checkout commit merge reset restore stage stash status";

/// Options with which those show content: in pieces, or all of it.
const HUNKS: &[&str] = &["--edit", "--interactive", "--patch", "--verbose"];

/// Options that make a difference a list of names or numbers.
const NAME_FORMATS: &str = "--compact-summary --cumulative --dirstat --dirstat-by-file \
    --name-only --name-status --no-patch --numstat --quiet --raw --shortstat --stat --summary -s";

/// Options that change which differences are listed, and show none.
const SELECTING: &str = "--abbrev --cached --color --decorate-refs --decorate-refs-exclude \
    --diff-filter --exit-code --find-copies --find-copies-harder --find-renames --full-index \
    --ignore-all-space --ignore-blank-lines --ignore-space-change --ignore-submodules \
    --include-untracked --merge-base --no-color --no-ext-diff --no-relative --no-renames \
    --no-textconv --pickaxe-all --pickaxe-regex --relative --staged --stat-count \
    --stat-graph-width --stat-name-width --stat-width -B -C -G -M -R -S -b -l -q -r -w -z";

/// Options of `git log` that show differences although they choose commits.
const SHOWING: &str = "-c -m --cc --dd --diff-merges --full-diff --remerge-diff";

/// Returns the content of a repository that a command may show.
pub(crate) fn content(command: &Command) -> Content {
    let Some(name) = command.words.first() else { return Content::Nothing };
    let base = normal_name(&name.text);
    if OTHER_PROGRAMS.contains(&base) {
        return Content::Anything;
    }
    let words = match base.strip_prefix("git-") {
        Some(subcommand) => {
            let rest = command.arguments().iter().cloned();
            std::iter::once(Word::plain(subcommand)).chain(rest).collect()
        }
        None if base == "git" => {
            let mut words = git_without_globals(&command.words);
            words.remove(0);
            words
        }
        None => return Content::Nothing,
    };
    let Some((subcommand, rest)) = words.split_first() else { return Content::Nothing };
    if !subcommand.known || rest.iter().any(|word| !word.known) {
        return Content::Anything;
    }
    let elsewhere = ["--git-dir", "--work-tree", "--bare", "--namespace", "--config-env"];
    let globals = command.arguments().len().saturating_sub(words.len());
    let mut globals = command.arguments().iter().take(globals);
    if globals.any(|word| elsewhere.iter().any(|option| word.text.starts_with(option))) {
        return Content::Anything;
    }
    of(&subcommand.text, &Split::of(rest))
}

/// The words behind a command of git, told apart as git does.
#[derive(Debug)]
struct Split<'w> {
    options: Vec<&'w str>,
    /// Words in front of `--` that are no options; values of options are among them.
    operands: Vec<&'w str>,
    /// Words behind `--`, if there is one.
    paths: Option<Vec<&'w Word>>,
}

impl<'w> Split<'w> {
    fn of(words: &'w [Word]) -> Self {
        let mark = words.iter().position(|word| word.text == "--");
        let (before, paths) = match mark.and_then(|mark| words.split_at_checked(mark)) {
            Some((before, behind)) => (before, Some(behind.iter().skip(1).collect())),
            None => (words, None),
        };
        let texts = before.iter().map(|word| word.text.as_str());
        let (options, operands) = texts.partition(|text| text.starts_with('-') && text.len() > 1);
        Self { options, operands, paths }
    }

    /// Returns `true` if an option is given, in full, shortened or in a cluster of letters.
    fn has(&self, long: &[&str], letters: &str) -> bool {
        self.options.iter().any(|option| match option.strip_prefix("--") {
            Some(_) => {
                let name = option.split('=').next().unwrap_or(option);
                long.iter().any(|long| name.len() > 2 && long.starts_with(name))
            }
            None => option.contains(|letter| letters.contains(letter)),
        })
    }

    fn names(&self, list: &str) -> bool {
        self.options.iter().any(|option| holds(list, option.split('=').next().unwrap_or(option)))
    }

    /// Returns `true` if no option shows a difference.
    fn is_quiet(&self) -> bool {
        self.options.iter().all(|option| is_quiet(option))
    }

    /// Returns `true` if an operand may name a file or a folder in a revision.
    fn has_objects(&self) -> bool {
        self.operands.iter().any(|operand| may_be_object(operand))
    }

    /// Returns the plain paths that the command is limited to.
    fn limits(&self) -> Option<Vec<Word>> {
        let paths = self.paths.as_ref().filter(|paths| !paths.is_empty())?;
        let widens =
            self.has(&["--follow", "--full-diff", "--no-index", "--pathspec-from-file"], "L");
        let is_plain = paths.iter().all(|word| is_plain_path(word));
        (is_plain && !widens).then(|| paths.iter().copied().cloned().collect())
    }

    /// Returns the content at the paths of the command, or anything.
    fn limited(&self) -> Content {
        match self.limits().filter(|_| !self.has_objects()) {
            Some(paths) => Content::Paths(paths),
            None => Content::Anything,
        }
    }
}

fn of(subcommand: &str, split: &Split<'_>) -> Content {
    let shown_if = |shows: bool| if shows { split.limited() } else { Content::Nothing };
    let first = split.operands.first().copied().unwrap_or_default();
    match subcommand {
        "log" | "reflog" | "whatchanged" | "diff-tree" | "diff-index" | "diff-files" => {
            shown_if(!split.is_quiet())
        }
        "diff" => shown_if(!(split.is_quiet() && split.names(NAME_FORMATS))),
        // What is no commit is shown whole, whatever the options and the paths.
        "show" => {
            let lists = split.is_quiet() && split.names(NAME_FORMATS) && !split.has_objects();
            if lists { Content::Nothing } else { Content::Anything }
        }
        "blame" | "annotate" => blamed(split),
        "grep" => searched(split),
        "stash" if matches!(first, "show" | "list") => shown_if(!split.is_quiet()),
        "cat-file" if split.options.iter().all(|option| matches!(*option, "-e" | "-s" | "-t")) => {
            shown_if(split.options.is_empty())
        }
        "clone" => {
            let is_remote = |text: &&str| {
                let is_address = text.contains("://") || text.contains(':');
                is_address && !text.starts_with("file:") && !text.starts_with(['.', '/'])
            };
            if split.operands.iter().any(is_remote) { Content::Nothing } else { Content::Anything }
        }
        "worktree" if !matches!(first, "add" | "move") => Content::Nothing,
        "submodule" if matches!(first, "" | "status" | "init" | "update" | "sync") => {
            Content::Nothing
        }
        "bisect" if !matches!(first, "view" | "visualize" | "run") => Content::Nothing,
        "notes" if matches!(first, "" | "list") => Content::Nothing,
        // A format may ask for the whole object, and a name may be given to any of them.
        _ if holds(NAMES_ONLY, subcommand) => {
            let names_object = matches!(subcommand, "tag" | "update-index") && split.has_objects();
            let says = |text: &str| {
                split.options.iter().chain(&split.operands).any(|word| word.contains(text))
            };
            let raw = says("raw") && matches!(subcommand, "branch" | "for-each-ref" | "tag");
            if names_object || raw || split.has(UNLESS, "") || says("subtree") {
                Content::Anything
            } else {
                Content::Nothing
            }
        }
        _ if holds(WITH_HUNKS, subcommand) => {
            let from_tree = match subcommand {
                "checkout" | "reset" => {
                    split.has_objects() && (split.operands.len() > 1 || split.paths.is_some())
                }
                "restore" => {
                    split.options.iter().any(|option| {
                        let source = option.strip_prefix("--source=");
                        source.or_else(|| option.strip_prefix("-s")).is_some_and(may_be_object)
                    }) || split.has_objects()
                }
                "merge" => {
                    split.options.iter().chain(&split.operands).any(|word| word.contains("subtree"))
                }
                _ => false,
            };
            let letters = match subcommand {
                "add" | "stage" => "pie",
                "commit" => "pv",
                "status" => "v",
                "merge" => "",
                _ => "p",
            };
            let shows = split.has(HUNKS, letters) && !is_verbose_only(subcommand, split);
            if from_tree || shows { Content::Anything } else { Content::Nothing }
        }
        _ => Content::Anything,
    }
}

/// Returns `true` if the only such option is one that tells more without content.
fn is_verbose_only(subcommand: &str, split: &Split<'_>) -> bool {
    !matches!(subcommand, "commit" | "status")
        && !split.has(&["--edit", "--interactive", "--patch"], "pie")
}

/// `git blame` shows the lines of one file, which its last operand names.
fn blamed(split: &Split<'_>) -> Content {
    let last = match &split.paths {
        Some(paths) => paths.last().map(|word| (*word).clone()),
        None => split.operands.last().map(|text| Word::plain(*text)),
    };
    match last.filter(is_plain_path) {
        Some(path) => Content::Paths(vec![path]),
        None => Content::Anything,
    }
}

/// `git grep` searches the work tree, unless it is given a revision or told to search the index.
fn searched(split: &Split<'_>) -> Content {
    let has_pattern = split.options.iter().any(|option| option.starts_with("-e"));
    let revisions = split.operands.len().saturating_sub(usize::from(!has_pattern));
    let cached = split.has(&["--cached", "--no-index"], "");
    let here = split.paths.as_ref().is_none_or(Vec::is_empty);
    match split.limits() {
        Some(limits) if revisions == 0 && !cached => Content::WorkTree(limits),
        None if revisions == 0 && !cached && here => Content::WorkTree(Vec::new()),
        Some(_) if !cached && !split.has_objects() => split.limited(),
        _ => Content::WholeTree,
    }
}

/// Returns `true` if an option only chooses what is listed.
fn is_quiet(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    let known = |name: &str| {
        [NAME_FORMATS, SELECTING, LOG_FLAGS, LOG_ATTACHED, LOG_TEXTS]
            .iter()
            .any(|list| holds(list, name))
            && !holds(SHOWING, name)
    };
    if name.starts_with("--") {
        return known(name);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let letter = option.get(..2).unwrap_or(option);
    let rest = option.get(2..).unwrap_or_default();
    let takes_rest = matches!(letter, "-n" | "-B" | "-C" | "-M" | "-S" | "-G" | "-l");
    option.strip_prefix('-').is_some_and(is_number)
        || (known(letter) && (rest.is_empty() || takes_rest))
}

/// Returns `true` if a revision may be a file or a folder: it says so, or is only a number.
fn may_be_object(revision: &str) -> bool {
    revision.split("..").any(|end| {
        let end = end.trim_start_matches(['.', '^']);
        let end = end.split(['~', '^', '@']).next().unwrap_or(end);
        let is_number = end.len() >= 4 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_number || revision.contains(':')
    })
}

/// Returns `true` if a pathspec means one path and what is below it.
fn is_plain_path(word: &Word) -> bool {
    word.known
        && !word.home
        && !word.text.is_empty()
        && !word.text.starts_with([':', '-'])
        && !word.text.contains(['*', '?', '[', '\\', '\n'])
}

/// Returns `true` if a list of words separated by blanks holds a word.
fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| entry == word)
}
