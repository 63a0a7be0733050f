//! The fields of a table, read one by one; what is not asked for is a mistake.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rules::Reader;
use crate::vocabulary;

/// A field with the names it may have, its own first.
pub(super) type Names = &'static [&'static str];

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// A table whose fields are read.
#[derive(Debug)]
pub(super) struct Fields<'t, 'd, 'f, 'r> {
    table: &'t DeTable<'d>,
    pub(super) reader: &'f mut Reader<'r>,
}

impl<'t, 'd, 'f, 'r> Fields<'t, 'd, 'f, 'r> {
    /// Reads a table; fields that are not known are mistakes.
    pub(super) fn new(
        table: &'t DeTable<'d>,
        known: &[Names],
        noun: &str,
        reader: &'f mut Reader<'r>,
    ) -> Self {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if known.iter().any(|names| names.contains(&name)) {
                continue;
            }
            let near = vocabulary::nearest(name, known.iter().copied().flatten().copied());
            let own = known.iter().filter_map(|names| names.first().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("{noun} has: {}", own.collect::<Vec<_>>().join(", ")),
            };
            reader.error(key.span(), format!("unknown key `{name}` in {noun}"), "not known").help =
                Some(help);
        }
        Self { table, reader }
    }

    /// The value of a field.
    pub(super) fn get(&self, names: Names) -> Option<&'t Spanned<DeValue<'d>>> {
        // Most tables are so small that looking through them is faster than looking up.
        const SMALL: usize = 16;
        if self.table.len() > SMALL {
            return names.iter().find_map(|name| self.table.get(*name));
        }
        let mut found =
            self.table.iter().filter(|(key, _)| names.contains(&key.get_ref().as_ref()));
        let (_, value) = found.next()?;
        // Under two of its names at once, the one listed first counts.
        match found.next() {
            None => Some(value),
            Some(_) => names.iter().find_map(|name| self.table.get(*name)),
        }
    }

    fn wrong(&mut self, value: &Spanned<DeValue<'_>>, names: Names, expected: &str) {
        let name = names.first().copied().unwrap_or_default();
        let found = kind(value.get_ref());
        self.reader.error(
            value.span(),
            format!("`{name}` must be {expected}, not {found}"),
            &format!("expected {expected}"),
        );
    }

    pub(super) fn text(&mut self, names: Names) -> Option<At<String>> {
        let value = self.get(names)?;
        if let DeValue::String(text) = value.get_ref() {
            return Some(At { value: text.to_string(), span: value.span() });
        }
        self.wrong(value, names, "text");
        None
    }

    /// Text, or a list of text.
    pub(super) fn texts(&mut self, names: Names) -> Option<Vec<At<String>>> {
        let value = self.get(names)?;
        match value.get_ref() {
            DeValue::String(text) => Some(vec![At { value: text.to_string(), span: value.span() }]),
            DeValue::Array(items) => {
                let mut texts = Vec::new();
                for item in items {
                    match item.get_ref() {
                        DeValue::String(text) => {
                            texts.push(At { value: text.to_string(), span: item.span() });
                        }
                        _ => self.wrong(item, names, "a list of text"),
                    }
                }
                if items.is_empty() {
                    let name = names.first().copied().unwrap_or_default();
                    self.reader.error(value.span(), format!("`{name}` is empty"), "nothing in it");
                }
                Some(texts)
            }
            _ => {
                self.wrong(value, names, "text or a list of text");
                None
            }
        }
    }

    pub(super) fn boolean(&mut self, names: Names) -> Option<bool> {
        let value = self.get(names)?;
        if let DeValue::Boolean(truth) = value.get_ref() {
            return Some(*truth);
        }
        self.wrong(value, names, "true or false");
        None
    }

    /// A whole number from 0 to 999.
    pub(super) fn priority(&mut self, names: Names) -> Option<u16> {
        let value = self.get(names)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let own = number.and_then(|number| u16::try_from(number).ok()).filter(|own| *own <= 999);
        if own.is_none() {
            let message = "`priority` must be a whole number from 0 to 999";
            self.reader.error(value.span(), message, "out of range");
        }
        own
    }

    /// A word out of a few, parsed.
    pub(super) fn word<T>(
        &mut self,
        names: Names,
        parse: impl Fn(&str) -> Option<T>,
        choices: &[&str],
    ) -> Option<T> {
        let At { value, span } = self.text(names)?;
        let parsed = parse(&value);
        if parsed.is_none() {
            let name = names.first().copied().unwrap_or_default();
            let near = vocabulary::nearest(&value, choices.iter().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", choices.join(", ")),
            };
            self.reader.error(span, format!("`{value}` is no {name}"), "not known").help =
                Some(help);
        }
        parsed
    }

    /// A date, with or without a time, in seconds since 1970.
    pub(super) fn time(&mut self, names: Names) -> Option<i64> {
        let value = self.get(names)?;
        let text = match value.get_ref() {
            DeValue::Datetime(time) => time.to_string(),
            DeValue::String(text) => text.to_string(),
            _ => String::new(),
        };
        let seconds = seconds(&text);
        if seconds.is_none() {
            self.wrong(value, names, "a date such as 2026-12-31 or 2026-12-31T18:00:00Z");
        }
        seconds
    }
}

fn seconds(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_second());
    }
    let utc = jiff::tz::TimeZone::UTC;
    let time = text.parse::<jiff::civil::DateTime>().ok()?;
    time.to_zoned(utc).ok().map(|time| time.timestamp().as_second())
}

/// What a value is, in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
