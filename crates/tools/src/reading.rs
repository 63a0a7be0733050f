//! A file read for a model, whatever it is: text, an image, a PDF document or a notebook.

mod document;
mod picture;
mod written;

use serde_json::json;
use toolgate_core::bounds::Collector;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::workspace::ResolvedPath;

use crate::content::{self, Begun};
use crate::formats::pdf::Document;
use crate::formats::{Kind, Pages, Shown};
use crate::notebook::{self, Notebook};
use crate::text::{self, Decoded, LineRange};

pub(crate) use written::Written;

/// The largest notebook that is shown as cells.
const LARGEST_NOTEBOOK: u64 = 64 * 1024 * 1024;

/// Which part of a file is wanted; all of it when nothing is set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// Lines of a text.
    pub(crate) lines: Option<LineRange>,
    /// Pages of a document.
    pub(crate) pages: Option<Pages>,
}

/// What a file was found to hold.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Text.
    Text(Decoded),
    /// A notebook, which is text too.
    Notebook(Decoded),
    /// An image, and the size of its file.
    Image(Shown, u64),
    /// A PDF document or some of its pages.
    Pdf(Document),
}

/// Reads a file.
pub(crate) fn read(
    context: &CallContext,
    path: &ResolvedPath,
    part: &Part,
) -> Result<Reading, ToolError> {
    let begun = content::begin(context, path)?;
    let shown = context.workspace().shown(path.real());
    if part.pages.is_some() && matches!(begun.kind, Kind::Text | Kind::Image(_)) {
        let (pages, first) = (context.parameter("pages"), context.parameter("startLine"));
        return Err(ToolError::invalid(format!(
            "`{shown}` is no PDF document, so it has no pages; leave out `{pages}`, or use `{first}` for a text"
        )));
    }
    match (begun.kind, part.lines) {
        (Kind::Text, Some(range)) => begun.lines(context, path, range).map(Reading::Text),
        (Kind::Text, None) if is_notebook(path) => whole_notebook(context, path, begun),
        (Kind::Text, None) => begun.text(context, path).map(Reading::Text),
        (Kind::Image(_), Some(_)) => Err(no_lines(context, &shown, "an image")),
        (Kind::Image(format), None) => {
            let size = begun.size;
            let image = picture::read(context, path, begun, format)?;
            Ok(Reading::Image(image, size))
        }
        (Kind::Pdf, Some(_)) => Err(no_lines(context, &shown, "a PDF document")),
        (Kind::Pdf, None) => {
            document::read(context, path, begun, part.pages.as_ref()).map(Reading::Pdf)
        }
        (Kind::Binary, _) => Err(begun.refused(context, path)),
    }
}

/// Notebooks are told by their name: what they hold is JSON like any other.
pub(crate) fn is_notebook(path: &ResolvedPath) -> bool {
    path.real().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

/// Reads a notebook; one that is none is text.
fn whole_notebook(
    context: &CallContext,
    path: &ResolvedPath,
    begun: Begun,
) -> Result<Reading, ToolError> {
    let size = begun.size;
    if size > LARGEST_NOTEBOOK {
        return begun.text(context, path).map(Reading::Text);
    }
    let decoded = text::decode(begun.bytes(context, path, LARGEST_NOTEBOOK)?);
    if Notebook::parse(&decoded.text).is_ok() {
        return Ok(Reading::Notebook(decoded));
    }
    content::refuse_too_large(context, path, size)?;
    Ok(Reading::Text(decoded))
}

fn no_lines(context: &CallContext, shown: &str, what: &str) -> ToolError {
    let (first, last) = (context.parameter("startLine"), context.parameter("endLine"));
    let pages = match what {
        "an image" => String::new(),
        _ => format!(", and choose pages with `{}`", context.parameter("pages")),
    };
    ToolError::new(
        ErrorKind::FileReadError,
        format!("`{shown}` is {what} and has no lines; leave out `{first}` and `{last}`{pages}"),
    )
}

impl Reading {
    /// Whether what is written ends with a line end.
    pub(crate) fn ends_line(&self) -> bool {
        match self {
            Self::Text(decoded) => decoded.text.ends_with('\n'),
            Self::Image(..) => false,
            Self::Notebook(_) | Self::Pdf(_) => true,
        }
    }

    /// Writes what a model reads, and gives back the images it is shown besides.
    pub(crate) fn write(self, shown: &str, collector: &mut Collector) -> Written {
        match self {
            Self::Text(Decoded { text, encoding }) => {
                collector.push(&text);
                let lines = text.lines().count();
                let label = encoding.label();
                let display = match label {
                    Some(label) => format!("Read {lines} lines of {shown} ({label})"),
                    None => format!("Read {lines} lines of {shown}"),
                };
                let encoding = label.unwrap_or("UTF-8");
                let facts =
                    json!({ "path": shown, "kind": "text", "lines": lines, "encoding": encoding });
                Written { display, facts, images: Vec::new() }
            }
            Self::Notebook(Decoded { text, .. }) => {
                let Ok(notebook) = Notebook::parse(&text) else {
                    return Written::default();
                };
                let images = notebook::show(&notebook, collector);
                let (cells, count) = (notebook.len(), images.len());
                let facts =
                    json!({ "path": shown, "kind": "notebook", "cells": cells, "images": count });
                Written { display: format!("Read {cells} cells of {shown}"), facts, images }
            }
            Self::Image(image, size) => picture::write(image, size, shown, collector),
            Self::Pdf(document) => document::write(&document, shown, collector),
        }
    }
}
