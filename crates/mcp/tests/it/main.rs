//! The server, with tools, prompts and resources made up for tests.
#![expect(clippy::disallowed_methods, reason = "tests run a conformance suite")]

#[cfg(test)]
mod client;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_client;
#[cfg(test)]
#[path = "../../examples/everything/everything.rs"]
mod everything;
