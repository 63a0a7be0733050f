//! What models thought, by session.

use std::path::Path;

use rusqlite::{Connection, Row, params};
use toolgate_core::context::Session;
use toolgate_core::id::SessionId;
use toolgate_core::keeping::{KeepingError, Reasoning, Thought, ThoughtKind};

use super::columns::{at, now, one_of};
use super::place::Shelf;
use crate::records::bytes_of;

/// How many thoughts are kept, of all sessions together; the oldest go first.
const MOST: i64 = 50_000;
/// How many bytes of a thought are kept.
const LONGEST: usize = 32 * 1024;

impl Reasoning for Shelf {
    fn record(&self, session: &Session, text: &str) -> Result<(), KeepingError> {
        let workspace = session.workspace().root();
        let written =
            self.commit(|rows| add(rows, workspace, session.id(), ThoughtKind::Thought, text));
        Ok(written?)
    }

    fn read(
        &self,
        session: &Session,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Thought>, KeepingError> {
        let sql = "SELECT text, kind, at FROM reasoning WHERE session = ?1 AND workspace = ?2
                   ORDER BY id DESC";
        let wanted: Vec<String> = query.map(|query| words(query).collect()).unwrap_or_default();
        let found = self.look(|rows| {
            let mut rows = rows.prepare_cached(sql)?;
            let workspace = bytes_of(session.workspace().root());
            let thoughts = rows.query_map(params![session.id().as_str(), workspace], thought)?;
            let fits = |thought: &rusqlite::Result<Thought>| {
                thought.as_ref().map_or(true, |thought| matches(&thought.text, &wanted))
            };
            thoughts.filter(fits).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
        });
        Ok(found?)
    }
}

/// Writes down a thought, and forgets the oldest where there are too many.
pub(super) fn add(
    rows: &Connection,
    workspace: &Path,
    session: &SessionId,
    kind: ThoughtKind,
    text: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO reasoning (workspace, session, at, kind, text)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let text = shortened(text);
    let (place, session) = (bytes_of(workspace), session.as_str());
    rows.prepare_cached(sql)?.execute(params![place, session, now(), kind.name(), text])?;
    let old = rows.last_insert_rowid().saturating_sub(MOST);
    if old > 0 {
        rows.prepare_cached("DELETE FROM reasoning WHERE id <= ?1")?.execute([old])?;
    }
    Ok(())
}

fn thought(row: &Row<'_>) -> rusqlite::Result<Thought> {
    let kind = one_of(row, 1, &ThoughtKind::ALL, ThoughtKind::name)?;
    Ok(Thought { text: row.get(0)?, kind, at: at(row, 2)? })
}

fn shortened(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let (kept, left) = text.split_at(text.floor_char_boundary(LONGEST));
    format!("{kept}\n[{} bytes more were not kept]", left.len())
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether each wanted word is the beginning of a word of the text.
fn matches(text: &str, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let words: Vec<String> = words(text).collect();
    wanted.iter().all(|wanted| words.iter().any(|word| word.starts_with(wanted.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_query_must_begin_a_word() {
        let check = |query: &str| {
            matches("The Cache-Layer fails: 100% of Größe_tests", &words(query).collect::<Vec<_>>())
        };
        for query in ["", "cache", "LAYER cache", "fail", "größe", "100%", "%", "_", "tests"] {
            assert!(check(query), "{query}");
        }
        for query in ["ache", "cache missing", "x", "10 20"] {
            assert!(!check(query), "{query}");
        }
    }

    #[test]
    fn what_is_very_long_is_cut_between_letters() {
        let long = "ä".repeat(LONGEST);
        let short = shortened(&long);
        assert!(short.starts_with('ä') && short.ends_with("[32768 bytes more were not kept]"));
        assert_eq!(shortened("short"), "short");
    }
}
