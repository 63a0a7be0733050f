//! Toolgate and the Model Context Protocol.
//!
//! [`server`] offers the tools behind a gate to any client, in both eras of the protocol: with a
//! handshake (up to 2025-11-25) and without (2026-07-28). [`guest`] is a client that shows what such a
//! server does.
//!
//! [`client`] is a connection to another server, in either era.
//!
//! Nothing here decides or executes: every call goes through the gate, and an answer of a client to
//! a question is worth what its owner says it is worth. Types of the protocol stay in this crate.

pub mod client;
pub mod guest;
pub mod server;
pub mod servers;
