//! Taking secrets out of what is written down.
//!
//! Tokens are known by their shape, by where they stand (`password=…`, a field named
//! `apiKey`), letter by letter, or by a configured pattern. What was taken out is named:
//! `[redacted: github token]`. Text without secrets stays as it is, byte for byte.

mod assignment;
mod contents;
mod encoded;
mod env;
mod escape;
mod key;
mod pem;
mod shape;
mod span;
#[cfg(test)]
mod tests;
mod words;

pub use contents::hide_contents;
pub use env::env_values;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use self::shape::SHAPES;
use self::span::{Certainty, Span};
use self::words::any_of;

/// How much memory a configured pattern may take.
const PATTERN_SIZE: usize = 1 << 20;
/// More patterns would make everything slow.
const MOST_PATTERNS: usize = 200;

/// Takes secrets out of text and JSON.
///
/// ```
/// use toolgate_core::redact::Redactor;
///
/// let redactor = Redactor::new(&[])?.with_values(["hunter2-and-more".to_owned()]);
/// assert_eq!(
///     redactor.text("login --password s3cret-word, or hunter2-and-more"),
///     "login --password [redacted: password], or [redacted: known value]",
/// );
/// # Ok::<(), toolgate_core::redact::RedactorError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
    values: Option<AhoCorasick>,
}

/// Why a configured pattern cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RedactorError {
    #[error("cannot use `{pattern}` to find secrets")]
    Pattern { pattern: String, source: Box<regex::Error> },
    #[error("`{pattern}` matches nothing at all, so it would be found everywhere")]
    Empty { pattern: String },
    #[error("there are {count} patterns for secrets, and at most {MOST_PATTERNS} are used")]
    TooMany { count: usize },
}

impl Redactor {
    /// Knows every common shape, and besides these regular expressions.
    ///
    /// # Errors
    ///
    /// When an expression is wrong, too large, or found everywhere.
    pub fn new(patterns: &[String]) -> Result<Self, RedactorError> {
        if patterns.len() > MOST_PATTERNS {
            return Err(RedactorError::TooMany { count: patterns.len() });
        }
        let compile = |pattern: &String| {
            let built = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
            let regex = built.map_err(|source| RedactorError::Pattern {
                pattern: pattern.clone(),
                source: Box::new(source),
            })?;
            if regex.is_match("") {
                return Err(RedactorError::Empty { pattern: pattern.clone() });
            }
            Ok(regex)
        };
        let patterns = patterns.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { patterns, values: None })
    }

    /// Takes these values out too, wherever they are; those too short to be told from other text
    /// are left alone. They replace those given before.
    #[must_use]
    pub fn with_values(mut self, values: impl IntoIterator<Item = String>) -> Self {
        let long = values.into_iter().filter(|value| value.chars().count() >= env::SHORTEST);
        let long: Vec<String> = long.collect();
        // Values that are too many to search for are a gigabyte of secrets.
        let searched = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&long);
        self.values = searched.ok().filter(|_| !long.is_empty());
        self
    }

    /// The text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = self.spans(text);
        for view in escape::views(text) {
            let hidden = self.spans(&view.text).into_iter();
            spans.extend(hidden.map(|span| Span { range: view.origin(&span.range), ..span }));
        }
        for (range, said) in encoded::words(text) {
            let hidden = self.spans(&said).into_iter().max_by_key(|span| span.certainty);
            spans.extend(hidden.map(|span| Span { range, ..span }));
        }
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(span::replaced(text, spans))
    }

    /// Takes the secrets out of JSON: out of texts and names wherever they are, and whatever
    /// stands below a name that says it is secret.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(values) => self.array(values),
            Value::Object(fields) => self.object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn array(&self, values: &mut [Value]) {
        let mut flag = None;
        for value in values {
            if let Some(kind) = flag.take() {
                self.secret(value, kind);
                continue;
            }
            // `["--password", "…"]`: a command in pieces.
            flag = value.as_str().filter(|text| text.starts_with('-')).and_then(key::secret);
            self.value(value);
        }
    }

    fn object(&self, fields: &mut Map<String, Value>) {
        let named = ["name", "key"].iter().find_map(|name| fields.get(*name)?.as_str());
        let named = named.and_then(key::secret);
        for (name, value) in fields.iter_mut() {
            // `{"name": "DB_PASSWORD", "value": "…"}`: a variable in pieces.
            let kind = key::secret(name).or(named.filter(|_| name == "value"));
            match kind {
                Some(kind) => self.secret(value, kind),
                None => self.value(value),
            }
        }
        let clean = |name: &String| matches!(self.text(name), Cow::Borrowed(_));
        if fields.keys().all(clean) {
            return;
        }
        for (name, value) in std::mem::take(fields) {
            let clean = self.text(&name).into_owned();
            let mut unique = clean.clone();
            let mut count = 1;
            while fields.contains_key(&unique) {
                count += 1;
                unique = format!("{clean} {count}");
            }
            fields.insert(unique, value);
        }
    }

    /// Takes out a value that is secret because of its name.
    fn secret(&self, value: &mut Value, kind: &str) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => {
                // Its shape may tell more than its name.
                let known = self.text(text);
                let is_whole =
                    known.starts_with("[redacted: ") && known.find(']') == Some(known.len() - 1);
                *text = if is_whole { known.into_owned() } else { span::replacement(kind) };
            }
            Value::Array(values) if values.is_empty() => {}
            Value::Object(fields) if fields.is_empty() => {}
            _ => *value = Value::String(span::replacement(kind)),
        }
    }

    /// The secrets of a text as it stands.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        let marks = Marks::of(text);
        for (index, shape) in SHAPES.iter().enumerate() {
            if marks.has(index) {
                shape.find(text, &mut spans);
            }
        }
        if marks.has(PLACE) {
            assignment::find(text, &mut spans);
            pem::find(text, &mut spans);
        }
        for value in self.values.iter().flat_map(|values| values.find_iter(text)) {
            let (kind, certainty) = ("known value", Certainty::Value);
            spans.push(Span { range: value.range(), kind, certainty });
        }
        for found in self.patterns.iter().flat_map(|pattern| pattern.find_iter(text)) {
            let (kind, certainty) = ("configured pattern", Certainty::Configured);
            spans.push(Span { range: found.range(), kind, certainty });
        }
        spans.retain(|span| !span.range.is_empty());
        spans
    }
}

/// Which kinds of secrets a text may have, found in one pass.
#[derive(Debug, Clone, Copy)]
struct Marks(u64);

/// The mark of names that say something is secret.
const PLACE: usize = SHAPES.len();
const _: () = assert!(PLACE < 64, "a bit each");

/// The words to look for, and the mark each stands for.
static MARKS: LazyLock<(AhoCorasick, Vec<usize>)> = LazyLock::new(|| {
    let of_shapes = SHAPES.iter().enumerate();
    let of_shapes =
        of_shapes.flat_map(|(index, shape)| shape.marks.iter().map(move |mark| (*mark, index)));
    let of_places = assignment::MARKS.iter().map(|mark| (*mark, PLACE));
    let (words, indices): (Vec<&str>, Vec<usize>) = of_shapes.chain(of_places).unzip();
    (any_of(words), indices)
});

impl Marks {
    fn of(text: &str) -> Self {
        let (words, indices) = &*MARKS;
        let mut marks = 0;
        for found in words.find_overlapping_iter(text) {
            marks |= indices.get(found.pattern().as_usize()).map_or(0, |index| 1 << index);
        }
        Self(marks)
    }

    fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }
}
