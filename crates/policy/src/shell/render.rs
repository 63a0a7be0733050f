//! Writes a literal line down again, with every word quoted.

use crate::shell::command::{Command, Direction, Line, Piece, RedirectSource, Source, Word};

/// The line as it is to be run: the same commands, each word quoted.
///
/// `home` takes the place of `~`. `expand` says which file names a pattern
/// stands for, in order; it gets the word as it was read, with its `~`. No name
/// leaves the pattern as it is, which is what bash does.
///
/// ```
/// use toolgate_policy::shell::{Reading, read, render};
///
/// let Reading::Literal(line) = read("ls -l *.rs && cat ~/a\\ b") else { panic!("plain words") };
/// let rendered = render(&line, "/home/me", |_| vec!["-x.rs".into(), "y.rs".into()]);
/// assert_eq!(rendered, "'ls' '-l' './-x.rs' 'y.rs' && 'cat' '/home/me/a b'");
/// ```
pub fn render(line: &Line, home: &str, expand: impl Fn(&Word) -> Vec<String>) -> String {
    let renderer = Renderer { home, expand };
    let mut parts = Vec::new();
    for piece in &line.pieces {
        match piece {
            Piece::Operator(operator) => parts.push((*operator).to_owned()),
            Piece::Command(number) | Piece::Redirects(number) => {
                let command = line.commands.get(*number).zip(line.sources.get(*number));
                parts.extend(
                    command.iter().flat_map(|(command, source)| renderer.command(command, source)),
                );
            }
        }
    }
    parts.join(" ")
}

/// A text in single quotes.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

struct Renderer<'a, F> {
    home: &'a str,
    expand: F,
}

impl<F: Fn(&Word) -> Vec<String>> Renderer<'_, F> {
    fn command(&self, command: &Command, source: &Source) -> Vec<String> {
        let mut parts = Vec::new();
        for assignment in &command.assignments {
            parts.push(format!("{}={}", assignment.name, quote(&assignment.value.text)));
        }
        parts.extend(command.words.iter().flat_map(|word| self.word(word)));
        for (redirect, source) in command.redirects.iter().zip(&source.redirects) {
            parts.push(match redirect.direction {
                Direction::Descriptor => format!("{}{}", source.operator, redirect.target.text),
                Direction::Here if source.body.is_some() => here_document(source),
                _ => format!("{} {}", source.operator, quote(&self.plain(&redirect.target))),
            });
        }
        parts
    }

    fn word(&self, word: &Word) -> Vec<String> {
        let names = if word.pattern { (self.expand)(word) } else { Vec::new() };
        if names.is_empty() {
            return vec![quote(&self.plain(word))];
        }
        let safe = |name: &String| {
            // A file's name must not be taken for an option.
            if name.starts_with('-') { quote(&format!("./{name}")) } else { quote(name) }
        };
        names.iter().map(safe).collect()
    }

    /// A word that becomes just one, with the home folder in it.
    fn plain(&self, word: &Word) -> String {
        match word.text.strip_prefix('~') {
            Some(rest) if word.home => format!("{}{rest}", self.home),
            _ => word.text.clone(),
        }
    }
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
