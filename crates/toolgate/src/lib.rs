#![doc = include_str!("../../../README.md")]

pub use toolgate_core as core;
pub use toolgate_policy as policy;
pub use toolgate_sandbox as sandbox;
pub use toolgate_tools as tools;

/// What an embedder needs: to write tools, to put a gate in front of them, to answer its questions.
pub mod prelude {
    pub use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
    pub use toolgate_core::call::{Call, Outcome};
    pub use toolgate_core::context::Session;
    pub use toolgate_core::gate::Gate;
    pub use toolgate_core::prelude::*;
    pub use toolgate_core::registry::Registry;
    pub use toolgate_core::tool::typed;
    pub use toolgate_core::workspace::Workspace;
    pub use toolgate_policy::{Engine, Mode};
}
