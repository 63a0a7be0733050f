//! What the sandbox promises, tried out for real.
#![expect(clippy::disallowed_methods, reason = "hosts are started to be killed")]

mod ending;
mod guarding;
mod killed;
mod support;
mod table;
mod work;
