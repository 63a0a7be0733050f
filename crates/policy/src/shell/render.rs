//! Writes a literal line down again, with every word quoted.

use std::borrow::Cow;

use crate::shell::command::{Command, Direction, Line, Piece, RedirectSource, Source, Word};

/// The replacement for a file name pattern in a rendered line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expansion {
    /// These file names, in order. An empty list keeps the pattern's text, as bash does when
    /// nothing matches.
    Names(Vec<String>),
    /// Bash expands the pattern when the command runs.
    Shell,
    /// As `Shell`, but no file name can be mistaken for an option: a pattern that begins with a
    /// wildcard is looked up as `./*`.
    ShellWithPrefix,
}

/// Renders a line for execution by bash: the same commands, with each word quoted.
///
/// `home` takes the place of `~`. `expand` decides what takes the place of a file name pattern;
/// it gets the command and the pattern as it was read, with its `~`.
///
/// ```
/// use toolgate_policy::shell::{Expansion, Reading, read, render};
///
/// let Reading::Literal(line) = read("ls -l *.rs && cat ~/a\\ b") else { panic!("plain words") };
/// let names = |_: &_, _: &_| Expansion::Names(vec!["-x.rs".into(), "y.rs".into()]);
/// let rendered = render(&line, "/home/me", names);
/// assert_eq!(rendered, "'ls' '-l' './-x.rs' 'y.rs' && 'cat' '/home/me/a b'");
/// ```
pub fn render(line: &Line, home: &str, expand: impl Fn(&Command, &Word) -> Expansion) -> String {
    const USUAL: usize = 128;
    let mut renderer = Renderer { home, expand, text: String::with_capacity(USUAL) };
    for piece in &line.pieces {
        match piece {
            Piece::Operator(operator) => renderer.part(operator),
            Piece::Command(number) | Piece::Redirects(number) => {
                let command = line.commands.get(*number).zip(line.sources.get(*number));
                if let Some((command, source)) = command {
                    renderer.command(command, source);
                }
            }
        }
    }
    renderer.text
}

/// A text in single quotes.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_quoted(&mut quoted, text);
    quoted
}

fn push_quoted(quoted: &mut String, text: &str) {
    quoted.push('\'');
    for (number, piece) in text.split('\'').enumerate() {
        if number > 0 {
            quoted.push_str("'\\''");
        }
        quoted.push_str(piece);
    }
    quoted.push('\'');
}

struct Renderer<'a, F> {
    home: &'a str,
    expand: F,
    /// What was written, a blank between two parts.
    text: String,
}

impl<F: Fn(&Command, &Word) -> Expansion> Renderer<'_, F> {
    fn begin_part(&mut self) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
    }

    fn part(&mut self, part: &str) {
        self.begin_part();
        self.text.push_str(part);
    }

    fn quoted_part(&mut self, part: &str) {
        self.begin_part();
        push_quoted(&mut self.text, part);
    }

    fn command(&mut self, command: &Command, source: &Source) {
        for assignment in &command.assignments {
            self.part(&format!("{}={}", assignment.name, quote(&assignment.value.text)));
        }
        command.words.iter().for_each(|word| self.word(command, word));
        for (redirect, source) in command.redirects.iter().zip(&source.redirects) {
            self.part(&match redirect.direction {
                Direction::Descriptor => format!("{}{}", source.operator, redirect.target.text),
                Direction::Here if source.body.is_some() => here_document(source),
                _ => format!("{} {}", source.operator, quote(&self.plain(&redirect.target))),
            });
        }
    }

    fn word(&mut self, command: &Command, word: &Word) {
        let expansion =
            if word.pattern { (self.expand)(command, word) } else { Expansion::Names(Vec::new()) };
        let prefix = match &expansion {
            Expansion::Names(_) | Expansion::Shell => "",
            Expansion::ShellWithPrefix => "./",
        };
        match expansion {
            Expansion::Names(names) if names.is_empty() => {
                let plain = self.plain(word);
                self.quoted_part(&plain);
            }
            Expansion::Names(names) => {
                for name in names {
                    // A file's name must not be taken for an option.
                    let name = if name.starts_with('-') { format!("./{name}") } else { name };
                    self.quoted_part(&name);
                }
            }
            Expansion::Shell | Expansion::ShellWithPrefix => {
                let pattern = pattern(&self.plain(word), prefix);
                self.part(&pattern);
            }
        }
    }

    /// A word that becomes just one, with the home folder in it.
    fn plain<'w>(&self, word: &'w Word) -> Cow<'w, str> {
        match word.text.strip_prefix('~') {
            Some(rest) if word.home => Cow::Owned(format!("{}{rest}", self.home)),
            _ => Cow::Borrowed(&word.text),
        }
    }
}

/// Writes a file name pattern so that bash expands it: wildcards stand bare, all else is quoted.
fn pattern(text: &str, prefix: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + prefix.len());
    if text.starts_with(['*', '?', '[']) {
        pattern.push_str(prefix);
    }
    for character in text.chars() {
        match character {
            '*' | '?' | '[' | ']' | '!' | '^' | '-' | '_' | '.' | '/' | ':' => {
                pattern.push(character);
            }
            _ if character.is_ascii_alphanumeric() => pattern.push(character),
            _ => push_quoted(&mut pattern, character.encode_utf8(&mut [0; 4])),
        }
    }
    pattern
}

/// The same input in one line: a here-string ends in a line break, as the lines do.
fn here_document(source: &RedirectSource) -> String {
    let number = source.operator.trim_end_matches(['<', '-']);
    match source.body.as_deref().and_then(|body| body.strip_suffix('\n')) {
        Some(body) => format!("{number}<<< {}", quote(body)),
        None => format!("{number}< /dev/null"),
    }
}

#[cfg(test)]
mod tests;
