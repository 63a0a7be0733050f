//! JSON and TOML files as one kind of tree that knows its lines.

use jsonc_parser::{CollectOptions, ParseOptions, ast};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::report::ImportError;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Counted from 1.
    pub(crate) line: usize,
    /// In characters, counted from 1.
    pub(crate) column: usize,
    /// What it is.
    pub(crate) value: Value,
}

/// What a file can hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values, in the order of the file.
    Table(Vec<Entry>),
    /// A date, a fraction, a JSON `null`: nothing that any setting here takes.
    Other,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Line of the key.
    pub(crate) line: usize,
    pub(crate) node: Node,
}

impl Node {
    /// An error that points here.
    pub(crate) fn error(&self, message: impl Into<String>) -> ImportError {
        ImportError { line: self.line, column: self.column, message: message.into() }
    }

    /// The entries of a table called `name`.
    pub(crate) fn table(&self, name: &str) -> Result<&[Entry], ImportError> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.error(format!("`{name}` must be a table of keys and values"))),
        }
    }

    /// The items of a list called `name`.
    pub(crate) fn list(&self, name: &str) -> Result<&[Node], ImportError> {
        match &self.value {
            Value::List(items) => Ok(items),
            _ => Err(self.error(format!("`{name}` must be a list"))),
        }
    }

    /// The string called `name`.
    pub(crate) fn text(&self, name: &str) -> Result<&str, ImportError> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.error(format!("`{name}` must be a string"))),
        }
    }

    /// The switch called `name`.
    pub(crate) fn bool(&self, name: &str) -> Result<bool, ImportError> {
        match self.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.error(format!("`{name}` must be true or false"))),
        }
    }

    /// The strings of a list called `name`, with their lines.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<(&str, usize)>, ImportError> {
        let items = self.list(name)?.iter();
        items.map(|item| Ok((item.text(&format!("{name}[]"))?, item.line))).collect()
    }

    /// One string or a list of them.
    pub(crate) fn one_or_more(&self, name: &str) -> Result<Vec<String>, ImportError> {
        match &self.value {
            Value::Text(text) => Ok(vec![text.clone()]),
            Value::List(_) => {
                Ok(self.texts(name)?.into_iter().map(|(text, _)| text.to_owned()).collect())
            }
            _ => Err(self.error(format!("`{name}` must be a string or a list of strings"))),
        }
    }
}

/// Reads JSON with comments and trailing commas; an empty file is an empty table.
pub(crate) fn parse_json(text: &str) -> Result<Node, ImportError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options).map_err(
        |error| ImportError {
            line: error.line_display(),
            column: error.column_display(),
            message: error.kind().to_string().to_lowercase(),
        },
    )?;
    let lines = Lines::new(text);
    match parsed.value {
        Some(value) => lines.json(&value),
        None => Ok(Node { line: 1, column: 1, value: Value::Table(Vec::new()) }),
    }
}

/// Reads TOML.
pub(crate) fn parse_toml(text: &str) -> Result<Node, ImportError> {
    let lines = Lines::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let (line, column) = lines.position(error.span().map_or(0, |span| span.start));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        ImportError { line, column, message }
    })?;
    let entries = lines.toml_entries(table.get_ref());
    Ok(Node { line: 1, column: 1, value: Value::Table(entries) })
}

/// Where the lines of a text begin.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    fn node(&self, offset: usize, value: Value) -> Node {
        let (line, column) = self.position(offset);
        Node { line, column, value }
    }

    fn json(&self, value: &ast::Value<'_>) -> Result<Node, ImportError> {
        use jsonc_parser::common::Ranged;

        let converted = match value {
            ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
            ast::Value::BooleanLit(switch) => Value::Bool(switch.value),
            ast::Value::NumberLit(number) => {
                number.value.parse().map_or(Value::Other, Value::Integer)
            }
            ast::Value::NullKeyword(_) => Value::Other,
            ast::Value::Array(array) => Value::List(
                array.elements.iter().map(|item| self.json(item)).collect::<Result<_, _>>()?,
            ),
            ast::Value::Object(object) => Value::Table(self.json_entries(object)?),
        };
        Ok(self.node(value.range().start, converted))
    }

    fn json_entries(&self, object: &ast::Object<'_>) -> Result<Vec<Entry>, ImportError> {
        let mut entries: Vec<Entry> = Vec::new();
        for property in &object.properties {
            let key = property.name.as_str().to_owned();
            let (line, column) = self.position(property.range.start);
            if entries.iter().any(|entry| entry.key == key) {
                return Err(ImportError {
                    line,
                    column,
                    message: format!("duplicate key `{key}`"),
                });
            }
            entries.push(Entry { key, line, node: self.json(&property.value)? });
        }
        Ok(entries)
    }

    fn toml(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let converted = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(switch) => Value::Bool(*switch),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Value::Other, Value::Integer),
            DeValue::Float(_) | DeValue::Datetime(_) => Value::Other,
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| self.toml(item)).collect())
            }
            DeValue::Table(table) => Value::Table(self.toml_entries(table)),
        };
        self.node(value.span().start, converted)
    }

    fn toml_entries(&self, table: &DeTable<'_>) -> Vec<Entry> {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| Entry {
            key: AsRef::<str>::as_ref(key.get_ref() as &std::borrow::Cow<'_, str>).to_owned(),
            line: self.position(key.span().start).0,
            node: self.toml(value),
        };
        table.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(node: &Node) -> &Entry {
        &node.table("file").unwrap()[0]
    }

    #[test]
    fn both_formats_know_the_line_of_a_value() {
        let json = parse_json("// note\n{\n  \"a\": [\n    \"é\", \"b\",\n  ]\n}").unwrap();
        let items = first(&json).node.list("a").unwrap();
        assert_eq!((items[1].line, items[1].column), (4, 10));

        let toml = parse_toml("# note\n\na = [\n  \"é\", \"b\",\n]\n").unwrap();
        let items = first(&toml).node.list("a").unwrap();
        assert_eq!((items[1].line, items[1].column), (4, 8));
        assert_eq!(first(&toml).line, 3);
    }

    #[test]
    fn errors_point_at_the_place() {
        let error = parse_json("{\n  \"a\": [1,\n").unwrap_err();
        assert!(error.line >= 2, "{error}");
        let error = parse_toml("a = 1\nb = = 2\n").unwrap_err();
        assert_eq!((error.line, error.column), (2, 5), "{error}");
        let error = parse_json("{ \"deny\": [], \"deny\": [] }").unwrap_err();
        assert_eq!(error.message, "duplicate key `deny`");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(parse_json(&"[".repeat(100_000)).is_err());
        assert!(parse_toml(&format!("a = {}", "[".repeat(100_000))).is_err());
    }
}
