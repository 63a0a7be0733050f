//! One call, looked at with the rules in force.

mod call;
mod complex;
mod environments;
mod files;
mod finding;
mod followed;
mod forms;
mod guarded;
mod hosts;
mod leaving;
mod path;
mod reach;
mod repository;
mod ruling;
mod shell;
mod web;
mod wish;

pub(crate) use self::call::Judge;
pub(crate) use self::ruling::{Asked, Setting};
