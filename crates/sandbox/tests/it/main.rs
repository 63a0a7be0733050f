//! What the sandbox promises, tried out for real.

mod ending;
mod support;
mod work;
