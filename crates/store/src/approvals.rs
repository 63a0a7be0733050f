//! Questions that any process on this store may answer.
//!
//! Who asks keeps an [`Asking`]; who answers opens a [`Desk`]. The file decides who was first.

mod asking;
mod desk;

pub use asking::Asking;
pub use desk::{AnswerError, Desk, FindError, OpenRequest};
