//! Who may use a server: tokens, how they are got, and where they are kept.

mod callback;
mod kept;
mod oauth;
mod tokens;

pub use callback::Callback;
pub use oauth::{Identity, LoginError, OAuth, Open};
pub use tokens::{Refusal, Tokens};
