//! Starts programs for Toolgate: confined, watched, and with nothing left behind.
//!
//! Start reading at [`proxy`], the only way out for a confined program that was granted hosts.

pub mod proxy;
