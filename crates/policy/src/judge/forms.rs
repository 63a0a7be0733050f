//! A command as rules see it.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::iter;

use crate::pattern::{CommandPattern, CommandText};
use crate::question::CommandForms;
use crate::rule::{Rule, Tier};
use crate::shell::wrapper::{self, Ran};
use crate::shell::{Command, Direction, Word};

/// Variables that change how much a program says, how fast it works or what it builds for, and
/// name neither a file nor a program.
const INERT: &[&str] = &[
    "APP_ENV",
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TERM_COLOR",
    "CGO_ENABLED",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CMAKE_BUILD_PARALLEL_LEVEL",
    "CMAKE_BUILD_TYPE",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "DEBUG",
    "FLASK_DEBUG",
    "FLASK_ENV",
    "FORCE_COLOR",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "GO111MODULE",
    "GOARCH",
    "GOMAXPROCS",
    "GOOS",
    "HEADLESS",
    "INSTA_UPDATE",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LINES",
    "LOG_LEVEL",
    "NEXT_TELEMETRY_DISABLED",
    "NODE_ENV",
    "NO_COLOR",
    "OMP_NUM_THREADS",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "PORT",
    "PROPTEST_CASES",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONFAULTHANDLER",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
    "RUST_MIN_STACK",
    "RUST_TEST_THREADS",
    "TERM",
    "UPDATE_EXPECT",
    "UV_OFFLINE",
    "VERBOSE",
];

/// Programs that load code of the workspace with or without `PYTHONPATH`.
const PYTHON: &[&str] = &[
    "coverage", "flask", "mypy", "pylint", "pyright", "pytest", "python", "python3", "tox",
    "uvicorn",
];

/// Programs that pass on the command they are given as it is.
const TRANSPARENT: &[&str] = &["nice", "stdbuf", "timeout"];

/// More leading options than this are not looked behind.
const MOST_LEADING: usize = 6;

/// A command as rules see it.
pub(super) fn forms(command: &Command, inner: &[Ran]) -> CommandForms {
    let mut generous = Vec::new();
    push_generous(command, &mut generous);
    for ran in inner {
        push_generous(&ran.command, &mut generous);
    }
    CommandForms { generous, is_exact: is_strict(command) }
}

/// Exactly what runs; nothing when that is not known, or variables change what it means.
fn strict(command: &Command) -> Option<CommandText> {
    is_strict(command)
        .then(|| CommandText::new(command.words.iter().map(|word| word.text.as_str())))
}

fn is_strict(command: &Command) -> bool {
    let inert = command.assignments.iter().all(|assignment| {
        let Some(value) = assignment.value.literal() else { return false };
        match assignment.name.as_str() {
            "PAGER" | "GIT_PAGER" => value == "cat",
            "PYTHONPATH" => {
                let is_own = |part: &str| !part.starts_with('/') && !part.contains("..");
                command.name().is_some_and(|name| PYTHON.contains(&name))
                    && value.split(':').all(is_own)
            }
            name => INERT.contains(&name) && !value.contains('/'),
        }
    });
    let known = command.words.iter().all(|word| word.known);
    inert && known && command.name().is_some_and(|name| !name.is_empty())
}

/// The command that another one passes on as it is, with its variables.
pub(super) fn passes_through(command: &Command, inner: &[Ran]) -> Option<Command> {
    let ran = inner.first().filter(|ran| ran.certain && !ran.command.words.is_empty())?;
    let is_transparent = command.name().is_some_and(|name| TRANSPARENT.contains(&name));
    let assignments = command.assignments.clone();
    is_transparent.then(|| Command { assignments, ..ran.command.clone() })
}

/// Every way a command may be meant: by its base name, and without options in front.
fn push_generous(command: &Command, generous: &mut Vec<CommandText>) {
    let mut words = command.words.iter().map(|word| word.text.as_str());
    let Some(name) = words.next() else { return };
    let arguments = words;
    let called = |name| CommandText::new(iter::once(name).chain(arguments.clone()));
    let mut push = |text: CommandText| {
        if !generous.contains(&text) {
            generous.push(text);
        }
    };
    push(called(name));
    let base = wrapper::normal_name(name);
    if base != name {
        push(called(base));
    }
    if base == "git" {
        let plain = wrapper::git_without_globals(&command.words);
        push(CommandText::new(plain.iter().map(|word| word.text.as_str())));
    }
    if let Some(subcommand) = base.strip_prefix("git-") {
        push(CommandText::new(["git", subcommand].into_iter().chain(arguments.clone())));
    }
    // Options in front of a subcommand may have values: `kubectl -n x delete`.
    if arguments.clone().next().is_some_and(|first| first.starts_with('-')) {
        for skipped in 1..arguments.len().min(MOST_LEADING) {
            push(CommandText::new(iter::once(base).chain(arguments.clone().skip(skipped))));
        }
    }
}

/// Whether a rule is enough for whatever the command runs: it allows all commands, or this very one.
pub(super) fn covers_all_it_runs(rule: Option<&Rule>, command: &Command) -> bool {
    rule.is_some_and(|rule| {
        let written = || rule.matcher.commands.iter().filter_map(CommandPattern::written);
        let length = shown_length(command);
        let exact = || {
            let text = strict(command).map(|text| text.shown());
            written().any(|pattern| text.as_deref() == Some(pattern))
        };
        // Nearly every pattern has another length, which is known for nothing.
        covers_every_command(rule) || (written().any(|pattern| pattern.len() == length) && exact())
    })
}

/// Returns `true` if a rule names the programs that a command runs in turn, as `npx tsc *` does.
pub(super) fn names_what_it_runs(rule: Option<&Rule>, command: &Command, inner: &[Ran]) -> bool {
    let fixed = fixed_words(rule, command);
    let start = |ran: &Ran| start_within(command, ran).filter(|start| (1..fixed).contains(start));
    let at = runner_program(command);
    let program = inner.iter().find(|ran| at.is_some() && start(ran) == at);
    match program {
        // Where the program is certain, whatever else might be one is not.
        Some(program) => {
            wrapper::runs(&program.command).is_empty()
                && inner.iter().all(|ran| !ran.certain || start(ran) == at)
        }
        None => at.is_none() && !inner.is_empty() && inner.iter().all(|ran| start(ran).is_some()),
    }
}

/// Returns the word at which the program begins that a runner is given without any options, such as
/// `pytest` in `uv run pytest`. Whatever follows belongs to that program.
fn runner_program(command: &Command) -> Option<usize> {
    let word = |at: usize| command.words.get(at).map(|word| word.text.as_str());
    let subcommand = match command.name().map_or("", wrapper::normal_name) {
        "npx" | "bunx" | "pnpx" => None,
        "uv" | "pipx" | "poetry" | "pdm" | "hatch" => Some("run"),
        "bundle" => Some("exec"),
        _ => return None,
    };
    let at = 1 + usize::from(subcommand.is_some());
    let is_plain = |text: &str| !text.starts_with('-');
    (subcommand.is_none_or(|name| word(1) == Some(name)) && word(at).is_some_and(is_plain))
        .then_some(at)
}

/// Returns how many words of a command an allow rule fixes.
fn fixed_words(rule: Option<&Rule>, command: &Command) -> usize {
    let (Some(rule), Some(text)) = (rule, strict(command)) else { return 0 };
    let matching =
        rule.matcher.commands.iter().filter(|pattern| pattern.matches(&text, rule.decision));
    let fixed =
        matching.filter_map(CommandPattern::first_words).map(|words| words.split(' ').count());
    fixed.max().unwrap_or(0)
}

/// Returns the word at which a command that is run in turn begins, if it goes on to the end.
fn start_within(command: &Command, ran: &Ran) -> Option<usize> {
    let (words, inner) = (&command.words, &ran.command.words);
    let start = words.len().checked_sub(inner.len())?;
    let rest = words.get(start..)?.iter().map(|word| &word.text);
    let is_rest = !inner.is_empty() && rest.eq(inner.iter().map(|word| &word.text));
    (is_rest && ran.command.assignments.is_empty()).then_some(start)
}

/// How long a command is as a person would write it.
fn shown_length(command: &Command) -> usize {
    let word = |word: &Word| if word.text.is_empty() { "''".len() } else { word.text.len() };
    command.words.iter().map(|text| word(text) + 1).sum::<usize>().saturating_sub(1)
}

/// Whether a rule is about all of shell.
pub(super) fn covers_every_command(rule: &Rule) -> bool {
    let matcher = &rule.matcher;
    matcher.commands.is_empty() && matcher.args.is_none() && matcher.conditions.is_empty()
}

pub(super) fn spells_out(rule: &Rule, word: &str) -> bool {
    is_owners(rule) && rule.matcher.commands.iter().any(|pattern| pattern.names(word))
}

pub(super) fn is_owners(rule: &Rule) -> bool {
    rule.origin.tier != Tier::Default
}

/// `[` is a program, although it looks like the beginning of a file name pattern.
pub(super) fn is_test(command: &Command) -> bool {
    command.words.first().is_some_and(|word| word.known && word.text == "[")
}

/// Words in which files may be named: the words themselves, values of options, pieces of scripts.
pub(super) fn possible_files(command: &Command) -> Vec<(Cow<'_, Word>, Named)> {
    let mut found = Vec::with_capacity(command.arguments().len());
    for word in command.arguments() {
        let text = word.text.as_str();
        if let Some(option) = text.strip_prefix('-') {
            // `--output=file`, `-ofile`: whoever takes a file in an option may write it.
            let value = text.split_once('=').map(|(_, value)| value);
            let attached = option.get(1..).filter(|_| !option.starts_with('-'));
            let values = value.into_iter().chain(attached).filter(|value| !value.is_empty());
            let values = values.map(|value| value.rsplit('@').next().unwrap_or(value));
            found.extend(values.map(|value| (part(word, value), Named::InOption)));
            continue;
        }
        let value = text.split_once('=').map(|(_, value)| value.trim_start_matches('@'));
        let value = value.map(|value| (part(word, value), Named::InOption));
        found.extend(value);
        found.push((part(word, text.trim_start_matches('@')), Named::Alone));
        if text.bytes().any(|byte| matches!(byte, b' ' | b'(' | b'"' | b'\'' | b';' | b'{' | b','))
        {
            found.extend(pieces(text).map(|piece| (part(word, piece), Named::Inside)));
        }
    }
    let assigned = command.assignments.iter().map(|assignment| &assignment.value);
    found.extend(assigned.map(|word| (Cow::Borrowed(word), Named::Inside)));
    let here = command.redirects.iter().filter(|redirect| redirect.direction == Direction::Here);
    for text in here.map(|redirect| &redirect.target) {
        found.extend(pieces(&text.text).map(|piece| (part(text, piece), Named::Inside)));
    }
    found
}

/// What may be a name in a script.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let ends = [' ', '(', ')', '"', '\'', ';', '{', '}', ',', '\n', '=', '<', '>', '|', '!'];
    text.split(ends).filter(|piece| piece.len() > 1)
}

/// The programs that a command may run without being known to: words on their own, values of
/// options, and what stands in scripts of programs that run others.
pub(super) fn possible_programs(command: &Command) -> Vec<String> {
    const SCRIPTED: &[&str] = &[
        "awk", "ed", "ex", "expect", "gawk", "gdb", "lua", "make", "mawk", "nawk", "node", "perl",
        "php", "psql", "python", "python3", "ruby", "sed", "sg", "sqlite3", "ssh", "tclsh", "vi",
        "vim",
    ];
    let name = command.name().map_or("", wrapper::normal_name);
    let is_scripted = SCRIPTED.contains(&name);
    let mut found = Vec::new();
    for (word, named) in possible_files(command) {
        let first = word.text.split_ascii_whitespace().next().unwrap_or_default();
        match named {
            Named::Alone if !word.text.contains(' ') => found.push(first.to_owned()),
            Named::InOption => {
                found.push(first.to_owned());
                found.extend(pieces(&word.text).map(str::to_owned));
            }
            Named::Inside | Named::Alone if is_scripted || !command.assignments.is_empty() => {
                found.extend(pieces(&word.text).map(str::to_owned));
            }
            Named::Inside | Named::Alone => {}
        }
    }
    found.iter().map(|name| wrapper::normal_name(name).to_owned()).collect()
}

fn part<'w>(word: &'w Word, text: &str) -> Cow<'w, Word> {
    if text == word.text {
        return Cow::Borrowed(word);
    }
    let home = text == "~" || text.starts_with("~/");
    Cow::Owned(Word { text: text.to_owned(), home, ..*word })
}

/// Where in a command a file may be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// As a word of its own.
    Alone,
    /// As the value of an option.
    InOption,
    /// Somewhere in a longer word.
    Inside,
}

/// Commands that do not write the files named on their command line.
pub(super) fn only_reads_its_words(command: &Command) -> bool {
    const READERS: &[&str] = &["cat", "less", "more", "awk", "jq", "yq", "bat", "xxd", "file"];
    const GIT_READERS: &[&str] =
        &["add", "blame", "commit", "diff", "fetch", "log", "push", "show", "stage"];
    let name = command.name().map_or("", wrapper::normal_name);
    let git_reads = || {
        let words = wrapper::git_without_globals(&command.words);
        let subcommand = words.get(1).map(|word| word.text.as_str());
        subcommand.is_some_and(|subcommand| GIT_READERS.contains(&subcommand))
    };
    READERS.contains(&name) || (name == "git" && git_reads())
}

/// Commands that take whole folders, whatever is in them.
pub(super) fn takes_folders(command: &Command) -> bool {
    const TAKERS: &[&str] = &[
        "7z", "7za", "7zr", "7zz", "ack", "ag", "borg", "bsdtar", "cp", "cpio", "diff", "ditto",
        "egrep", "fd", "fdfind", "fgrep", "find", "git", "gpgtar", "grep", "gtar", "mv", "pax",
        "rar", "rclone", "restic", "rg", "rsync", "scp", "sftp", "star", "tar", "ugrep", "zip",
    ];
    let name = command.name().map_or("", wrapper::normal_name);
    TAKERS.contains(&name)
        || (name == "rm" && command.arguments().iter().any(|word| is_recursive(&word.text)))
}

/// Commands that read the names of the files they take from a file, or from their input.
pub(super) fn takes_list(command: &Command) -> bool {
    let name = command.name().map_or("", wrapper::normal_name);
    let is_list = |word: &Word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--");
        text.starts_with("--files")
            || text.starts_with("--include-from")
            || text == "-@"
            || text.starts_with('@') && name.starts_with('7')
            || name.ends_with("tar") && short && text.contains('T')
    };
    matches!(name, "cpio" | "pax") || command.arguments().iter().any(is_list)
}

/// Commands that change or copy the files named on their command line, and take nothing else that
/// looks like a path.
pub(super) fn changes_files_it_names(command: &Command) -> bool {
    const CHANGERS: &[&str] = &[
        "chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "rm", "rmdir", "shred", "tar",
        "tee", "touch", "truncate", "unlink", "unzip", "zip", "gzip", "gunzip",
    ];
    CHANGERS.contains(&command.name().map_or("", wrapper::normal_name))
}

/// Whether an option removes or copies folders with all that is in them.
pub(super) fn is_recursive(option: &str) -> bool {
    let short = option.starts_with('-') && !option.starts_with("--");
    (short && option.contains(['r', 'R'])) || option == "--recursive"
}

/// A command as people see it, not too long.
pub(super) fn shown(command: &Command) -> impl fmt::Display {
    const ROOM: usize = 80;
    fmt::from_fn(|formatter| {
        let mut room = ROOM;
        for (number, word) in command.words.iter().enumerate() {
            if number > 0 && room > 0 {
                formatter.write_char(' ')?;
                room -= 1;
            }
            let plain = |byte: u8| matches!(byte, b' '..=b'~');
            if word.text.len() <= room && word.text.bytes().all(plain) {
                formatter.write_str(&word.text)?;
                room -= word.text.len();
                continue;
            }
            for letter in word.text.chars().take(room) {
                formatter.write_char(if letter.is_control() { ' ' } else { letter })?;
                room -= 1;
            }
        }
        if room == ROOM { formatter.write_str("a variable is set") } else { Ok(()) }
    })
}
