//! A change of one cell that leaves every other byte of the notebook as it is.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::cell::{CellType, address, heading, joined, lines};
use super::document::Notebook;
use super::fields::{Fields, span, spliced};
use super::style::Style;

/// Fields of a cell that a change may touch.
const TOUCHED: [&str; 6] =
    ["cell_type", "source", "outputs", "execution_count", "attachments", "id"];

/// What an empty text is stirred into.
const FIRST_MIX: u64 = 0xcbf2_9ce4_8422_2325;

/// What to do to a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Another source, another type, or both.
    Replace { cell: String, source: Option<String>, kind: Option<CellType> },
    /// A new cell after another one, or at the start.
    Insert { after: Option<String>, source: String, kind: CellType },
    /// No such cell any more.
    Delete { cell: String },
}

/// A notebook with a change made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The whole of it.
    pub(crate) text: String,
    /// The place of the cell, as `cell-N`.
    pub(crate) cell: String,
    /// The id of the cell, if it has one.
    pub(crate) id: Option<String>,
    /// How many cells there are now.
    pub(crate) cells: usize,
    /// The cell before the change, as people read it; empty when it is new.
    pub(crate) before: String,
    /// The cell after the change; empty when it is gone.
    pub(crate) after: String,
}

/// Makes a change; the error says why it cannot be made.
pub(crate) fn change(text: &str, change: &Change) -> Result<Changed, String> {
    let notebook = Notebook::parse(text)?;
    let changed = match change {
        Change::Replace { cell, source, kind } => {
            replace(&notebook, notebook.find(cell)?, source.as_deref(), *kind)
        }
        Change::Insert { after, source, kind } => {
            let index = match after {
                Some(cell) => notebook.find(cell)? + 1,
                None => 0,
            };
            Some(insert(&notebook, index, source, *kind))
        }
        Change::Delete { cell } => delete(&notebook, notebook.find(cell)?),
    };
    let changed = changed.ok_or("its cells cannot be told apart")?;
    // INVARIANT: nothing is written that would not be read again.
    let now = Notebook::parse(&changed.text)?;
    debug_assert_eq!(now.len(), changed.cells, "the number of cells is known");
    Ok(changed)
}

fn replace(
    notebook: &Notebook<'_>,
    index: usize,
    source: Option<&str>,
    kind: Option<CellType>,
) -> Option<Changed> {
    let place = notebook.place(index)?;
    let written = notebook.cells.get(index)?;
    let fields = Fields::parse(written).ok()?;
    fields.doubled(&TOUCHED).is_none().then_some(())?;
    let cell = notebook.cell(index)?;
    let was = CellType::named(cell.get("cell_type")?.as_str()?)?;
    let style = Style::of(notebook);
    let old_source = cell.get("source").map(joined)?;
    let other_source = source.filter(|source| old_source != *source);
    let new_source = other_source.map(|source| {
        let as_lines = cell.get("source").is_some_and(Value::is_array);
        let value = if as_lines { lines(source) } else { Value::from(source) };
        style.value(&value, &style.deeper(&style.cell))
    });
    let rewritten = match kind.filter(|kind| *kind != was) {
        Some(kind) => with_type(&fields, kind, new_source, &style),
        None => with_source(written, &fields, new_source),
    };
    let after: Map<String, Value> = serde_json::from_str(&rewritten).ok()?;
    Some(Changed {
        text: spliced(notebook.text, vec![(place, rewritten)]),
        cell: address(index),
        id: notebook.ids.get(index).cloned().flatten(),
        cells: notebook.len(),
        before: view(index, &cell),
        after: view(index, &after),
    })
}

/// The same cell with another source. What it once put out is not what it puts out now.
fn with_source(written: &str, fields: &Fields<'_>, source: Option<String>) -> String {
    let Some(source) = source else { return written.to_owned() };
    let other = [("source", source), ("outputs", "[]".into()), ("execution_count", "null".into())];
    let pieces = other.into_iter().filter_map(|(name, value)| {
        let old = fields.get(name)?;
        let is_same = old == value || name == "outputs" && is_empty_list(old);
        (!is_same).then(|| (span(written, old), value))
    });
    spliced(written, pieces.collect())
}

/// The same cell as another type, with the fields that type has.
fn with_type(fields: &Fields<'_>, kind: CellType, source: Option<String>, style: &Style) -> String {
    let mut source = source;
    let mut now: Vec<(&str, String)> = Vec::new();
    for (name, value) in fields.iter() {
        match name {
            "cell_type" => {
                now.push((name, format!("\"{kind}\"")));
                if kind == CellType::Code {
                    now.push(("execution_count", "null".to_owned()));
                }
            }
            "source" => {
                if kind == CellType::Code {
                    now.push(("outputs", "[]".to_owned()));
                }
                now.push((name, source.take().unwrap_or_else(|| value.to_owned())));
            }
            "outputs" | "execution_count" => {}
            // Only text can have pictures of its own.
            "attachments" if kind == CellType::Code => {}
            _ => now.push((name, value.to_owned())),
        }
    }
    style.object(now.into_iter(), &style.cell)
}

fn insert(notebook: &Notebook<'_>, index: usize, source: &str, kind: CellType) -> Changed {
    let style = Style::of(notebook);
    let id = notebook.has_ids().then(|| fresh_id(notebook, source));
    let first = notebook.cell(0).and_then(|mut cell| cell.remove("source"));
    let as_text = first.is_some_and(|source| source.is_string());
    let cell = new_cell(kind, id.as_deref(), source, as_text);
    let written = style.value(&Value::Object(cell.clone()), &style.cell);
    let (place, piece) = put_in(notebook, index, &written, &style);
    Changed {
        text: spliced(notebook.text, vec![(place, piece)]),
        cell: address(index),
        id,
        cells: notebook.len() + 1,
        before: String::new(),
        after: view(index, &cell),
    }
}

/// A new cell, its fields in the order Jupyter writes them.
fn new_cell(kind: CellType, id: Option<&str>, source: &str, as_text: bool) -> Map<String, Value> {
    let mut cell = Map::new();
    cell.insert("cell_type".to_owned(), json!(kind));
    if kind == CellType::Code {
        cell.insert("execution_count".to_owned(), Value::Null);
    }
    if let Some(id) = id {
        cell.insert("id".to_owned(), json!(id));
    }
    cell.insert("metadata".to_owned(), json!({}));
    if kind == CellType::Code {
        cell.insert("outputs".to_owned(), json!([]));
    }
    let source = if as_text { Value::from(source) } else { lines(source) };
    cell.insert("source".to_owned(), source);
    cell
}

/// Where a new cell goes, and what is written there.
fn put_in(
    notebook: &Notebook<'_>,
    index: usize,
    written: &str,
    style: &Style,
) -> (Range<usize>, String) {
    let list = span(notebook.text, notebook.list);
    let before = index.checked_sub(1).and_then(|before| notebook.place(before));
    let first = notebook.place(0);
    // Between two cells stands what stands between any two.
    let between = match (first.as_ref(), notebook.place(1)) {
        (Some(first), Some(second)) => notebook.text.get(first.end..second.start),
        _ => None,
    };
    let lead = first.as_ref().and_then(|first| notebook.text.get(list.start + 1..first.start));
    let between = between.map_or_else(|| format!(",{}", lead.unwrap_or_default()), str::to_owned);
    match (before, first) {
        (Some(before), _) => (before.end..before.end, format!("{between}{written}")),
        (None, Some(first)) => (first.start..first.start, format!("{written}{between}")),
        (None, None) => {
            let (open, close) = (style.line(&style.cell), style.line(&outer(style)));
            (list, format!("[{open}{written}{close}]"))
        }
    }
}

/// What the list of cells itself is indented by.
fn outer(style: &Style) -> String {
    let mut indent = style.cell.clone();
    indent.truncate(indent.len() / 2);
    indent
}

fn delete(notebook: &Notebook<'_>, index: usize) -> Option<Changed> {
    let place = notebook.place(index)?;
    let before = index.checked_sub(1).and_then(|before| notebook.place(before));
    let gone = match (before, notebook.place(index + 1)) {
        (_, Some(next)) => place.start..next.start,
        (Some(before), None) => before.end..place.end,
        (None, None) => {
            let list = span(notebook.text, notebook.list);
            list.start + 1..list.end - 1
        }
    };
    Some(Changed {
        text: spliced(notebook.text, vec![(gone, String::new())]),
        cell: address(index),
        id: notebook.ids.get(index).cloned().flatten(),
        cells: notebook.len() - 1,
        before: view(index, &notebook.cell(index)?),
        after: String::new(),
    })
}

/// An id no cell has. The same change of the same notebook gives the same one, so that what a
/// person is shown is what is done.
fn fresh_id(notebook: &Notebook<'_>, source: &str) -> String {
    let taken = |id: &String| notebook.ids.iter().flatten().any(|own| own == id);
    let mut mixed = mix(mix(FIRST_MIX, notebook.text.as_bytes()), source.as_bytes());
    loop {
        let id = format!("{:08x}", mixed >> 32);
        if !taken(&id) {
            return id;
        }
        mixed = mix(mixed, b"again");
    }
}

/// Stirs bytes into a number, as FNV-1a does.
fn mix(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start, |mixed, byte| (mixed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn is_empty_list(written: &str) -> bool {
    serde_json::from_str::<Vec<Value>>(written).is_ok_and(|list| list.is_empty())
}

/// A cell as people read it in a diff.
fn view(index: usize, cell: &Map<String, Value>) -> String {
    let outputs = cell.get("outputs").and_then(Value::as_array).map_or(0, Vec::len);
    let outputs = match outputs {
        0 => String::new(),
        1 => ", 1 output".to_owned(),
        count => format!(", {count} outputs"),
    };
    let source = cell.get("source").map(joined).unwrap_or_default();
    let end = if source.is_empty() || source.ends_with('\n') { "" } else { "\n" };
    format!("{}{outputs}\n{source}{end}", heading(index, cell))
}
