//! The tables, and how older ones become newer ones.

use rusqlite::{Connection, Transaction};

/// What makes version n out of version n - 1, from version 1 on. Only ever added to.
const STEPS: &[&str] = &[
    include_str!("../migrations/V1__ledger.sql"),
    include_str!("../migrations/V2__undo.sql"),
    include_str!("../migrations/V3__approvals.sql"),
    include_str!("../migrations/V4__grants_reach.sql"),
    include_str!("../migrations/V5__keeping.sql"),
    include_str!("../migrations/V6__seen_files.sql"),
    include_str!("../migrations/V7__pins.sql"),
];

/// The version this program reads and writes.
pub(crate) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// The version of a database; 0 is an empty one.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// Brings a database up to date, all of it or nothing.
pub(crate) fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let done = usize::try_from(version(transaction)?).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if done < STEPS.len() {
        transaction.pragma_update(None, "user_version", known())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_given_before_their_reach_was_kept_have_none() {
        #[expect(clippy::disallowed_methods, reason = "for this test alone")]
        let mut connection = Connection::open_in_memory().unwrap();
        for step in STEPS.iter().take(3) {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 3).unwrap();
        let old = "INSERT INTO grants VALUES ('a', 's', '/w', '[]', NULL, NULL, 0, 'x')";
        connection.execute(old, []).unwrap();
        let transaction = connection.transaction().unwrap();
        migrate(&transaction).unwrap();
        transaction.commit().unwrap();
        let reach: Option<String> =
            connection.query_row("SELECT reach FROM grants", [], |row| row.get(0)).unwrap();
        assert_eq!((reach, version(&connection).unwrap()), (None, known()));
    }

    #[test]
    fn a_store_from_before_anything_was_kept_loses_nothing_and_can_keep() {
        #[expect(clippy::disallowed_methods, reason = "for this test alone")]
        let mut connection = Connection::open_in_memory().unwrap();
        for step in STEPS.iter().take(4) {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 4).unwrap();
        let old = "INSERT INTO checkpoints VALUES (x'2f77', 'before', 7, 1)";
        connection.execute(old, []).unwrap();
        let transaction = connection.transaction().unwrap();
        migrate(&transaction).unwrap();
        migrate(&transaction).unwrap();
        transaction.commit().unwrap();
        let kept: i64 =
            connection.query_row("SELECT watch FROM checkpoints", [], |row| row.get(0)).unwrap();
        assert_eq!((kept, version(&connection).unwrap()), (7, known()));
        let goal =
            "INSERT INTO goals (workspace, title, criteria, status, session, created, changed)
                    VALUES (x'2f77', 't', '[]', 'active', 's', 0, 0)";
        connection.execute(goal, []).unwrap();
        connection.execute(goal, []).expect_err("one goal is active at most");
    }
}
