//! How a notebook's JSON is laid out, so that what is new looks like the rest.

use serde_json::Value;

use super::document::Notebook;

/// A way to lay out JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// What ends a line; nothing when all stands on one.
    newline: &'static str,
    /// What a level is indented by.
    unit: String,
    /// What stands between a name and its value.
    colon: String,
    /// What stands between two values on one line.
    comma: &'static str,
    /// Whether only ASCII is written.
    ascii: bool,
    /// What a cell is indented by.
    pub(super) cell: String,
}

impl Style {
    /// The way a notebook is laid out.
    pub(super) fn of(notebook: &Notebook<'_>) -> Self {
        let text = notebook.text.trim_start();
        let lead = blank(text.get(1..).unwrap_or_default());
        let newline = match lead.rsplit_once('\n') {
            None => "",
            Some((before, _)) if before.ends_with('\r') => "\r\n",
            Some(_) => "\n",
        };
        let unit = after_line(lead).to_owned();
        let colon = colon(text).unwrap_or(": ").to_owned();
        let comma = if colon == ":" { "," } else { ", " };
        let in_list = blank(notebook.list.get(1..).unwrap_or_default());
        let cell = match (newline, notebook.cells.is_empty()) {
            ("", _) => String::new(),
            (_, true) => unit.repeat(2),
            (_, false) => after_line(in_list).to_owned(),
        };
        let ascii = notebook.text.is_ascii() && has_escaped_letter(notebook.text);
        Self { newline, unit, colon, comma, ascii, cell }
    }

    /// The start of a line, indented so.
    pub(super) fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.newline)
    }

    /// One level deeper.
    pub(super) fn deeper(&self, indent: &str) -> String {
        if self.newline.is_empty() { String::new() } else { format!("{indent}{}", self.unit) }
    }

    /// A value, the line it begins in indented so.
    pub(super) fn value(&self, value: &Value, indent: &str) -> String {
        match value {
            Value::Array(list) if !list.is_empty() => {
                let inner = self.deeper(indent);
                self.bracketed('[', list.iter().map(|item| self.value(item, &inner)), ']', indent)
            }
            Value::Object(map) if !map.is_empty() => {
                let inner = self.deeper(indent);
                let fields = map.iter().map(|(name, value)| (name, self.value(value, &inner)));
                self.object(fields, indent)
            }
            Value::String(text) => self.string(text),
            other => other.to_string(),
        }
    }

    /// An object of values that are written already.
    pub(super) fn object<N: AsRef<str>>(
        &self,
        fields: impl Iterator<Item = (N, String)>,
        indent: &str,
    ) -> String {
        let fields = fields
            .map(|(name, value)| format!("{}{}{value}", self.string(name.as_ref()), self.colon));
        self.bracketed('{', fields, '}', indent)
    }

    fn bracketed(
        &self,
        open: char,
        items: impl Iterator<Item = String>,
        close: char,
        indent: &str,
    ) -> String {
        let inner = self.line(&self.deeper(indent));
        let between =
            if self.newline.is_empty() { self.comma.to_owned() } else { format!(",{inner}") };
        let items = items.collect::<Vec<_>>().join(&between);
        format!("{open}{inner}{items}{}{close}", self.line(indent))
    }

    /// A string with its quotes.
    fn string(&self, text: &str) -> String {
        let quoted = Value::from(text).to_string();
        if !self.ascii || quoted.is_ascii() {
            return quoted;
        }
        let mut plain = String::with_capacity(quoted.len() + 16);
        for letter in quoted.chars() {
            if letter.is_ascii() {
                plain.push(letter);
            } else {
                let units = letter.encode_utf16(&mut [0; 2]).to_vec();
                plain.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
        plain
    }
}

/// The blanks a text begins with.
fn blank(text: &str) -> &str {
    let length = text.len() - text.trim_start_matches([' ', '\t', '\r', '\n']).len();
    text.get(..length).unwrap_or_default()
}

/// What stands after the last line end.
fn after_line(blank: &str) -> &str {
    blank.rsplit_once('\n').map_or("", |(_, after)| after)
}

/// What stands between the first name of an object and its value.
fn colon(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('"')?;
    let mut is_escaped = false;
    let end = rest.find(|letter| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })?;
    let rest = rest.get(end + 1..)?;
    let length = blank(rest).len();
    let after = rest.get(length..)?.strip_prefix(':')?;
    rest.get(..length + 1 + blank(after).len())
}

/// Whether a letter beyond ASCII is written as an escape.
fn has_escaped_letter(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), "\\u").any(|at| {
        let code = text.get(at + 2..at + 6);
        code.and_then(|code| u32::from_str_radix(code, 16).ok()).is_some_and(|code| code > 0x7f)
    })
}
