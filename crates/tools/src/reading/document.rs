//! PDF documents, page by page.

use serde_json::json;
use toolgate_core::bounds::Collector;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::workspace::ResolvedPath;

use super::written::{Written, too_large};
use crate::content::Begun;
use crate::formats::Pages;
use crate::formats::pdf::{self, Document, Lack, MOST_BYTES, PageText, Unread};

/// Reads a document, or says why not.
pub(super) fn read(
    context: &CallContext,
    path: &ResolvedPath,
    begun: Begun,
    pages: Option<&Pages>,
) -> Result<Document, ToolError> {
    let shown = context.workspace().shown(path.real());
    if begun.size > MOST_BYTES {
        return Err(too_large(&shown, "a PDF document", begun.size, MOST_BYTES));
    }
    let file = begun.into_file(context, path)?;
    pdf::read(context, file, pages).map_err(|unread| {
        let failed = |message: String| ToolError::new(ErrorKind::FileReadError, message);
        match unread {
            Unread::Locked => failed(format!(
                "`{shown}` is a PDF document that opens with a password only; ask for a copy without one"
            )),
            Unread::NoSuchPage { page, count } => failed(format!(
                "`{shown}` has {}, so there is no page {page}; use a smaller number in `{}`",
                pages_in_words(count),
                context.parameter("pages")
            )),
            Unread::Broken(why) => {
                failed(format!("`{shown}` is a PDF document that cannot be read: {why}"))
            }
            Unread::TooSlow => failed(format!(
                "reading the PDF document `{shown}` took too long and was stopped; try fewer `{}`",
                context.parameter("pages")
            )),
            Unread::TooMuch => failed(format!(
                "reading the PDF document `{shown}` needed too much memory and was stopped; it is broken or made to do harm"
            )),
            Unread::Other(error) => error,
        }
    })
}

/// Writes the pages of a document.
pub(super) fn write(document: &Document, shown: &str, collector: &mut Collector) -> Written {
    let Document { count, pages, next } = document;
    for (index, page) in pages.iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        collector.push(&format!("{gap}=== page {} of {count} ===\n", page.number));
        match lack(page) {
            None => {
                collector.push(&page.text);
                collector.push("\n");
            }
            Some(words) => collector.push(&format!("[{words}]\n")),
        }
    }
    if let Some(next) = next {
        collector.push(&format!(
            "\n[The rest was left out, from page {next} on; read it with pages \"{next}-{count}\"]\n"
        ));
    }
    let read: Vec<u32> = pages.iter().map(|page| page.number).collect();
    let facts = json!({ "path": shown, "kind": "pdf", "pages": count, "read": read, "next": next });
    let display = match pages.len() {
        all if all == *count as usize => format!("Read {} of {shown}", pages_in_words(*count)),
        some => format!("Read {some} of {} of {shown}", pages_in_words(*count)),
    };
    Written { display, facts, images: Vec::new() }
}

/// Why a page has no text, in words.
fn lack(page: &PageText) -> Option<String> {
    if !page.text.is_empty() {
        return None;
    }
    Some(match &page.lack {
        None => "no text on this page".to_owned(),
        Some(Lack::Pictures) => "no text on this page, only images: it may be a scan".to_owned(),
        Some(Lack::Broken(why)) => format!("this page cannot be read: {why}"),
    })
}

fn pages_in_words(count: u32) -> String {
    if count == 1 { "1 page".to_owned() } else { format!("{count} pages") }
}
