//! What ordinary rules cannot lower.

pub mod address;
mod names;
pub mod protected;
pub mod sensitive;
pub mod system;
