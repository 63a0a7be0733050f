//! Links that lead somewhere from wherever they are read.

use dom_query::{Document, NodeRef};
use url::Url;

/// Longer addresses are content in disguise.
const LONGEST: usize = 2_000;

/// What the links of a page are relative to.
pub(super) fn base(document: &Document, page: &Url) -> Url {
    let given = document.base_uri().and_then(|base| page.join(base.trim()).ok());
    given.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| page.clone())
}

/// Completes every link, and takes away those that lead nowhere.
pub(super) fn make_absolute(document: &Document, base: &Url) {
    for node in document.root().descendants() {
        if node.has_name("a") {
            link(&node, base);
        } else if node.has_name("img") {
            picture(&node, base);
        }
    }
}

fn link(node: &NodeRef<'_>, base: &Url) {
    let Some(target) = node.attr("href") else { return };
    let text = node.text();
    let text = text.trim();
    if target.starts_with('#') && is_sign(text) {
        node.remove_from_parent();
        return;
    }
    // A heading that leads to itself is a heading, and what leads to the top of the page is text.
    if &*target == "#" || target.starts_with('#') && is_in_heading(node) {
        node.remove_attr("href");
        return;
    }
    match complete(&target, base) {
        Some(url) => node.set_attr("href", &url),
        None => node.remove_attr("href"),
    }
    node.remove_attr("title");
}

fn is_in_heading(node: &NodeRef<'_>) -> bool {
    let headings = ["h1", "h2", "h3", "h4", "h5", "h6"];
    node.parent().is_some_and(|above| headings.iter().any(|heading| above.has_name(heading)))
}

/// Whether a link within the page is a sign and no text: beside a heading, or for a footnote.
fn is_sign(text: &str) -> bool {
    let note = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_note = note.is_some_and(|note| note.len() < 10 && !note.contains(' '));
    text.is_empty() || is_note || matches!(text, "#" | "¶" | "§" | "🔗" | "⚓" | "ⓘ")
}

fn picture(node: &NodeRef<'_>, base: &Url) {
    let alt = node.attr_or("alt", "");
    let source = node.attr("src").or_else(|| node.attr("data-src"));
    match source.and_then(|source| complete(&source, base)) {
        // What nobody described is an ornament, or something that counts readers.
        Some(url) if !alt.trim().is_empty() => {
            node.remove_attrs(&["srcset", "data-src", "title"]);
            node.set_attr("src", &url);
        }
        _ => node.remove_from_parent(),
    }
}

fn complete(target: &str, base: &Url) -> Option<String> {
    let target = target.trim();
    if target.len() > LONGEST {
        return None;
    }
    let url = base.join(target).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto" | "ftp").then(|| url.to_string())
}
