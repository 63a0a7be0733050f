//! What a rule says about the arguments of a call.

pub mod command;
pub mod condition;
pub mod domain;
pub mod folder;
pub mod path;
pub mod regular;

pub use command::{CommandPattern, CommandText};
pub use condition::{Condition, Operator};
pub use domain::DomainPattern;
pub use folder::FolderPattern;
pub use path::{PathPattern, Places};
pub use regular::Regular;
