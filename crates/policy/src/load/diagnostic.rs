//! Mistakes in policy files, shown where they are.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Something wrong in a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How wrong.
    pub severity: Severity,
    /// What is wrong, on one line.
    pub message: String,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// A few words beside the place.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
    /// The file.
    pub source: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// How wrong something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is used.
    Warning,
    /// The file is not used.
    Error,
}

/// Shows mistakes with the lines they are in.
pub fn render(diagnostics: &[Diagnostic], text: &str, style: &Renderer) -> String {
    let shown = diagnostics.iter().map(|found| {
        let level = match found.severity {
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let annotation =
            AnnotationKind::Primary.span(found.span.clone()).label(found.label.as_str());
        let snippet = Snippet::source(text).path(found.source.as_str()).annotation(annotation);
        let mut group: Group<'_> = level.primary_title(found.message.as_str()).element(snippet);
        if let Some(help) = &found.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        style.render(&[group])
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The line and column of a byte, counted from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).map_or(0, |line| line.chars().count());
    (memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1, column + 1)
}
