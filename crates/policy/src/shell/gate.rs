//! The literal gate: a small reader that accepts only what it fully understands.
//!
//! It takes words of plain text and quotes, lists, pipelines, groups and
//! redirections to literal targets. Whatever else bash knows is refused with
//! a reason; nothing is guessed.

mod ansi;
mod cursor;
mod document;
mod redirect;
mod word;

use crate::shell::command::{Assignment, Command, Direction, Line, Piece, Redirect, Source, Word};
pub use cursor::Refusal;
use cursor::{Cursor, complex, ends_word};
use redirect::{Connection, HereDocument};
use word::{Form, Written};

/// How deeply groups may be nested.
pub const DEEPEST: usize = 32;

/// How many commands a line may have.
pub const MOST_COMMANDS: usize = 5_000;

/// How many redirections a command may have.
const MOST_REDIRECTS: usize = 64;

/// Words that bash does not take for a command's name.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Reads a line of plain words.
///
/// # Errors
///
/// Why the line is not plain, or which limit it exceeds.
pub fn parse(text: &str) -> Result<Line, Refusal> {
    let mut parser =
        Parser { cursor: Cursor::new(text), line: Line::default(), waiting: Vec::new(), depth: 0 };
    parser.list(Closer::End)?;
    if !parser.waiting.is_empty() {
        return complex("a here-document without its lines");
    }
    Ok(parser.line)
}

/// What a word comes to; nothing if it is not plain.
pub fn literal_word(raw: &str) -> Option<Word> {
    word::alone(raw)
}

/// What ends a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closer {
    End,
    Parenthesis,
    Brace,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    line: Line,
    /// Here-documents whose lines begin on the next line: command, redirection, document.
    waiting: Vec<(usize, usize, HereDocument)>,
    depth: usize,
}

impl Parser<'_> {
    fn list(&mut self, closer: Closer) -> Result<(), Refusal> {
        let mut separator = None;
        loop {
            self.skip_lines()?;
            if self.at_closer(closer) {
                break;
            }
            if separator == Some(";") {
                self.push(";");
            }
            self.and_or()?;
            separator = self.separator();
            if separator == Some("&") {
                self.push("&");
            }
            if separator.is_none() {
                break;
            }
        }
        if !self.at_closer(closer) {
            return complex("something that does not belong there");
        }
        // Only the end of the line may come before any command.
        let empty = matches!(self.line.pieces.last(), None | Some(Piece::Operator("(" | "{")));
        if empty && closer != Closer::End {
            return complex("a group without commands");
        }
        if closer == Closer::Brace && separator != Some("&") {
            self.push(";");
        }
        Ok(())
    }

    fn and_or(&mut self) -> Result<(), Refusal> {
        loop {
            self.pipeline()?;
            self.cursor.skip_blanks();
            if self.cursor.eat("&&") {
                self.push("&&");
            } else if self.cursor.eat("||") {
                self.push("||");
            } else {
                return Ok(());
            }
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), Refusal> {
        self.cursor.skip_blanks();
        if self.at_reserved("!") {
            self.cursor.next();
            self.push("!");
        }
        let mut first = self.line.commands.len();
        self.command()?;
        loop {
            self.cursor.skip_blanks();
            let rest = self.cursor.rest();
            if !rest.starts_with('|') || rest.starts_with("||") {
                return Ok(());
            }
            let operator = if self.cursor.eat("|&") { "|&" } else { "|" };
            if operator == "|" {
                self.cursor.next();
            }
            self.push(operator);
            self.skip_lines()?;
            let second = self.line.commands.len();
            for command in self.line.commands.iter_mut().skip(first) {
                command.feeds_pipe = true;
            }
            self.command()?;
            for command in self.line.commands.iter_mut().skip(second) {
                command.reads_pipe = true;
            }
            first = second;
        }
    }

    fn command(&mut self) -> Result<(), Refusal> {
        self.cursor.skip_blanks();
        if self.cursor.peek() == Some('(') {
            if self.cursor.peek_second() == Some('(') {
                return complex("arithmetic in `((…))`");
            }
            return self.group("(", Closer::Parenthesis, ")");
        }
        if self.at_reserved("{") {
            return self.group("{", Closer::Brace, "}");
        }
        self.simple()
    }

    fn group(
        &mut self,
        open: &'static str,
        closer: Closer,
        close: &'static str,
    ) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Refusal::Limit(format!("groups are nested more than {DEEPEST} deep")));
        }
        self.cursor.next();
        self.push(open);
        self.list(closer)?;
        self.cursor.next();
        self.push(close);
        self.depth -= 1;
        self.group_redirects()
    }

    fn group_redirects(&mut self) -> Result<(), Refusal> {
        let mut draft = Draft::default();
        loop {
            self.cursor.skip_blanks();
            if redirect::begins(&self.cursor) {
                self.redirect(&mut draft, "")?;
                continue;
            }
            match word::read(&mut self.cursor)? {
                None => break,
                Some(number) if self.is_number(&number) => {
                    self.redirect(&mut draft, &number.raw)?;
                }
                Some(_) => return complex("a word behind a group"),
            }
        }
        if draft.command.redirects.is_empty() {
            return Ok(());
        }
        let number = self.line.commands.len();
        self.line.pieces.push(Piece::Redirects(number));
        self.keep(draft)
    }

    fn simple(&mut self) -> Result<(), Refusal> {
        let mut draft = Draft::default();
        loop {
            self.cursor.skip_blanks();
            if redirect::begins(&self.cursor) {
                self.redirect(&mut draft, "")?;
                continue;
            }
            let Some(written) = word::read(&mut self.cursor)? else { break };
            self.forbid_line_break(&written.raw)?;
            if self.is_number(&written) {
                self.redirect(&mut draft, &written.raw)?;
                continue;
            }
            if written.raw.ends_with('}')
                && written.raw.starts_with('{')
                && redirect::begins(&self.cursor)
            {
                return complex("a descriptor kept in a variable");
            }
            draft.add(written)?;
        }
        if draft.is_empty() {
            return complex("a command is missing");
        }
        let number = self.line.commands.len();
        self.line.pieces.push(Piece::Command(number));
        self.keep(draft)
    }

    fn keep(&mut self, draft: Draft) -> Result<(), Refusal> {
        if self.line.commands.len() >= MOST_COMMANDS {
            return Err(Refusal::Limit(format!("there are more than {MOST_COMMANDS} commands")));
        }
        self.line.commands.push(draft.command);
        self.line.sources.push(draft.source);
        Ok(())
    }

    fn redirect(&mut self, draft: &mut Draft, number: &str) -> Result<(), Refusal> {
        let Connection { redirect, source, here } = redirect::read(&mut self.cursor, number)?;
        self.forbid_line_break(&source.target)?;
        if let Some(here) = here {
            let place = (self.line.commands.len(), draft.source.redirects.len(), here);
            self.waiting.push(place);
        }
        if draft.command.redirects.len() >= MOST_REDIRECTS {
            let why = format!("a command has more than {MOST_REDIRECTS} redirections");
            return Err(Refusal::Limit(why));
        }
        draft.command.redirects.push(redirect);
        draft.source.redirects.push(source);
        Ok(())
    }

    /// Two readers may look for the lines of a here-document behind different line breaks.
    fn forbid_line_break(&self, raw: &str) -> Result<(), Refusal> {
        if !self.waiting.is_empty() && raw.contains('\n') {
            return complex("a line break between a here-document and its lines");
        }
        Ok(())
    }

    /// Whether a word is the number of the descriptor that is redirected next.
    fn is_number(&self, written: &Written) -> bool {
        written.raw.chars().all(|digit| digit.is_ascii_digit())
            && matches!(self.cursor.peek(), Some('<' | '>'))
    }

    /// Whether a bracket or mark comes next that counts only as a word of its own.
    fn at_reserved(&self, mark: &str) -> bool {
        let behind = self.cursor.rest().strip_prefix(mark).map(|rest| rest.chars().next());
        behind.is_some_and(|next| next.is_none_or(ends_word))
    }

    fn at_closer(&self, closer: Closer) -> bool {
        match closer {
            Closer::End => self.cursor.rest().is_empty(),
            Closer::Parenthesis => self.cursor.peek() == Some(')'),
            Closer::Brace => self.at_reserved("}"),
        }
    }

    /// Takes what stands between two commands of a list. A line break counts as `;`.
    fn separator(&mut self) -> Option<&'static str> {
        self.cursor.skip_blanks();
        let rest = self.cursor.rest();
        match self.cursor.peek()? {
            '\n' => Some(";"),
            ';' if !rest.starts_with(";;") && !rest.starts_with(";&") => {
                self.cursor.next();
                Some(";")
            }
            '&' if !rest.starts_with("&&") => {
                self.cursor.next();
                Some("&")
            }
            _ => None,
        }
    }

    /// Skips blanks, comments and line breaks, and takes the lines of here-documents.
    fn skip_lines(&mut self) -> Result<(), Refusal> {
        loop {
            self.cursor.skip_blanks();
            if !self.cursor.eat("\n") {
                return Ok(());
            }
            for (command, redirect, here) in std::mem::take(&mut self.waiting) {
                let body = redirect::body(&mut self.cursor, &here)?;
                self.attach(command, redirect, body);
            }
        }
    }

    fn attach(&mut self, command: usize, redirect: usize, body: String) {
        let target = Redirect { direction: Direction::Here, target: Word::plain(body.clone()) };
        let kept = self.line.commands.get_mut(command);
        if let Some(place) = kept.and_then(|command| command.redirects.get_mut(redirect)) {
            *place = target;
        }
        let kept = self.line.sources.get_mut(command);
        if let Some(place) = kept.and_then(|source| source.redirects.get_mut(redirect)) {
            place.body = Some(body);
        }
    }

    fn push(&mut self, operator: &'static str) {
        self.line.pieces.push(Piece::Operator(operator));
    }
}

/// A command being put together.
#[derive(Default)]
struct Draft {
    command: Command,
    source: Source,
}

impl Draft {
    fn is_empty(&self) -> bool {
        let Command { assignments, words, redirects, .. } = &self.command;
        assignments.is_empty() && words.is_empty() && redirects.is_empty()
    }

    fn add(&mut self, written: Written) -> Result<(), Refusal> {
        if self.command.words.is_empty() {
            match written.form {
                Form::OtherAssignment => return complex("an assignment to part of a variable"),
                Form::Assignment(length) => return self.assign(written, length),
                Form::Plain if RESERVED.contains(&written.raw.as_str()) => {
                    return complex(format!("the shell's word `{}`", written.raw));
                }
                Form::Plain => {}
            }
        }
        self.command.words.push(written.word);
        self.source.words.push(written.raw);
        Ok(())
    }

    fn assign(&mut self, written: Written, length: usize) -> Result<(), Refusal> {
        let Some((name, value)) = written.word.text.split_at_checked(length) else {
            return complex("an unusual assignment");
        };
        let value = Word::plain(value.strip_prefix('=').unwrap_or(value));
        self.command.assignments.push(Assignment { name: name.to_owned(), value });
        self.source.assignments.push(written.raw);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
