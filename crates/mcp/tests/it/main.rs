//! The server, with tools, prompts and resources made up for tests.
#![expect(clippy::disallowed_methods, reason = "tests run a conformance suite")]

#[cfg(test)]
mod changes;
#[cfg(test)]
mod client;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod everything;
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod questions;
