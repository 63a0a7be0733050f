//! Who may use a server: tokens, how they are got, and where they are kept.

mod callback;
mod kept;
mod login;
mod oauth;
mod tokens;

pub use kept::forget;
pub use login::{Identity, LoginError, Open};
pub use oauth::OAuth;
pub use tokens::{Refusal, Tokens};
