//! Other programs' permission files in, a Toolgate policy and a loss report out.
//!
//! Nothing is loosened: a call that the original asks about or denies is asked
//! about or denied by the result. Where a rule cannot be carried over exactly,
//! an allow rule is left out or made narrower, an ask or deny rule is made
//! broader, and a [`Loss`] says so.
//!
//! The text that comes out is read by a person and then saved as a policy file;
//! nothing here reads or writes files.
//!
//! ```
//! let settings = r#"{ "permissions": { "deny": ["Read(./.env)"] } }"#;
//! let imported = toolgate_policy::import::claude(settings, "settings.json")?;
//! assert!(imported.policy.contains(r#""Read(./.env)""#));
//! assert!(imported.losses.is_empty());
//! # Ok::<(), toolgate_policy::import::ImportError>(())
//! ```

mod claude;
mod codex;
mod draft;
mod gemini;
mod javascript;
mod node;
mod report;
mod words;

pub use claude::claude;
pub use codex::codex;
pub use gemini::gemini;
pub use report::{ImportError, Imported, Loss};
