//! What models keep: memory, todos, goals, reasoning.

mod columns;
mod dumps;
mod goal_rows;
mod goals;
mod memory;
mod pins;
mod place;
mod reasoning;
mod todos;
mod trail;

pub use place::Shelf;
