//! Choosing entries.

use std::collections::VecDeque;

use jiff::Timestamp;
use rusqlite::params_from_iter;
use rusqlite::types::Value as SqlValue;
use serde_json::Value;
use toolgate_core::ledger::EntryKind;
use toolgate_core::policy::Decision;

use crate::audit::record::{COLUMNS, Record};
use crate::database::Database;
use crate::error::StoreError;

/// How many entries are read at once.
const PAGE: usize = 256;

/// Which entries are wanted; the default wants all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of calls of this tool.
    pub tool: Option<String>,
    /// Of calls the policy decided about like this.
    pub decision: Option<Decision>,
    /// Of this session.
    pub session: Option<String>,
    /// Of the call with this id.
    pub call: Option<String>,
    /// Of one of these kinds; of any when there are none.
    pub kinds: Vec<EntryKind>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// With this text in the body, whatever the case of ASCII letters.
    pub text: Option<String>,
    /// Behind the entry with this number.
    pub after: Option<i64>,
}

impl Filter {
    /// Whether it leaves nothing out.
    pub(crate) fn is_open(&self) -> bool {
        self.conditions().0.is_empty()
    }

    /// Conditions on columns of `entry`, and their values.
    fn conditions(&self) -> (Vec<String>, Vec<SqlValue>) {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        let mut add = |condition: &str, value: SqlValue| {
            conditions.push(condition.to_owned());
            values.push(value);
        };
        let same = |text: &String| SqlValue::Text(text.clone());
        let moment = |at: Timestamp| SqlValue::Integer(at.as_microsecond());
        if let Some(tool) = &self.tool {
            add("tool = ?", same(tool));
        }
        if let Some(session) = &self.session {
            add("session = ?", same(session));
        }
        if let Some(call) = &self.call {
            add("call = ?", same(call));
        }
        if let Some(since) = self.since {
            add("at >= ?", moment(since));
        }
        if let Some(until) = self.until {
            add("at < ?", moment(until));
        }
        if let Some(after) = self.after {
            add("seq > ?", SqlValue::Integer(after));
        }
        if let Some(text) = &self.text {
            add("body LIKE ? ESCAPE '!'", SqlValue::Text(like(text)));
        }
        if let Some(decision) = self.decision {
            let decided = "EXISTS (SELECT 1 FROM entries AS decided \
                WHERE decided.call = entry.call AND decided.session = entry.session \
                AND decided.kind = 'decided' AND decided.body ->> 'decision' = ?)";
            add(decided, SqlValue::Text(decision.to_string()));
        }
        if !self.kinds.is_empty() {
            let marks = vec!["?"; self.kinds.len()].join(", ");
            conditions.push(format!("kind IN ({marks})"));
            let names = self.kinds.iter().map(|kind| SqlValue::Text(kind.name().to_owned()));
            values.extend(names);
        }
        (conditions, values)
    }
}

/// A pattern for text as it stands in a body.
fn like(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inside = quoted.trim_start_matches('"');
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    let mut pattern = String::from("%");
    for letter in inside.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// Which entries come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As they were written.
    OldestFirst,
    /// The other way round.
    NewestFirst,
}

/// Entries of a ledger, read a page at a time: writers are never held up for long.
#[derive(Debug)]
pub struct Entries<'a> {
    database: &'a Database,
    query: String,
    values: Vec<SqlValue>,
    page: VecDeque<Record>,
    last: i64,
    ended: bool,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(database: &'a Database, filter: &Filter, order: Order) -> Self {
        let (mut conditions, values) = filter.conditions();
        let (condition, direction, last) = match order {
            Order::OldestFirst => ("seq > ?", "ASC", i64::MIN),
            Order::NewestFirst => ("seq < ?", "DESC", i64::MAX),
        };
        conditions.push(condition.to_owned());
        let conditions = conditions.join(" AND ");
        let query = format!(
            "SELECT {COLUMNS} FROM entries AS entry WHERE {conditions} \
             ORDER BY seq {direction} LIMIT {PAGE}"
        );
        Self { database, query, values, page: VecDeque::new(), last, ended: false }
    }

    fn turn(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.database.reader().prepare_cached(&self.query)?;
        let values = self.values.iter().cloned().chain([SqlValue::Integer(self.last)]);
        let rows = statement.query_map(params_from_iter(values), Record::read)?;
        for row in rows {
            self.page.push_back(row?);
        }
        self.ended = self.page.len() < PAGE;
        if let Some(record) = self.page.back() {
            self.last = record.seq;
        }
        Ok(())
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && !self.ended
            && let Err(error) = self.turn()
        {
            self.ended = true;
            return Some(Err(self.database.explain(error)));
        }
        self.page.pop_front().map(Ok)
    }
}
