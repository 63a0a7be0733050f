//! Pieces of a text that are secret.

use std::ops::Range;

/// How sure it is what a secret is; the surer name is the one that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// It stands where secrets stand.
    Place,
    /// It has a shape that somebody configured.
    Configured,
    /// It is a secret that is known letter by letter.
    Value,
    /// It has the shape of such a secret.
    Shape,
}

/// A piece of a text that is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) kind: &'static str,
    pub(super) certainty: Certainty,
}

impl Span {
    /// A piece that has the shape of a secret.
    pub(super) fn shape(range: Range<usize>, kind: &'static str) -> Self {
        Self { range, kind, certainty: Certainty::Shape }
    }

    /// A piece that stands where secrets stand.
    pub(super) fn place(range: Range<usize>, kind: &'static str) -> Self {
        Self { range, kind, certainty: Certainty::Place }
    }
}

/// The words that stand for a secret.
pub(super) fn replacement(kind: &str) -> String {
    format!("[redacted: {kind}]")
}

/// The text with words in place of its secrets.
pub(super) fn replaced(text: &str, spans: Vec<Span>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in joined(spans) {
        out.push_str(text.get(from..span.range.start).unwrap_or_default());
        out.push_str(&replacement(span.kind));
        from = span.range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Spans in order, those that overlap as one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if span.certainty > last.certainty {
                    last.kind = span.kind;
                    last.certainty = span.certainty;
                }
            }
            _ => joined.push(span),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_become_one_with_the_surer_name() {
        let spans = vec![Span::shape(4..8, "b"), Span::place(2..6, "a"), Span::place(8..9, "c")];
        assert_eq!(replaced("0123456789", spans), "01[redacted: b][redacted: c]9");
    }
}
