//! The pipeline every call passes through.
//!
//! ```text
//! Call ─▶ Validated ─▶ Judged ─▶ Permit ─▶ Executed ─▶ Outcome
//! ```
//!
//! Each stage consumes the type before it, so none can be skipped: execution
//! takes a [`permit::Permit`], and only settling a judged call makes one.
//! Every stage ends in the next one or in a result that says what went wrong.

mod batch;
mod contain;
mod finish;
pub mod permit;
mod pipeline;
mod run;
mod settings;
mod stage;

pub use batch::Schedule;
pub use pipeline::{Gate, GateBuilder};
pub use settings::GateSettings;
pub use stage::{Judged, Rejected, Validated};
