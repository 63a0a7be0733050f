//! The store as others use it: several processes, killed at any moment, and people who tamper.

mod desk;
mod disk;
mod journal;
mod killing;
mod permissions;
mod processes;
mod tampering;
mod undo;
mod undo_attacks;
mod undo_killed;
mod undo_limits;
mod undo_random;
mod writer;
