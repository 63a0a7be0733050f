//! What Toolgate keeps, in one SQLite file: the ledger and what stands beside it.
//!
//! Several processes may use one store at once. Nothing here decides anything, and nothing
//! that was acknowledged is lost. Secrets are taken out before anything is written.
//!
//! Start reading at [`Store`] to write and at [`Audit`] to read; `database.rs` is the only
//! place that opens SQLite, `ledger/writer.rs` the only one that adds to the ledger.

pub mod approvals;
mod archive;
mod audit;
mod blobs;
mod chain;
mod changes;
mod database;
mod disk;
mod error;
mod generations;
pub mod grants;
mod history;
mod index;
mod journal;
mod ledger;
mod prune;
mod records;
mod run;
mod scan;
mod schema;
mod seen;
mod shelf;
mod store;
mod time;
mod undo;

pub use crate::archive::KeepError;
pub use crate::audit::Audit;
pub use crate::audit::filter::{Entries, Filter, Order};
pub use crate::audit::life::{FindCallError, Life};
pub use crate::audit::record::Record;
pub use crate::audit::stats::{Asked, Stats, Waiting};
pub use crate::audit::verify::{Fault, Verification, VerifyExportError, verify_export};
pub use crate::blobs::BlobError;
pub use crate::chain::{Head, InvalidHead};
pub use crate::changes::{ChangeStore, Checkpoint};
pub use crate::error::StoreError;
pub use crate::history::{Differences, PastChange};
pub use crate::journal::FileJournal;
pub use crate::ledger::SqliteLedger;
pub use crate::ledger::kept_head::kept_head;
pub use crate::ledger::prepare::Redact;
pub use crate::prune::{PruneLimits, Pruned};
pub use crate::seen::KeptFiles;
pub use crate::shelf::Shelf;
pub use crate::store::Store;
pub use crate::undo::{
    Action, Conflict, Force, LineCounts, Reason, Refusal, Taken, Target, UndoError, UndoRequest,
    Undone, Unrestored,
};
