//! The ledger as JSON lines.

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
        serde_json::to_writer(&mut *out, &record)?;
        out.write_all(b"\n")?;
    }
    if filter.is_open() {
        writeln!(out, "{}", json!({ "head": head.to_string() }))?;
    }
    out.flush()
}
