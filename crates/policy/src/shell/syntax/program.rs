//! Calls the parser, and keeps it from running away.
//!
//! The parser tries alternatives one after the other and forgets what it
//! learnt, so that nesting costs exponential time, and it recurses. Both are
//! bounded here, by counts that hold whatever the text means.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::{ParserOptions, SourceSpan, Token, TokenizerOptions};

/// How many expansions a text may open: each may nest in the one before.
const MOST_EXPANSIONS: usize = 128;

/// How many words that begin a compound command a text may have.
const MOST_COMPOUNDS: usize = 48;

/// How many steps the parser may need.
const MOST_STEPS: usize = 4_000_000;

/// A text as the parser sees it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) program: Program,
    /// The words and operators, as written.
    pub(super) tokens: Vec<Token>,
}

impl Parsed {
    /// The text of a word, which the parser may have seen under another name.
    pub(super) fn original<'a>(&'a self, word: &'a str) -> &'a str {
        let number = word
            .strip_prefix(STAND_IN)
            .and_then(|rest| rest.split_once(']'))
            .and_then(|(number, _)| number.parse::<usize>().ok());
        number.and_then(|number| self.tokens.get(number)).map_or(word, Token::to_str)
    }
}

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    catch_unwind(AssertUnwindSafe(|| parse_bounded(text)))
        .unwrap_or_else(|_| Err("the parser gave up".to_owned()))
}

fn parse_bounded(text: &str) -> Result<Parsed, String> {
    let openings = ["$(", "${", "$[", "`"];
    if text.contains(['$', '`'])
        && openings.iter().map(|opening| text.matches(opening).count()).sum::<usize>()
            > MOST_EXPANSIONS
    {
        return Err(format!("there are more than {MOST_EXPANSIONS} expansions"));
    }
    let options =
        TokenizerOptions { enable_extended_globbing: true, posix_mode: false, sh_mode: false };
    let tokens = brush_parser::uncached_tokenize_str(text, &options)
        .map_err(|problem| problem.to_string())?;
    bound(&tokens)?;
    let seen: Cow<'_, [Token]> = if tokens.iter().any(needs_stand_in) {
        tokens.iter().enumerate().map(stand_in).collect()
    } else {
        Cow::Borrowed(&tokens)
    };
    let program = brush_parser::parse_tokens(&seen, &ParserOptions::default())
        .map_err(|problem| problem.to_string())?;
    drop(seen);
    Ok(Parsed { program, tokens })
}

/// Refuses what would take too long or nest too deeply.
fn bound(tokens: &[Token]) -> Result<(), String> {
    let mut compounds = 0;
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut in_case = false;
    for token in tokens {
        match token {
            Token::Operator(operator, _) if operator == "(" => depth += 1,
            // Behind a `case`, a `)` may belong to a pattern and close nothing.
            Token::Operator(operator, _) if operator == ")" && !in_case => {
                depth = depth.saturating_sub(1);
            }
            Token::Word(word, _) if word == "case" => {
                in_case = true;
                depth += 1;
                compounds += 1;
            }
            Token::Word(word, _) if begins_compound(word) => compounds += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let tries = u32::try_from(deepest).ok().and_then(|deepest| 4_usize.checked_pow(deepest));
    let steps = tries.and_then(|tries| tries.checked_mul(tokens.len()));
    if compounds > MOST_COMPOUNDS || steps.is_none_or(|steps| steps > MOST_STEPS) {
        return Err("it is nested too deeply".to_owned());
    }
    Ok(())
}

fn begins_compound(word: &str) -> bool {
    matches!(
        word,
        "{" | "if"
            | "elif"
            | "while"
            | "until"
            | "for"
            | "select"
            | "function"
            | "coproc"
            | "!"
            | "[["
    )
}

/// The beginning of the words that take the place of others.
const STAND_IN: &str = "toolgate[";

/// Words that begin like an array element are parsed as arithmetic, which has
/// no bound at all, so the parser gets to see another word of the same kind.
fn stand_in((number, token): (usize, &Token)) -> Token {
    let Token::Word(word, span) = token else { return token.clone() };
    if !begins_like_element(word) {
        return token.clone();
    }
    let behind = if word.ends_with("+=") {
        "]+="
    } else if word.ends_with('=') {
        "]="
    } else if word.contains("]=") || word.contains("]+=") {
        "]=x"
    } else {
        "]"
    };
    let span: SourceSpan = span.clone();
    Token::Word(format!("{STAND_IN}{number}{behind}"), span)
}

fn needs_stand_in(token: &Token) -> bool {
    matches!(token, Token::Word(word, _) if begins_like_element(word))
}

fn begins_like_element(word: &str) -> bool {
    word.trim_start_matches(|next: char| next.is_ascii_alphanumeric() || next == '_')
        .starts_with('[')
}
