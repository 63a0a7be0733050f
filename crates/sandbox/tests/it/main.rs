//! What the sandbox promises, tried out for real.
#![expect(clippy::disallowed_methods, reason = "hosts are started to be killed")]

#[cfg(test)]
mod beyond;
mod ending;
#[cfg(test)]
mod everywhere;
#[cfg(test)]
mod guarding;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod putting_back;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sight;
#[cfg(test)]
mod support;
#[cfg(test)]
mod table;
#[cfg(test)]
mod work;
