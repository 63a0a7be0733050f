//! The pipeline every call passes through.
//!
//! ```text
//! Call ─▶ Validated ─▶ Judged ─▶ Permit ─▶ Executed ─▶ Outcome
//! ```
//!
//! Each stage consumes the type before it, so none can be skipped: execution
//! takes a [`permit::Permit`], and only settling a judged call makes one.
//! Every stage ends in the next one or in a result that says what went wrong.

mod again;
mod asking;
mod attach;
mod batch;
mod choosing;
mod contain;
mod finish;
mod frozen;
mod hooks;
mod judge;
mod parts;
pub mod permit;
mod pipeline;
mod prepare;
mod reasons;
mod record;
mod run;
mod settings;
mod stage;
mod timing;
mod trail;

pub use batch::Schedule;
pub use pipeline::{Gate, GateBuilder};
pub use settings::GateSettings;
pub use stage::{Judged, Rejected, Validated};
