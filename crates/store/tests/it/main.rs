//! The store as others use it: several processes, killed at any moment, and people who tamper.

mod disk;
mod killing;
mod permissions;
mod processes;
mod tampering;
mod writer;
