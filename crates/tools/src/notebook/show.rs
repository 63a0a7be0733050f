//! A notebook as a model reads it: cells, and what they put out.

use serde_json::Value;
use toolgate_core::bounds::Collector;

use super::cell::{heading, joined};
use super::document::Notebook;
use super::output::{Output, output};
use crate::formats::{self, Shown};

/// How many pictures are shown, at most.
const MOST_PICTURES: usize = 5;
/// How large a picture may be to be shown, in characters of base64.
const LARGEST_PICTURE: usize = 1_500_000;

/// Writes the cells, and gives back the pictures among what they put out.
pub(crate) fn show(notebook: &Notebook<'_>, collector: &mut Collector) -> Vec<Shown> {
    let mut pictures = Vec::new();
    for index in 0..notebook.len() {
        let Some(cell) = notebook.cell(index) else { continue };
        let gap = if index == 0 { "" } else { "\n" };
        collector.push(&format!("{gap}=== {} ===\n", heading(index, &cell)));
        push_lines(collector, &cell.get("source").map(joined).unwrap_or_default());
        let outputs = cell.get("outputs").and_then(Value::as_array);
        for value in outputs.into_iter().flatten().filter_map(Value::as_object) {
            let Output { heading, text, picture } = output(value);
            collector.push(&format!("--- {heading} ---\n"));
            push_lines(collector, &text);
            if let Some((mime, bytes)) = picture {
                let line = picture_line(mime, bytes.as_deref(), &mut pictures);
                collector.push(&format!("[{line}]\n"));
            }
        }
    }
    pictures
}

fn push_lines(collector: &mut Collector, text: &str) {
    collector.push(text);
    if !text.is_empty() && !text.ends_with('\n') {
        collector.push("\n");
    }
}

/// Decides whether a picture is shown, and says so.
fn picture_line(mime: &str, bytes: Option<&[u8]>, pictures: &mut Vec<Shown>) -> String {
    let Some(bytes) = bytes else { return format!("{mime}, which is broken") };
    if pictures.len() >= MOST_PICTURES {
        return format!("{mime}, left out: only {MOST_PICTURES} pictures are shown");
    }
    let shown = match formats::kind(bytes) {
        formats::Kind::Image(format) => formats::show(bytes, format),
        _ => return format!("{mime}, which is broken"),
    };
    match shown {
        Ok(shown) if shown.data.len() <= LARGEST_PICTURE => {
            let (width, height) = shown.size;
            pictures.push(shown);
            format!("picture {}: {mime}, {width} x {height} pixels", pictures.len())
        }
        Ok(_) | Err(formats::Unshown::TooLarge(_)) => format!("{mime}, too large to be shown"),
        Err(formats::Unshown::Broken(_)) => format!("{mime}, which is broken"),
    }
}
