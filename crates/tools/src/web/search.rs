//! Who answers searches, and how each wants to be asked.

mod ask;
mod brave;
pub(super) mod choice;
mod duckduckgo;
mod fault;
mod hit;
mod provider;
mod searxng;
mod tavily;

pub use self::choice::{Key, ProviderName, SearchSettings, UnknownProvider};

pub(super) use self::ask::search;
pub(super) use self::fault::SearchFault;
pub(super) use self::hit::Hit;
pub(super) use self::provider::Question;
