//! The store as others use it: several processes, killed at any moment, and people who tamper.

#[cfg(test)]
mod desk;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod grants;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod killing;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod shelf;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod undo_attacks;
#[cfg(test)]
mod undo_events;
#[cfg(test)]
mod undo_index;
#[cfg(test)]
mod undo_killed;
#[cfg(test)]
mod undo_limits;
#[cfg(test)]
mod undo_random;
#[cfg(test)]
mod writer;
