//! Values by key, and facts.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolgate_core::keeping::{
    Fact, KeepingError, Memory, MemoryEntry, MemoryKey, Remembered, Scope, Stored,
};

use super::columns::{at, now};
use super::place::{MOST, Shelf};
use crate::records::bytes_of;

/// How many bytes all values of a workspace may have together.
const MOST_BYTES: i64 = 64 * 1024 * 1024;

impl Memory for Shelf {
    fn get(&self, workspace: &Path, key: &str) -> Result<Option<MemoryEntry>, KeepingError> {
        let sql = "SELECT value, changed FROM memory WHERE workspace = ?1 AND key = ?2";
        let entry = |row: &Row<'_>| Ok(MemoryEntry { value: row.get(0)?, changed: at(row, 1)? });
        let found = self.look(|rows| {
            let mut rows = rows.prepare_cached(sql)?;
            rows.query_row(params![bytes_of(workspace), key], entry).optional()
        });
        Ok(found?)
    }

    fn set(&self, workspace: &Path, key: &str, value: &str) -> Result<Stored, KeepingError> {
        let workspace = bytes_of(workspace);
        let bytes = i64::try_from(value.len()).unwrap_or(i64::MAX);
        self.commit(|rows| {
            let before = "SELECT bytes FROM memory WHERE workspace = ?1 AND key = ?2";
            let mut before = rows.prepare_cached(before)?;
            let before: Option<i64> =
                before.query_row(params![workspace, key], |row| row.get(0)).optional()?;
            let (keys, total) = amount(rows, workspace)?;
            if before.is_none() && keys >= MOST {
                return Ok(Err(full(&format!("it has {MOST} keys, which is the most"))));
            }
            let after = total.saturating_sub(before.unwrap_or(0)).saturating_add(bytes);
            if after > MOST_BYTES {
                let message = format!("its values have {total} bytes and may have {MOST_BYTES}");
                return Ok(Err(full(&message)));
            }
            let sql = "INSERT INTO memory (workspace, key, bytes, changed, value)
                       VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (workspace, key) DO UPDATE
                       SET bytes = excluded.bytes, changed = excluded.changed, value = excluded.value";
            rows.prepare_cached(sql)?.execute(params![workspace, key, bytes, now(), value])?;
            Ok(Ok(if before.is_some() { Stored::Replaced } else { Stored::New }))
        })?
    }

    fn delete(&self, workspace: &Path, key: &str) -> Result<bool, KeepingError> {
        let sql = "DELETE FROM memory WHERE workspace = ?1 AND key = ?2";
        let gone = self
            .commit(|rows| rows.prepare_cached(sql)?.execute(params![bytes_of(workspace), key]));
        Ok(gone? > 0)
    }

    fn keys(&self, workspace: &Path) -> Result<Vec<MemoryKey>, KeepingError> {
        let sql = "SELECT key, bytes, changed FROM memory WHERE workspace = ?1 ORDER BY key";
        let key = |row: &Row<'_>| {
            Ok(MemoryKey { key: row.get(0)?, bytes: row.get(1)?, changed: at(row, 2)? })
        };
        let keys = self.look(|rows| {
            rows.prepare_cached(sql)?.query_map([bytes_of(workspace)], key)?.collect()
        });
        Ok(keys?)
    }

    fn remember(
        &self,
        workspace: &Path,
        fact: &str,
        scope: Scope,
    ) -> Result<Remembered, KeepingError> {
        let place = match scope {
            Scope::Workspace => bytes_of(workspace),
            Scope::User => &[],
        };
        self.commit(|rows| {
            let known =
                "SELECT id, fact, workspace, at FROM facts WHERE workspace = ?1 AND fact = ?2";
            let mut known = rows.prepare_cached(known)?;
            let found = known.query_row(params![place, fact], read_fact).optional()?;
            if let Some(fact) = found {
                return Ok(Ok(Remembered { fact, is_new: false }));
            }
            let count = "SELECT count(*) FROM facts WHERE workspace = ?1";
            let count: u32 = rows.prepare_cached(count)?.query_row([place], |row| row.get(0))?;
            if count >= MOST {
                return Ok(Err(full(&format!("it has {MOST} facts, which is the most"))));
            }
            let sql = "INSERT INTO facts (workspace, fact, at) VALUES (?1, ?2, ?3)
                       RETURNING id, fact, workspace, at";
            let fact =
                rows.prepare_cached(sql)?.query_row(params![place, fact, now()], read_fact)?;
            Ok(Ok(Remembered { fact, is_new: true }))
        })?
    }

    fn facts(&self, workspace: &Path) -> Result<Vec<Fact>, KeepingError> {
        let sql = "SELECT id, fact, workspace, at FROM facts WHERE workspace IN (?1, x'')
                   ORDER BY id";
        let facts = self.look(|rows| {
            rows.prepare_cached(sql)?.query_map([bytes_of(workspace)], read_fact)?.collect()
        });
        Ok(facts?)
    }

    fn forget(&self, workspace: &Path, number: i64) -> Result<bool, KeepingError> {
        let sql = "DELETE FROM facts WHERE id = ?2 AND workspace IN (?1, x'')";
        let gone = self
            .commit(|rows| rows.prepare_cached(sql)?.execute(params![bytes_of(workspace), number]));
        Ok(gone? > 0)
    }
}

/// How many keys a workspace has, and how many bytes their values.
fn amount(rows: &Connection, workspace: &[u8]) -> rusqlite::Result<(u32, i64)> {
    let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM memory WHERE workspace = ?1";
    rows.prepare_cached(sql)?.query_row([workspace], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn full(why: &str) -> KeepingError {
    KeepingError::new(format!(
        "the memory is full: {why}; delete what is not needed with `memory` and `delete`"
    ))
}

fn read_fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let place: Vec<u8> = row.get(2)?;
    let scope = if place.is_empty() { Scope::User } else { Scope::Workspace };
    Ok(Fact { number: row.get(0)?, fact: row.get(1)?, scope, at: at(row, 3)? })
}
