//! What the gate promises, seen from outside the crate.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod bounding;
mod bus;
#[cfg(test)]
mod cancellation;
#[cfg(test)]
mod containment;
#[cfg(test)]
mod description;
#[cfg(test)]
mod events;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod results;
#[cfg(test)]
mod validation;
