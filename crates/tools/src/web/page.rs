//! From the bytes of a page to text for a model.

mod article;
mod charset;
mod clean;
mod code;
mod dom;
mod kind;
mod links;
mod markdown;
mod patience;
mod select;
mod table;

pub(crate) use self::kind::Kind;
pub(crate) use self::patience::{PageFault, Patience};
pub(crate) use self::select::Selector;

use dom_query::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::dom::{Cut, Dom};
use super::cache::Fetched;

/// What a page is turned into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Markdown of the main content.
    #[default]
    Markdown,
    /// Text of the main content, without any marks.
    Text,
    /// The source as it is.
    Html,
}

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
    let mut rendered = match selector {
        Some(selector) => {
            let parts = select::matches(&document, selector, patience)?;
            let texts: Vec<String> = match format {
                Format::Html => parts.iter().map(|part| part.html().to_string()).collect(),
                _ => {
                    clean::unreadable(&document);
                    prepare(&document, &base, patience)?;
                    let text = |part| patience.check().map(|()| markdown::of_node(part, format));
                    parts.iter().map(text).collect::<Result<_, _>>()?
                }
            };
            let matches = Some(texts.len());
            Rendered { text: texts.join("\n\n"), matches, ..Rendered::default() }
        }
        None => {
            clean::unreadable(&document);
            prepare(&document, &base, patience)?;
            let text = article::main(&document, &base, format, patience)?;
            Rendered { text, title, ..Rendered::default() }
        }
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
