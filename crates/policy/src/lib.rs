//! Facts about a tool call in, a decision out.
//!
//! This crate decides whether a call may run. It starts no process, opens no
//! socket, knows no clock and looks at no file: whatever a decision depends on
//! is handed to it as [`Facts`].
//!
//! Start reading at [`Policy`], the one question asked of this crate, then
//! [`ModePolicy`], the answer in force today: modes by risk, the boundary of
//! the workspace, and the files that govern other programs.
//!
//! ```
//! use toolgate_policy::{Decision, Effect, Facts, Mode, ModePolicy, Policy, Risk};
//!
//! let policy = ModePolicy::new(Mode::Default);
//! let search = Facts::new("grep", Effect::Read, Risk::Low);
//! assert_eq!(policy.decide(&search).decision, Decision::Allow);
//!
//! let removal = Facts::new("delete_file", Effect::Change, Risk::High);
//! assert_eq!(policy.decide(&removal).decision, Decision::Ask);
//! ```

pub mod decision;
pub mod facts;
#[cfg(feature = "import")]
pub mod import;
pub mod mode;
pub mod mode_policy;
pub mod protected;
pub mod shell;

pub use decision::{Decision, Policy, Verdict};
pub use facts::{Access, Effect, Facts, PathFact, Place, Risk};
pub use mode::Mode;
pub use mode_policy::ModePolicy;
