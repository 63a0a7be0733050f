//! Starts programs: confined, watched, and with nothing left behind.
//!
//! This crate decides nothing. It gets an [`Order`](toolgate_core::spawn::Order) that says how
//! far a program may reach and either enforces that or starts nothing.
//!
//! Four kinds of processes take part. The host has a [`SandboxSpawner`]. It starts one *warden*,
//! the same binary again ([`helper`]), which forks a *supervisor* per command, which starts the
//! *command*. Start reading at `spawner.rs`, then follow an order: `link.rs`, `warden.rs`,
//! `supervisor.rs`, `launch.rs`.

#[cfg(not(target_os = "linux"))]
compile_error!("programs can be confined on Linux only");

mod canary;
mod channel;
mod claim;
mod code;
mod copies;
mod event;
mod guard;
pub mod helper;
mod home;
mod identity;
mod inside;
mod keepsake;
mod landlock;
mod launch;
mod link;
pub mod memory;
mod mounts;
mod place;
mod prepared;
mod probe;
mod process;
pub mod proxy;
mod raw;
mod repository;
mod rights;
mod scratch;
mod seccomp;
mod secrets;
mod settings;
mod spawner;
mod supervisor;
mod survey;
mod sys;
mod tree;
mod view;
mod warden;
mod wire;

pub use crate::probe::findings::Finding;
pub use crate::settings::Settings;
pub use crate::spawner::SandboxSpawner;

/// The guide's example is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sandbox.md")]
struct Guide;
