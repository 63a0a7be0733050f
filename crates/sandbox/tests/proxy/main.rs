//! What the proxy promises, over real sockets.

#[cfg(test)]
mod greeting;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod resolving;
#[cfg(test)]
mod smuggling;
#[cfg(test)]
mod socks;
#[cfg(test)]
mod spelling;
#[cfg(test)]
mod tunnel;
