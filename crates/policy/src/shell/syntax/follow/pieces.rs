//! The pieces of a word, and the variables that stand in them.

use brush_parser::ParserOptions;
use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter, WordPiece};
use hashbrown::HashMap;

use crate::shell::command::Word;

/// Variables of the environment that hold no secret and are only shown.
const SHOWN: [&str; 14] = [
    "COLUMNS", "HOME", "HOSTNAME", "LANG", "LINENO", "LINES", "LOGNAME", "PATH", "PPID", "RANDOM",
    "SECONDS", "SHELL", "TERM", "USER",
];

/// A piece of a word.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) what: Substituted,
    pub(super) is_quoted: bool,
}

/// What takes the place of a piece.
#[derive(Debug)]
pub(super) enum Substituted {
    /// Itself.
    Text(String),
    /// The value of a variable of the line.
    Variable(String),
    /// A text that is not followed any further: a number, a part of a value.
    Shown,
    /// The output of commands.
    Command(String),
}

impl Piece {
    /// Returns `true` if something else takes its place.
    pub(super) fn is_expansion(&self) -> bool {
        !matches!(self.what, Substituted::Text(_))
    }
}

/// The pieces of a written word. Returns nothing if one of them is not understood.
pub(super) fn read(raw: &str) -> Option<Vec<Piece>> {
    let parsed = brush_parser::word::parse(raw, &ParserOptions::default()).ok()?;
    let mut pieces = Vec::new();
    for piece in parsed {
        add(&piece.piece, false, &mut pieces)?;
    }
    Some(pieces)
}

/// The pieces of a here-document. Returns nothing if one of them is not understood.
pub(super) fn read_document(body: &str) -> Option<Vec<Piece>> {
    let parsed = brush_parser::word::parse_heredoc(body, &ParserOptions::default()).ok()?;
    let mut pieces = Vec::new();
    for piece in parsed {
        add(&piece.piece, true, &mut pieces)?;
    }
    Some(pieces)
}

fn add(piece: &WordPiece, is_quoted: bool, pieces: &mut Vec<Piece>) -> Option<()> {
    let what = match piece {
        WordPiece::DoubleQuotedSequence(inner) => {
            for piece in inner {
                add(&piece.piece, true, pieces)?;
            }
            return Some(());
        }
        WordPiece::Text(text) => {
            // Unquoted, it may be a pattern or become several words.
            let is_plain = is_quoted || !text.contains(['*', '?', '[', ']', '{', '}', '~']);
            is_plain.then(|| Substituted::Text(text.clone()))?
        }
        WordPiece::SingleQuotedText(text) => Substituted::Text(text.clone()),
        WordPiece::EscapeSequence(text) => {
            Substituted::Text(text.strip_prefix('\\').unwrap_or(text).to_owned())
        }
        WordPiece::ParameterExpansion(expression) => parameter(expression)?,
        WordPiece::CommandSubstitution(commands) => Substituted::Command(commands.clone()),
        WordPiece::ArithmeticExpression(expression) => {
            // A name could hold a text that is evaluated in turn.
            let is_number = |letter: char| letter.is_ascii_digit() || " +-*/%()".contains(letter);
            expression.value.chars().all(is_number).then_some(Substituted::Shown)?
        }
        WordPiece::AnsiCQuotedText(_)
        | WordPiece::GettextDoubleQuotedSequence(_)
        | WordPiece::TildeExpansion(_)
        | WordPiece::BackquotedCommandSubstitution(_) => return None,
    };
    pieces.push(Piece { what, is_quoted });
    Some(())
}

fn parameter(expression: &ParameterExpr) -> Option<Substituted> {
    use ParameterExpr as Expr;
    match expression {
        Expr::Parameter { parameter: Parameter::Named(name), indirect: false } => {
            Some(match name.as_str() {
                "PWD" => Substituted::Command("pwd".to_owned()),
                name if SHOWN.contains(&name) => Substituted::Shown,
                name => Substituted::Variable(name.to_owned()),
            })
        }
        Expr::Parameter { parameter: Parameter::Special(special), indirect: false } => {
            use SpecialParameter as Special;
            let is_number = matches!(
                special,
                Special::LastExitStatus | Special::ProcessId | Special::PositionalParameterCount
            );
            is_number.then_some(Substituted::Shown)
        }
        Expr::ParameterLength { parameter: Parameter::Named(_), indirect: false } => {
            Some(Substituted::Shown)
        }
        Expr::RemoveSmallestSuffixPattern {
            parameter,
            indirect: false,
            pattern: Some(pattern),
        }
        | Expr::RemoveLargestSuffixPattern { parameter, indirect: false, pattern: Some(pattern) }
        | Expr::RemoveSmallestPrefixPattern {
            parameter,
            indirect: false,
            pattern: Some(pattern),
        }
        | Expr::RemoveLargestPrefixPattern { parameter, indirect: false, pattern: Some(pattern) } =>
        {
            let is_followed = matches!(parameter, Parameter::Named(name) if is_own(name));
            let is_plain = !pattern.contains(['$', '`', '(']);
            (is_followed && is_plain).then_some(Substituted::Shown)
        }
        _ => None,
    }
}

/// The values of the variables that a line sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings {
    values: HashMap<String, Word>,
}

impl Bindings {
    /// The value of a variable. Returns nothing if the line did not set it.
    pub(super) fn get(&self, name: &str) -> Option<Word> {
        self.values.get(name).cloned()
    }

    /// Sets a variable. Returns nothing if it has a value already: then it depends on how the line
    /// runs which one counts.
    pub(super) fn set(&mut self, name: &str, value: Word) -> Option<()> {
        (is_own(name) && self.values.insert(name.to_owned(), value).is_none()).then_some(())
    }
}

/// Returns `true` if a variable belongs to the line: neither the shell nor a program uses it.
fn is_own(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let has_small = name.chars().any(|letter| letter.is_ascii_lowercase());
    has_small
        && name.chars().all(is_plain)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.ends_with("_proxy")
        && !name.starts_with("npm_")
}
