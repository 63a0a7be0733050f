//! The commands that a command starts in turn.
//!
//! This serves rules that forbid, so it would rather see a command too many:
//! where the options of a program are not understood, every argument may be
//! the beginning of a command.

mod by_option;
mod git;
mod options;
mod table;

use crate::shell::command::{Command, Direction, Reading, Word};
use crate::shell::reading::read;
pub use git::git_without_globals;
use options::{NONE, Options, is_assignment};
use table::Kind;

/// How many programs may stand in front of a command.
const DEEPEST: usize = 10;

/// Maximum number of commands that are guessed.
const MOST: usize = 300;

/// Maximum number of commands that are listed.
const MOST_LISTED: usize = 20_000;

/// A command that another one starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The command; one without words stands for something that cannot be seen.
    pub command: Command,
    /// The programs it runs through, the outermost first: `sudo env`.
    pub through: String,
    /// Whether it runs just as it is listed, as far as can be seen.
    pub certain: bool,
    /// The file that holds what runs, where the line names it: `sh x.sh`, `source x.sh`.
    pub script: Option<String>,
}

/// The commands that a command starts besides itself, at any depth.
pub fn runs(command: &Command) -> Vec<Ran> {
    let mut finder = Finder { found: Vec::new() };
    finder.follow(command, &Path { through: String::new(), certain: true, depth: 0 });
    finder.found
}

/// Whether a program, named without its folder, is there to run others, whatever its arguments.
pub(crate) fn is_wrapper(name: &str) -> bool {
    table::kind(name).is_some_and(|kind| !matches!(kind, Kind::Git | Kind::Behind(_)))
}

/// A program's name without its folder.
pub fn normal_name(name: &str) -> &str {
    let slash = name.bytes().rposition(|byte| byte == b'/');
    slash.and_then(|slash| name.get(slash + 1..)).unwrap_or(name)
}

/// How a command was reached.
#[derive(Debug, Clone)]
struct Path {
    through: String,
    certain: bool,
    depth: usize,
}

impl Path {
    fn through(&self, name: &str) -> Self {
        let through = format!("{} {name}", self.through).trim().to_owned();
        Self { through, certain: self.certain, depth: self.depth + 1 }
    }

    fn guessed(&self) -> Self {
        Self { certain: false, ..self.clone() }
    }
}

struct Finder {
    found: Vec<Ran>,
}

impl Finder {
    fn follow(&mut self, command: &Command, path: &Path) {
        let Some(name) = command.words.first().filter(|word| word.known) else { return };
        let name = normal_name(&name.text);
        self.by_option(name, command, path);
        let Some(kind) = table::kind(name) else { return };
        let path = &path.through(name);
        if path.depth > DEEPEST {
            return self.unseen(path);
        }
        let arguments = command.arguments();
        match kind {
            Kind::Plain(options) => self.plain(command, &options, path),
            Kind::PlainOrText(options) => self.plain_or_text(command, &options, path),
            Kind::Joined(options) => self.joined(command, &options, path),
            Kind::Somewhere => self.somewhere(command, path),
            Kind::Behind(marks) => {
                let is_mark = |word: &Word| {
                    let text = word.text.as_str();
                    let option = text.split_once('=').filter(|_| text.starts_with('-'));
                    marks.contains(&option.map_or(text, |(name, _)| name))
                };
                if arguments.iter().any(|word| !word.known || is_mark(word)) {
                    self.somewhere(command, path);
                }
            }
            Kind::Shell => self.shell(command, path),
            Kind::Eval => self.text(&join(arguments), path),
            Kind::Env => self.env(command, path),
            Kind::Command => self.command(command, path),
            Kind::Trap => self.trap(arguments, path),
            Kind::Alias => self.alias(arguments, path),
            Kind::Source => self.script(arguments.first(), path),
            Kind::Find => self.find(command, path),
            Kind::Fd => self.fd(command, path),
            Kind::Git => self.git(command, path),
            Kind::Evaluator => self.evaluator(arguments, path),
        }
    }

    /// Lists what an option has a program run that otherwise runs nothing.
    fn by_option(&mut self, name: &str, command: &Command, path: &Path) {
        let found = by_option::runs(name, command.arguments());
        self.values(found, &path.through(name).guessed());
    }

    /// Lists the values of options as texts for the shell.
    fn values(&mut self, values: Vec<Option<String>>, path: &Path) {
        for value in values {
            match value.filter(|_| path.depth <= DEEPEST) {
                Some(text) => self.text(&Word::plain(text), path),
                None => self.unseen(path),
            }
        }
    }

    /// Lists a command made of some words of another, and what it starts in turn.
    fn child(&mut self, parent: &Command, words: &[Word], path: &Path) {
        if words.is_empty() {
            return;
        }
        if self.found.len() >= if path.certain { MOST_LISTED } else { MOST } {
            return self.unseen(path);
        }
        let command = Command { words: words.to_vec(), assignments: Vec::new(), ..parent.clone() };
        self.add(command.clone(), path);
        self.follow(&command, path);
    }

    fn add(&mut self, command: Command, path: &Path) {
        let Path { through, certain, .. } = path.clone();
        self.found.push(Ran { command, through, certain, script: None });
    }

    /// Notes that the commands in a file run.
    fn script(&mut self, file: Option<&Word>, path: &Path) {
        // A descriptor's file holds what the line passes to it.
        let is_descriptor = |text: &str| text.contains("/dev/") || text.contains("/proc/");
        let is_file = |word: &&Word| {
            word.known && !word.pattern && !word.text.starts_with('-') && !is_descriptor(&word.text)
        };
        let script = file.filter(is_file).map(|word| word.text.clone());
        if self.found.len() <= MOST {
            let Path { through, .. } = path.clone();
            self.found.push(Ran { command: Command::default(), through, certain: false, script });
        }
    }

    /// Notes that something runs which cannot be seen.
    fn unseen(&mut self, path: &Path) {
        let is_noted = self.found.last().is_some_and(|last| last.command.words.is_empty());
        if self.found.len() <= MOST_LISTED && !is_noted {
            self.add(Command::default(), &path.guessed());
        }
    }

    fn plain(&mut self, command: &Command, options: &Options, path: &Path) {
        match options.read(command.arguments()) {
            Some(understood) => self.child(command, rest(command, understood.command), path),
            None => self.somewhere(command, path),
        }
    }

    /// Every argument that is no option may begin a command.
    fn somewhere(&mut self, command: &Command, path: &Path) {
        // Below a guess, the ends of the arguments have all been tried.
        if !path.certain {
            return;
        }
        let path = path.guessed();
        for (at, word) in command.arguments().iter().enumerate() {
            if !word.text.starts_with('-') {
                self.child(command, rest(command, at), &path);
            }
            if let Some((_, value)) = word.text.split_once('=').filter(|_| word.known) {
                self.text(&Word::plain(value), &path);
            }
            if word.known && word.text.contains(char::is_whitespace) {
                self.text(word, &path);
            }
        }
    }

    fn plain_or_text(&mut self, command: &Command, options: &Options, path: &Path) {
        let arguments = command.arguments();
        let texts = text_options(arguments);
        for text in &texts {
            self.text(text, path);
        }
        match options.read(arguments) {
            Some(understood) if texts.is_empty() => {
                self.child(command, rest(command, understood.command), &path.guessed());
            }
            _ => self.somewhere(command, path),
        }
    }

    fn joined(&mut self, command: &Command, options: &Options, path: &Path) {
        match options.read(command.arguments()) {
            Some(understood) => {
                let words = rest(command, understood.command);
                self.child(command, words, &path.guessed());
                if !words.is_empty() {
                    self.text(&join(words), path);
                }
            }
            None => self.somewhere(command, path),
        }
    }

    fn env(&mut self, command: &Command, path: &Path) {
        let arguments = command.arguments();
        let options = Options {
            flags: "i0v",
            valued: "uCSP",
            long_flags: &[
                "ignore-environment",
                "null",
                "debug",
                "block-signal",
                "default-signal",
                "ignore-signal",
                "list-signal-handling",
            ],
            long_valued: &["unset", "chdir", "split-string"],
            assignments: true,
            ..NONE
        };
        let Some(understood) = options.read(arguments) else {
            return self.somewhere(command, path);
        };
        let mut words: Vec<Word> = Vec::new();
        for met in &understood.options {
            if matches!(met.name.as_str(), "S" | "split-string") {
                words.extend(met.value.unwrap_or_default().split_whitespace().map(Word::plain));
                self.text(&Word::plain(met.value.unwrap_or_default()), &path.guessed());
            }
        }
        let first = words.iter().take_while(|word| is_assignment(word)).count();
        words.drain(..first);
        // A lone `-` means `-i`.
        let dash = usize::from(
            rest(command, understood.command).first().is_some_and(|word| word.text == "-"),
        );
        let behind = rest(command, understood.command + dash);
        words.extend(behind.iter().skip_while(|word| is_assignment(word)).cloned());
        self.child(command, &words, path);
    }

    fn command(&mut self, command: &Command, path: &Path) {
        let options = Options { flags: "pvV", ..NONE };
        match options.read(command.arguments()) {
            // Only looks the name up.
            Some(understood) if understood.has(&["v", "V"]) => {}
            Some(understood) => self.child(command, rest(command, understood.command), path),
            None => self.somewhere(command, path),
        }
    }

    fn shell(&mut self, command: &Command, path: &Path) {
        let mut operands = Vec::new();
        let mut text_follows = false;
        let mut arguments = command.arguments().iter();
        while let Some(word) = arguments.next() {
            let option = word.text.starts_with(['-', '+']) && word.text.len() > 1;
            if !option || !word.known || !operands.is_empty() {
                operands.push(word);
                continue;
            }
            if matches!(word.text.as_str(), "--rcfile" | "--init-file") {
                self.unseen(path);
                arguments.next();
            } else if !word.text.starts_with("--") {
                text_follows |= word.text.contains('c');
                if word.text.ends_with(['o', 'O']) {
                    arguments.next();
                }
            } else if let Some((_, text)) = word.text.split_once('=') {
                self.text(&Word::plain(text), &path.guessed());
            }
        }
        match operands.first() {
            Some(text) if text_follows => self.text(text, path),
            Some(file) => self.script(Some(file), path),
            None => self.shell_input(command, path),
        }
    }

    /// A shell without a script reads its input.
    fn shell_input(&mut self, command: &Command, path: &Path) {
        let texts = command.redirects.iter().filter(|input| input.direction == Direction::Here);
        let mut seen = false;
        for input in texts {
            seen = true;
            self.text(&input.target, path);
        }
        if !seen || command.reads_pipe {
            self.unseen(path);
        }
    }

    /// Lists the commands of a text that a shell reads.
    fn text(&mut self, word: &Word, path: &Path) {
        let most = if path.certain { MOST_LISTED } else { MOST };
        if path.depth > DEEPEST || self.found.len() >= most {
            return self.unseen(path);
        }
        let quoted = word.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let text = if word.known { &word.text } else { quoted.unwrap_or(&word.text) };
        let (commands, path) = match read(text) {
            Reading::Literal(line) if word.known => (line.commands, path.clone()),
            Reading::Literal(line) => (line.commands, path.guessed()),
            Reading::Complex { commands, .. } => (commands, path.guessed()),
            Reading::Unreadable { .. } => (Vec::new(), path.guessed()),
        };
        if !path.certain {
            self.unseen(&path);
        }
        let path = Path { depth: path.depth + 1, ..path };
        for command in commands {
            self.add(command.clone(), &path);
            self.follow(&command, &path);
        }
    }

    fn trap(&mut self, arguments: &[Word], path: &Path) {
        let options = |word: &&Word| word.text.starts_with('-') && word.text.len() > 1;
        if let Some(text) = arguments.iter().find(|word| !options(word)) {
            self.text(text, path);
        }
    }

    fn alias(&mut self, arguments: &[Word], path: &Path) {
        for word in arguments {
            if let Some((_, text)) = word.text.split_once('=') {
                self.text(&Word { text: text.to_owned(), ..word.clone() }, &path.guessed());
            }
        }
    }

    fn find(&mut self, command: &Command, path: &Path) {
        let mut words = command.arguments();
        while let Some((first, behind)) = words.split_first() {
            words = behind;
            if !matches!(first.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                continue;
            }
            let ends = |pair: &[Word]| matches!(pair, [before, last] if last.text == "+" && before.text == "{}");
            let semicolon = behind.iter().position(|word| word.text == ";");
            let plus = behind.windows(2).position(ends).map(|at| at + 1);
            let end = semicolon.into_iter().chain(plus).min().unwrap_or(behind.len());
            self.child(command, behind.get(..end).unwrap_or_default(), path);
        }
        if command.arguments().iter().any(|word| !word.known) {
            self.somewhere(command, path);
        }
    }

    fn fd(&mut self, command: &Command, path: &Path) {
        for (at, word) in command.arguments().iter().enumerate() {
            let text = word.text.as_str();
            let exact = matches!(text, "-x" | "-X" | "--exec" | "--exec-batch");
            let attached = ["--exec=", "--exec-batch=", "-x", "-X"]
                .into_iter()
                .find_map(|option| text.strip_prefix(option))
                .filter(|_| !exact);
            let behind = rest(command, at + 1);
            let end = behind.iter().position(|word| word.text == ";").unwrap_or(behind.len());
            let behind = behind.get(..end).unwrap_or_default();
            if let Some(attached) = attached {
                let mut words = vec![Word::plain(attached)];
                words.extend_from_slice(behind);
                self.child(command, &words, &path.guessed());
            } else if exact || is_cluster_with(text, ['x', 'X']) {
                self.child(command, behind, path);
            }
        }
    }

    fn git(&mut self, command: &Command, path: &Path) {
        let path = path.guessed();
        for (name, value) in git::settings(command.arguments()) {
            if git::is_command_setting(name) {
                let text = value.strip_prefix('!').unwrap_or(value);
                self.text(&Word::plain(text), &path);
            }
        }
        let words = git_without_globals(&command.words);
        let words = words.get(1..).unwrap_or_default();
        for text in git::texts(words) {
            self.text(&Word::plain(text), &path);
        }
        if git::names_programs(command.arguments()) {
            self.unseen(&path);
        }
        if let Some((subcommand, rest)) = words.split_first() {
            self.values(by_option::git_runs(&subcommand.text, rest), &path);
            let given = git::given_settings(&subcommand.text, rest);
            for (_, value) in given.into_iter().filter(|(name, _)| git::is_command_setting(name)) {
                self.text(&Word::plain(value.trim_start_matches('!')), &path);
            }
        }
    }

    /// Looks for commands in text that is evaluated, such as `x[$(id)]`.
    fn evaluator(&mut self, arguments: &[Word], path: &Path) {
        for word in arguments.iter().filter(|word| word.text.contains(['$', '`'])) {
            if !word.text.contains("$(") && !word.text.contains('`') {
                continue;
            }
            // As in double quotes, so that nothing but expansions counts.
            let text = format!(": \"{}\"", word.text.replace('"', "\\\""));
            let Reading::Complex { commands, .. } = read(&text) else { continue };
            for inner in commands.into_iter().skip(1) {
                self.add(inner.clone(), &path.guessed());
                self.follow(&inner, &path.guessed());
            }
        }
    }
}

/// The words from an argument on.
fn rest(command: &Command, at: usize) -> &[Word] {
    command.arguments().get(at..).unwrap_or_default()
}

/// Words as one text, as `eval` sees them.
fn join(words: &[Word]) -> Word {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Word { known: words.iter().all(|word| word.known), ..Word::plain(text) }
}

/// The texts given with `-c`, in any spelling.
fn text_options(arguments: &[Word]) -> Vec<Word> {
    let mut texts = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let attached = ["--command=", "--session-command=", "--call="]
            .into_iter()
            .find_map(|option| word.text.strip_prefix(option));
        texts.extend(attached.map(Word::plain));
        let exact = matches!(word.text.as_str(), "--command" | "--session-command" | "--call");
        if exact || is_cluster_with(&word.text, ['c', 'c']) {
            texts.extend(arguments.get(at + 1).cloned());
        }
        let behind = word.text.strip_prefix("-c").filter(|text| !text.is_empty());
        texts.extend(behind.map(Word::plain));
    }
    texts
}

/// Whether a word is a cluster of short options that ends with one of two letters.
fn is_cluster_with(text: &str, letters: [char; 2]) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.ends_with(letters)
}

#[cfg(test)]
mod tests;
