#![doc = include_str!("../../../README.md")]

pub use toolgate_core as core;
pub use toolgate_policy as policy;
pub use toolgate_tools as tools;
