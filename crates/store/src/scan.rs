//! Everything in some folders, so that what a command changed can be found.
//!
//! A [`Tree`] is the state at one moment. [`Pass`] brings one up to date: it visits every folder,
//! but reads only files whose metadata changed; with a [`Watcher`] it visits only what events
//! name. Contents of small files are kept, so that they can be put back. What is not looked into
//! is remembered, too: nothing below it can be mistaken for something that a command made.

mod compare;
mod contents;
pub(crate) mod crew;
mod entry;
mod ignoring;
mod pass;
mod tree;
mod visit;
mod watcher;

pub(crate) use compare::{Unlisted, compare, differing};
pub(crate) use entry::{Content, Entry, Hidden, HiddenEntry};
pub(crate) use ignoring::IgnoreCache;
pub(crate) use pass::{Moment, Pass};
pub(crate) use tree::{Folder, Listing, Rules, Tree};
pub(crate) use watcher::{Happened, Setup, Watcher};
