//! Regular expressions, checked when loaded and compiled when first needed.

use std::fmt;
use std::sync::OnceLock;

use regex::Regex;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

use crate::decision::Decision;

/// Larger ones are refused: they would be slow to compile.
const MOST_STATES: u64 = 20_000;
/// Memory a compiled expression may take.
const MOST_BYTES: usize = 8 << 20;

/// A regular expression that takes linear time.
#[derive(Debug, Clone)]
pub struct Regular {
    source: String,
    needle: String,
    compiled: OnceLock<Option<Regex>>,
}

/// What is wrong with a regular expression, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RegularError {
    /// What is wrong.
    pub message: String,
    /// Where in the expression, in bytes.
    pub at: Option<std::ops::Range<usize>>,
}

impl Regular {
    /// Checks an expression.
    pub fn new(source: impl Into<String>) -> Result<Self, RegularError> {
        let source = source.into();
        let parsed = regex_syntax::parse(&source).map_err(|error| explained(&error))?;
        if states(&parsed) > MOST_STATES {
            let message = "the expression is too large: repeat less".to_owned();
            return Err(RegularError { message, at: None });
        }
        let needle = needle(&parsed);
        Ok(Self { source, needle, compiled: OnceLock::new() })
    }

    /// A text that every match contains; empty when there is none.
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is found in the text. One that cannot be compiled restricts and never allows.
    pub fn matches(&self, text: &str, decision: Decision) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            regex::RegexBuilder::new(&self.source).size_limit(MOST_BYTES).build().ok()
        });
        match compiled {
            Some(regex) => regex.is_match(text),
            None => decision != Decision::Allow,
        }
    }
}

impl PartialEq for Regular {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Display for Regular {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

fn explained(error: &regex_syntax::Error) -> RegularError {
    let (message, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
        other => (other.to_string(), None),
    };
    RegularError { message, at: span.map(|span| span.start.offset..span.end.offset) }
}

/// How many states a compiled expression would have, roughly and from above.
fn states(expression: &Hir) -> u64 {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 8,
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            states(&repetition.sub).saturating_mul(times)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(states).fold(0, u64::saturating_add)
        }
    }
}

/// The longest text that every match begins with or contains in a plain sequence.
fn needle(expression: &Hir) -> String {
    let parts: &[Hir] = match expression.kind() {
        HirKind::Concat(parts) => parts,
        _ => std::slice::from_ref(expression),
    };
    let literals = parts.iter().filter_map(|part| {
        let found = Extractor::new().extract(part);
        let [only] = found.literals()? else { return None };
        String::from_utf8(only.as_bytes().to_vec()).ok()
    });
    literals.max_by_key(String::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_in_every_match() {
        let needle = |source: &str| Regular::new(source).unwrap().needle().to_owned();
        assert_eq!(needle(r#""path":"[^"]*\.sql""#), r#""path":""#);
        assert_eq!(needle("a|b"), "");
        assert_eq!(needle("(?i)secret"), "");
        assert_eq!(needle("x*"), "");
    }

    #[test]
    fn faults_say_where() {
        let fault = Regular::new("a(b").unwrap_err();
        assert!(fault.message.contains("unclosed group"), "{fault}");
        assert_eq!(fault.at, Some(1..2));
        assert!(Regular::new("(((a{100}){100}){100})").is_err());
    }
}
