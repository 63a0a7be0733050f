//! A whole notebook, each cell where it stands in the text.

use std::ops::Range;

use serde_json::{Map, Value};

use super::cell::address;
use super::check;
use super::fields::{Fields, elements, span};

/// From this minor version on cells have ids.
const WITH_IDS: u64 = 5;

/// A notebook that was found to be one.
#[derive(Debug)]
pub(crate) struct Notebook<'a> {
    pub(super) text: &'a str,
    /// The list of cells, as it is written.
    pub(super) list: &'a str,
    /// Each cell, as it is written.
    pub(super) cells: Vec<&'a str>,
    /// The ids of cells, as far as they have any.
    pub(super) ids: Vec<Option<String>>,
    minor: u64,
}

impl<'a> Notebook<'a> {
    /// Reads a notebook and checks all of it; the error says what is wrong.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        let json = |error: serde_json::Error| format!("it is no valid JSON: {error}");
        let object = |error: serde_json::Error| {
            if error.is_data() {
                "it holds no notebook but other JSON".to_owned()
            } else {
                json(error)
            }
        };
        let root = Fields::parse(text).map_err(object)?;
        if let Some(name) = root.doubled(&["cells", "metadata", "nbformat", "nbformat_minor"]) {
            return Err(format!("it has `{name}` more than once"));
        }
        let number = |name: &str| -> Option<u64> { root.get(name)?.parse().ok() };
        match number("nbformat") {
            Some(4) => {}
            Some(other) => {
                return Err(format!(
                    "it is in format {other} and only format 4 is understood; convert it with \
                     `jupyter nbconvert --to notebook`"
                ));
            }
            None => return Err("it has no `nbformat`, so it is no notebook".to_owned()),
        }
        let minor = number("nbformat_minor").ok_or("it has no `nbformat_minor`")?;
        if !root.get("metadata").is_some_and(|metadata| metadata.starts_with('{')) {
            return Err("it has no object `metadata`".to_owned());
        }
        let list = root.get("cells").ok_or("it has no `cells`")?;
        let cells = elements(list).map_err(|_| "its `cells` are no list")?;
        let mut ids = Vec::with_capacity(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            let wrong = |why: String| format!("{}: {why}", address(index));
            let value: Value = serde_json::from_str(cell).map_err(|error| wrong(json(error)))?;
            let fields = check::cell(&value).map_err(wrong)?;
            ids.push(fields.get("id").and_then(Value::as_str).map(str::to_owned));
        }
        Ok(Self { text, list, cells, ids, minor })
    }

    /// Whether new cells get an id.
    pub(super) fn has_ids(&self) -> bool {
        self.minor >= WITH_IDS
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell as data.
    pub(super) fn cell(&self, index: usize) -> Option<Map<String, Value>> {
        serde_json::from_str(self.cells.get(index)?).ok()
    }

    /// Where a cell stands in the text.
    pub(super) fn place(&self, index: usize) -> Option<Range<usize>> {
        self.cells.get(index).map(|cell| span(self.text, cell))
    }

    /// The cell somebody means: by its id, or by its place as `cell-N`.
    pub(super) fn find(&self, wanted: &str) -> Result<usize, String> {
        let same = self.ids.iter().enumerate().filter(|(_, id)| id.as_deref() == Some(wanted));
        let found: Vec<usize> = same.map(|(index, _)| index).collect();
        match found.as_slice() {
            [index] => return Ok(*index),
            [] => {}
            several => {
                let places: Vec<_> = several.iter().take(5).map(|index| address(*index)).collect();
                return Err(format!(
                    "{} cells have the id `{wanted}`; say which one: {}",
                    several.len(),
                    places.join(", ")
                ));
            }
        }
        let place = wanted.strip_prefix("cell-").and_then(|number| number.parse::<usize>().ok());
        place.filter(|index| *index < self.len()).ok_or_else(|| self.missing(wanted))
    }

    fn missing(&self, wanted: &str) -> String {
        let Some(last) = self.len().checked_sub(1) else {
            return format!("there is no cell `{wanted}`, the notebook has none");
        };
        let score = |id: &str| strsim::jaro_winkler(id, wanted);
        let ids = self.ids.iter().take(10_000).flatten();
        let nearest = ids.max_by(|one, other| score(one).total_cmp(&score(other)));
        let near = nearest.filter(|id| score(id) > 0.8);
        let near = near.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
        let range = match last {
            0 => address(0),
            last => format!("{} to {}", address(0), address(last)),
        };
        format!("there is no cell `{wanted}`, only {range}{near}")
    }
}
