//! Pieces of a JSON text, as they are written.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object in their order, each value as it is written.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    entries: Vec<(String, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// Reads an object.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value of a field, as it is written.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// All fields.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value.get()))
    }

    /// A field of these that is there more than once, so that nobody knows which one counts.
    pub(super) fn doubled<'b>(&self, names: &[&'b str]) -> Option<&'b str> {
        let count = |name: &str| self.iter().filter(|(own, _)| *own == name).count();
        names.iter().copied().find(|name| count(name) > 1)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Fields { entries })
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The elements of an array, each as it is written.
pub(super) fn elements(text: &str) -> Result<Vec<&str>, serde_json::Error> {
    let elements: Vec<&RawValue> = serde_json::from_str(text)?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

/// Where a piece stands in the text it was taken from.
pub(super) fn span(text: &str, piece: &str) -> Range<usize> {
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    start..start + piece.len()
}

/// The text with other pieces put in place of some of its own.
pub(super) fn spliced(text: &str, mut pieces: Vec<(Range<usize>, String)>) -> String {
    pieces.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, piece) in pieces {
        result.push_str(text.get(at..range.start).unwrap_or_default());
        result.push_str(&piece);
        at = range.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
