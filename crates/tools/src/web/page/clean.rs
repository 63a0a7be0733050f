//! Taking away what nobody reads.

use dom_query::{Document, NodeRef};

/// What never holds text for people.
const UNREADABLE: &[&str] = &[
    "head", "script", "style", "noscript", "template", "iframe", "object", "embed", "svg",
    "canvas", "link", "meta", "input", "button", "select", "textarea", "datalist", "dialog",
    "audio", "video",
];
/// What surrounds the content of a page.
const AROUND: &[&str] = &["nav", "footer", "aside", "menu"];
/// The same, by what it is for.
const ROLES: &[&str] = &[
    "navigation",
    "banner",
    "contentinfo",
    "search",
    "complementary",
    "menu",
    "toolbar",
    "dialog",
];
/// Classes of what is shown beside code, and not part of it.
const GUTTERS: &[&str] =
    &["linenos", "lineno", "line-numbers", "line-numbers-rows", "gutter", "linenumber"];

/// Takes away what no reader sees: scripts, styles, controls, whatever is hidden.
pub(super) fn unreadable(document: &Document) {
    remove(document, |node| {
        let Some(element) = node.element_ref() else { return node.is_comment() };
        let is = |attribute: &str, value: &str| {
            element.attr(attribute).is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        let style = element.attr("style").unwrap_or_default().to_ascii_lowercase();
        let style: String = style.split_whitespace().collect();
        UNREADABLE.contains(&&*element.name.local)
            || element.has_attr("hidden")
            || is("aria-hidden", "true")
            || style.contains("display:none")
            || style.contains("visibility:hidden")
            || GUTTERS.iter().any(|class| element.has_class(class))
    });
}

/// Takes away what surrounds the content: menus, footers, asides.
pub(super) fn surroundings(document: &Document) {
    remove(document, |node| {
        let Some(element) = node.element_ref() else { return false };
        let role = element.attr("role").unwrap_or_default().to_ascii_lowercase();
        // The head of a page is around its content, the head of an article is part of it.
        let heads_page = &*element.name.local == "header"
            && node.parent().is_some_and(|parent| parent.has_name("body"));
        // Who said it stands in the foot of a quotation.
        let is_source = || node.ancestors_it(None).any(|around| around.has_name("blockquote"));
        (AROUND.contains(&&*element.name.local) && !is_source())
            || ROLES.contains(&role.as_str())
            || heads_page
    });
}

/// Removes elements with all that is in them, looking into nothing that is removed.
fn remove(document: &Document, unwanted: impl Fn(&NodeRef<'_>) -> bool) {
    let mut open = document.root().children();
    while let Some(node) = open.pop() {
        if unwanted(&node) {
            node.remove_from_parent();
        } else {
            open.extend(node.children_it(false));
        }
    }
}

/// Gives elements that stand on lines of their own a name that says so.
pub(super) fn rename_blocks(document: &Document) {
    for node in document.root().descendants() {
        let Some(name) = node.node_name() else { continue };
        let renamed = match &*name {
            "p" if is_item(&node) => "span",
            "main" | "figure" | "figcaption" | "header" | "footer" | "aside" | "nav"
            | "details" | "address" | "center" | "fieldset" | "form" | "hgroup" | "dd" | "menu"
            | "search" => "div",
            "summary" | "dt" | "legend" => "p",
            "kbd" | "samp" | "tt" => "code",
            _ => continue,
        };
        node.rename(renamed);
        if matches!(&*name, "summary" | "dt")
            && !node.children_it(false).any(|child| is_block(&child))
        {
            embolden(&node);
        }
    }
}

/// Whether a paragraph is all the text of an entry of a list.
fn is_item(paragraph: &NodeRef<'_>) -> bool {
    let Some(entry) = paragraph.parent().filter(|parent| parent.has_name("li")) else {
        return false;
    };
    let mut others =
        entry.children_it(false).filter(|child| child.is_element() && child.id != paragraph.id);
    entry.first_element_child().is_some_and(|first| first.id == paragraph.id)
        && others.all(|other| other.has_name("ul") || other.has_name("ol"))
}

fn is_block(node: &NodeRef<'_>) -> bool {
    ["p", "div", "ul", "ol", "pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "a"]
        .iter()
        .any(|name| node.has_name(name))
}

/// Puts all that is in an element into bold letters.
fn embolden(node: &NodeRef<'_>) {
    if node.text().trim().is_empty() {
        return;
    }
    let bold = node.tree.new_element("strong");
    for child in node.children() {
        child.remove_from_parent();
        bold.append_child(&child);
    }
    node.append_child(&bold);
}
