//! What Toolgate keeps, in one SQLite file: the ledger and what stands beside it.
//!
//! Several processes may use one store at once. Nothing here decides anything, and nothing
//! that was acknowledged is lost. Secrets are taken out before anything is written.
//!
//! `database.rs` is the only place that opens SQLite.

mod database;
mod error;
mod schema;

pub use crate::error::StoreError;
