//! What Toolgate keeps, in one SQLite file: the ledger and what stands beside it.
//!
//! Several processes may use one store at once. Nothing here decides anything, and nothing
//! that was acknowledged is lost. Secrets are taken out before anything is written.
//!
//! Start reading at [`Store`] to write and at [`Audit`] to read; `database.rs` is the only
//! place that opens SQLite, `ledger/writer.rs` the only one that adds to the ledger.

pub mod approvals;
mod audit;
mod chain;
mod database;
mod error;
pub mod grants;
mod ledger;
mod run;
mod schema;
mod store;
mod time;

pub use crate::audit::Audit;
pub use crate::audit::filter::{Entries, Filter, Order};
pub use crate::audit::life::{FindCallError, Life};
pub use crate::audit::record::Record;
pub use crate::audit::stats::{Asked, Stats, Waiting};
pub use crate::audit::verify::{Fault, Verification, VerifyExportError, verify_export};
pub use crate::chain::{Head, InvalidHead};
pub use crate::error::StoreError;
pub use crate::ledger::SqliteLedger;
pub use crate::ledger::prepare::Redact;
pub use crate::store::Store;
