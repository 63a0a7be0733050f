//! The ledger as JSON lines.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::json;

use crate::audit::filter::{Entries, Filter, Order};
use crate::chain::Head;
use crate::database::Database;

/// Writes entries, and the head behind them when they are all there are.
pub(crate) fn export(database: &Database, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    let mut head = Head::NONE;
    for record in Entries::new(database, filter, Order::OldestFirst) {
        let record = record.map_err(io::Error::other)?;
        head = Head { seq: record.seq, hash: record.hash };
        writeln!(out, "{}", plain(&serde_json::to_string(&record)?))?;
    }
    if filter.is_open() {
        writeln!(out, "{}", json!({ "head": head.to_string() }))?;
    }
    out.flush()
}

/// JSON leaves some control characters as they are, which a terminal would obey.
fn plain(json: &str) -> Cow<'_, str> {
    let raw = |letter: char| matches!(letter, '\u{7f}'..='\u{9f}');
    if !json.contains(raw) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 8);
    for letter in json.chars() {
        if raw(letter) {
            text.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            text.push(letter);
        }
    }
    Cow::Owned(text)
}
