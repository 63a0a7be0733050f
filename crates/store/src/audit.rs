//! Reading the ledger.

pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod life;
pub(crate) mod record;
pub(crate) mod stats;
pub(crate) mod verify;

use std::io::{self, Write};
use std::path::Path;

use self::filter::{Entries, Filter, Order};
use self::life::{FindCallError, Life};
use self::stats::Stats;
use self::verify::Verification;
use crate::chain::Head;
use crate::database::Database;
use crate::error::StoreError;

/// The ledger of a store, open for reading.
#[derive(Debug)]
pub struct Audit {
    database: Database,
}

impl Audit {
    /// Opens the ledger in a folder; there is none where nothing was ever recorded.
    ///
    /// # Errors
    ///
    /// When there is a file that cannot be read.
    pub fn open(folder: &Path) -> Result<Option<Self>, StoreError> {
        Ok(Database::open_existing(folder)?.map(|database| Self { database }))
    }

    /// The entries that pass a filter, read as they are asked for.
    pub fn entries(&self, filter: &Filter, order: Order) -> Entries<'_> {
        Entries::new(&self.database, filter, order)
    }

    /// What happened to a call, found by its id or by a beginning or an end no other id has.
    ///
    /// # Errors
    ///
    /// When there is no such call, or more than one.
    pub fn call(&self, id: &str) -> Result<Life, FindCallError> {
        life::find(&self.database, id)
    }

    /// What happened to one call of one session.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn life(&self, session: &str, call: &str) -> Result<Life, StoreError> {
        life::load(&self.database, session, call)
    }

    /// The last entry.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn head(&self) -> Result<Head, StoreError> {
        Head::load(self.database.reader()).map_err(|error| self.database.explain(error))
    }

    /// Looks whether anything was changed, taken out, put in or moved; whether what led to the
    /// given heads is still there; and whether calls are missing that other tables know.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read at all.
    pub fn verify(
        &self,
        heads: impl IntoIterator<Item = Head>,
    ) -> Result<Verification, StoreError> {
        verify::verify(&self.database, heads.into_iter().collect())
    }

    /// Looks at the last entries only, as far as they follow from those before.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read at all.
    pub fn verify_last(&self, count: u64) -> Result<Verification, StoreError> {
        verify::verify_last(&self.database, count)
    }

    /// Looks through the whole file for damage; tells of some of it, in the words of SQLite.
    ///
    /// # Errors
    ///
    /// When the file cannot be read at all.
    pub fn damage(&self) -> Result<Vec<String>, StoreError> {
        self.database.damage()
    }

    /// Writes entries as JSON lines. The last line is the head, unless some were left out.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read or the lines cannot be written.
    pub fn export(&self, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
        export::export(&self.database, filter, out)
    }

    /// Counts what happened.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, StoreError> {
        stats::count(self.entries(filter, Order::OldestFirst))
    }
}

#[cfg(test)]
mod tests;
