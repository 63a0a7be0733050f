//! A command with its wrappers looked through.

use crate::shell::command::{Command, Direction, Word};
use crate::shell::wrapper::normal_name;

/// Programs that run the command after them, and their options that take the next word.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-D", "-R"]),
    ("doas", &["-u", "-C"]),
    ("pkexec", &["--user"]),
    ("env", &["-u", "-C", "-S"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("timeout", &["-s", "-k"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("xargs", &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"]),
    ("strace", &["-o", "-e", "-p", "-s"]),
    ("flock", &["-w", "-E"]),
    ("chroot", &[]),
    ("nohup", &[]),
    ("time", &["-f", "-o"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("setsid", &[]),
    ("busybox", &[]),
    ("unbuffer", &[]),
];

/// Wrappers whose first operand is their own: a duration, a lock, a folder.
const WITH_OPERAND: &[&str] = &["timeout", "flock", "chroot"];

/// A command, with the program it ends up running.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The command as written.
    pub(crate) command: &'a Command,
    /// The wrappers in front, outermost first, without folders.
    pub(crate) wrappers: Vec<&'a str>,
    /// The program, without folders; empty when it is not known.
    pub(crate) name: &'a str,
    /// The program's arguments.
    pub(crate) arguments: &'a [Word],
    /// `NAME=value` in front of it or given to `env`.
    pub(crate) variables: Vec<(&'a str, &'a str)>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(command: &'a Command) -> Self {
        let variables = command
            .assignments
            .iter()
            .map(|assignment| (assignment.name.as_str(), assignment.value.text.as_str()))
            .collect();
        let mut call = Self { command, wrappers: Vec::new(), name: "", arguments: &[], variables };
        call.look_through(&command.words);
        call
    }

    fn look_through(&mut self, mut words: &'a [Word]) {
        while let Some((first, rest)) = words.split_first() {
            self.name = if first.known { normal_name(&first.text) } else { "" };
            self.arguments = rest;
            let Some((_, valued)) = WRAPPERS.iter().find(|(name, _)| *name == self.name) else {
                return;
            };
            let inner = self.skip_options(rest, valued);
            if inner.is_empty() {
                return;
            }
            self.wrappers.push(self.name);
            words = inner;
        }
    }

    fn skip_options(&mut self, mut words: &'a [Word], valued: &[&str]) -> &'a [Word] {
        let mut own_operands = usize::from(WITH_OPERAND.contains(&self.name));
        while let Some((word, rest)) = words.split_first() {
            let text = word.text.as_str();
            if valued.contains(&text) {
                words = rest.get(1..).unwrap_or_default();
            } else if text.starts_with('-') {
                words = rest;
            } else if let Some(variable) = variable(text) {
                self.variables.push(variable);
                words = rest;
            } else if own_operands > 0 {
                own_operands -= 1;
                words = rest;
            } else {
                break;
            }
        }
        words
    }

    /// Whether the program has one of these names.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name)
    }

    /// The texts of the arguments, known or not.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().map(|word| word.text.as_str())
    }

    /// The arguments that are no options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &'a str> {
        let mut options_end = false;
        self.texts().filter(move |text| {
            let option = !options_end && text.starts_with('-') && text.len() > 1;
            options_end |= *text == "--";
            !option
        })
    }

    /// Whether one of the options is given: a letter in any cluster, or a whole long name.
    pub(crate) fn has_option(&self, letters: &str, long: &[&str]) -> bool {
        self.texts().take_while(|text| *text != "--").any(|text| {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            long.contains(&name)
                || cluster.is_some_and(|cluster| cluster.contains(|c| letters.contains(c)))
        })
    }

    /// The values of options, attached or in the next word.
    pub(crate) fn values_of(&self, options: &[&str]) -> Vec<&'a str> {
        let mut values = Vec::new();
        let mut texts = self.texts();
        while let Some(text) = texts.next() {
            if options.contains(&text) {
                values.extend(texts.next());
                continue;
            }
            for option in options {
                let attached = text.strip_prefix(option);
                values.extend(match attached {
                    Some(rest) if option.starts_with("--") => rest.strip_prefix('='),
                    other => other,
                });
            }
        }
        values
    }

    /// The files it is redirected to.
    pub(crate) fn written(&self) -> impl Iterator<Item = &'a str> {
        self.redirected(Direction::Write)
    }

    /// The files it is redirected from.
    pub(crate) fn read(&self) -> impl Iterator<Item = &'a str> {
        self.redirected(Direction::Read)
    }

    fn redirected(&self, direction: Direction) -> impl Iterator<Item = &'a str> {
        self.command
            .redirects
            .iter()
            .filter(move |redirect| redirect.direction == direction)
            .map(|redirect| redirect.target.text.as_str())
    }

    /// The words whose text is decided only while the line runs.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().filter(|word| !word.known).map(|word| word.text.as_str())
    }
}

/// The parts of `NAME=value`.
pub(crate) fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(letters)).then_some((name, value))
}
