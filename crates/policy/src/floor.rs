//! What ordinary rules cannot lower.

pub mod address;
pub mod protected;
pub mod sensitive;
pub mod system;
