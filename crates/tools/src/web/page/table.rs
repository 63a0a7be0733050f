//! Tables that Markdown can hold.

use dom_query::{Document, NodeRef};

use super::patience::{PageFault, Patience};

/// Wider cells are layout, or an attack.
const WIDEST: usize = 50;
/// Larger tables are left as they are.
const MOST_CELLS: usize = 20_000;
/// What a cell of a real table does not hold.
const LAYOUT: &[&str] = &["table", "pre", "ul", "ol", "h1", "h2", "h3", "blockquote", "dl", "form"];

/// Makes all rows of a table equally long, and what only arranges things no table at all.
pub(super) fn straighten(document: &Document, patience: &Patience<'_>) -> Result<(), PageFault> {
    for table in document.root().descendants() {
        if !table.has_name("table") {
            continue;
        }
        patience.check()?;
        let parts = table.descendants();
        let arranges = parts.iter().any(|part| LAYOUT.iter().any(|name| part.has_name(name)));
        let rows: Vec<NodeRef<'_>> =
            parts.iter().filter(|part| part.has_name("tr")).copied().collect();
        if arranges || rows.is_empty() {
            // Tables inside of it are looked at by themselves.
            let own = parts.iter().filter(|part| is_of_table(part) && belongs(part, &table));
            let own: Vec<NodeRef<'_>> = own.copied().collect();
            for part in own.iter().chain([&table]) {
                part.rename("div");
            }
        } else {
            for caption in parts.iter().filter(|part| part.has_name("caption")) {
                caption.rename("p");
                caption.remove_from_parent();
                table.insert_before(caption);
            }
            pad(&rows);
        }
    }
    Ok(())
}

/// Whether the next table around a part is this one.
fn belongs(part: &NodeRef<'_>, table: &NodeRef<'_>) -> bool {
    let mut around = part.ancestors_it(None);
    around.find(|node| node.has_name("table")).is_some_and(|found| found.id == table.id)
}

fn is_of_table(node: &NodeRef<'_>) -> bool {
    ["thead", "tbody", "tfoot", "tr", "td", "th", "caption"].iter().any(|name| node.has_name(name))
}

/// Adds empty cells, where a cell is wide and where a row is short.
fn pad(rows: &[NodeRef<'_>]) {
    let mut longest = 0;
    for row in rows {
        for cell in cells(row) {
            let span = cell.attr("colspan").and_then(|span| span.trim().parse::<usize>().ok());
            for _ in 1..span.unwrap_or(1).min(WIDEST) {
                cell.insert_after(&row.tree.new_element(if cell.has_name("th") {
                    "th"
                } else {
                    "td"
                }));
            }
        }
        longest = longest.max(cells(row).len());
    }
    if longest.saturating_mul(rows.len()) > MOST_CELLS {
        return;
    }
    for row in rows {
        let own = cells(row);
        if own.is_empty() {
            continue;
        }
        let name = if own.iter().all(|cell| cell.has_name("th")) { "th" } else { "td" };
        for _ in own.len()..longest {
            row.append_child(&row.tree.new_element(name));
        }
    }
}

fn cells<'a>(row: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    row.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th")).collect()
}
