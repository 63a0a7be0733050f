//! Fetching from the web and searching it.
//!
//! Nothing here goes anywhere but to public addresses, checked after names were looked up and
//! connected to as checked, unless the user named the very host. See `docs/web.md`.

mod access;
mod body;
mod cache;
mod client;
mod fault;
mod fetched;
mod follow;
mod manners;
mod page;
mod place;
mod private_host;
mod resolve;
mod robots;
pub mod search;
mod secret;
mod settings;

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

pub use self::access::WebAccess;
pub use self::client::WebClient;
pub use self::private_host::{InvalidHost, PrivateHost};
pub use self::resolve::{Resolve, SystemResolver};
pub use self::secret::Secret;
pub use self::settings::{Limits, WebSettings};

tools! {
    web_fetch::WebFetch,
    web_search::WebSearch,
}
