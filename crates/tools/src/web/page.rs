//! From the bytes of a page to text for a model.

mod article;
mod charset;
mod clean;
mod code;
mod dom;
mod format;
mod kind;
mod links;
mod markdown;
mod patience;
mod select;
mod table;

pub(crate) use self::format::Format;
pub(crate) use self::kind::Kind;
pub(crate) use self::patience::{PageFault, Patience};
pub(crate) use self::select::Selector;

use dom_query::Document;

use self::dom::{Cut, Dom};
use super::fetched::Fetched;

/// A page turned into text.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// How many parts matched, when a selector was given.
    pub(crate) matches: Option<usize>,
    /// Why this is not all of the page.
    pub(crate) cut: Option<&'static str>,
}

/// The text of a page, decoded and otherwise as it is.
pub(crate) fn source(page: &Fetched) -> String {
    charset::decode(&page.body, &page.content_type)
}

/// A page as a tree, or its first part.
pub(crate) fn document(
    html: &str,
    nodes: usize,
    patience: &Patience<'_>,
) -> Result<Document, PageFault> {
    dom::parse(html, nodes, patience).map(|dom| dom.document)
}

/// Turns an HTML page into text.
pub(crate) fn render(
    page: &Fetched,
    format: Format,
    selector: Option<&Selector>,
    nodes: usize,
    patience: &Patience<'_>,
) -> Result<Rendered, PageFault> {
    let html = source(page);
    if format == Format::Html && selector.is_none() {
        return Ok(Rendered { text: html, ..Rendered::default() });
    }
    let Dom { document, cut } = dom::parse(&html, nodes, patience)?;
    drop(html);
    let title = article::title(&document);
    let base = links::base(&document, page.place.url());
    let mut rendered = if let Some(selector) = selector {
        let parts = select::matches(&document, selector, patience)?;
        let texts: Vec<String> = if format == Format::Html {
            parts.iter().map(|part| part.html().to_string()).collect()
        } else {
            clean::unreadable(&document);
            prepare(&document, &base, patience)?;
            let text = |part| patience.check().map(|()| markdown::of_node(part, format));
            parts.iter().map(text).collect::<Result<_, _>>()?
        };
        let matches = Some(texts.len());
        Rendered { text: texts.join("\n\n"), matches, ..Rendered::default() }
    } else {
        clean::unreadable(&document);
        prepare(&document, &base, patience)?;
        let text = article::main(&document, &base, format, patience)?;
        Rendered { title, text, ..Rendered::default() }
    };
    patience.check()?;
    rendered.cut = cut.map(Cut::words);
    Ok(rendered)
}

/// Readies what is left of a page for being written as Markdown.
fn prepare(document: &Document, base: &url::Url, patience: &Patience<'_>) -> Result<(), PageFault> {
    links::make_absolute(document, base);
    code::name_languages(document);
    patience.check()?;
    table::straighten(document, patience)
}
