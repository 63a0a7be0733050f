//! What servers said about their tools.

use rusqlite::{OptionalExtension as _, params};
use toolgate_core::keeping::{KeepingError, Pins, ServerKey};

use super::columns::now;
use super::place::Shelf;

/// Stands for the server itself among its tools.
const ITSELF: &str = "";

impl Pins for Shelf {
    fn pinned(&self, server: &ServerKey, tool: &str) -> Result<Option<String>, KeepingError> {
        let sql = "SELECT said FROM pins WHERE name = ? AND way = ? AND tool = ?";
        let found = self.look(|rows| {
            let mut select = rows.prepare_cached(sql)?;
            select.query_row(params![server.name, server.way, tool], |row| row.get(0)).optional()
        });
        Ok(found?)
    }

    fn pin(&self, server: &ServerKey, tool: &str, said: &str) -> Result<(), KeepingError> {
        let sql = "INSERT OR REPLACE INTO pins (name, way, tool, said, at) VALUES (?, ?, ?, ?, ?)";
        let kept = self.commit(|rows| {
            rows.execute(sql, params![server.name, server.way, tool, said, now()])?;
            Ok(())
        });
        Ok(kept?)
    }

    fn learned(&self, server: &ServerKey) -> Result<Option<String>, KeepingError> {
        self.pinned(server, ITSELF)
    }

    fn learn(&self, server: &ServerKey, what: &str) -> Result<(), KeepingError> {
        self.pin(server, ITSELF, what)
    }

    fn forget(&self, name: &str) -> Result<(), KeepingError> {
        let gone = self.commit(|rows| {
            rows.execute("DELETE FROM pins WHERE name = ?", [name])?;
            Ok(())
        });
        Ok(gone?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_kept_for_the_server_that_said_it() {
        let state = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(state.path());
        let server = ServerKey { name: "github".into(), way: "npx github".into() };
        let another = ServerKey { way: "npx evil".into(), ..server.clone() };
        shelf.pin(&server, "search", "finds things").unwrap();
        shelf.learn(&server, "modern").unwrap();
        let again = Shelf::new(state.path());
        assert_eq!(again.pinned(&server, "search").unwrap().as_deref(), Some("finds things"));
        assert_eq!(again.pinned(&another, "search").unwrap(), None);
        assert_eq!(again.learned(&server).unwrap().as_deref(), Some("modern"));
        again.pin(&server, "search", "finds more").unwrap();
        assert_eq!(shelf.pinned(&server, "search").unwrap().as_deref(), Some("finds more"));
        shelf.forget("github").unwrap();
        assert_eq!(again.pinned(&server, "search").unwrap(), None);
    }
}
