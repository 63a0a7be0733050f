//! Giving up what a process could do beyond its user's rights.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use toolgate_policy::rule::Sandbox;

/// Processes a command may have where it is the only one that counts.
const PROCESSES: u64 = 4096;
/// Bytes of a file that a command writes, at most.
const LARGEST_FILE: u64 = 16 << 30;
/// Bytes of a file that a command writes which may write temporary files only, at most.
const LARGEST_TEMPORARY: u64 = 1 << 30;

/// Gives up all capabilities, now and for whatever runs later.
pub(crate) fn drop_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    for capability in CapabilitySet::all().iter() {
        // Whoever may not do this has none to lose; it is looked at below.
        remove_capability_from_bounding_set(capability).ok();
    }
    clear_ambient_capability_set().ok();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Limits that keep one command from being in the way of all others.
pub(crate) fn limit(is_alone: bool, profile: Sandbox) -> io::Result<()> {
    at_most(Resource::Core, 0)?;
    at_most(
        Resource::Fsize,
        match profile {
            Sandbox::ReadOnly => LARGEST_TEMPORARY,
            _ => LARGEST_FILE,
        },
    )?;
    if is_alone {
        at_most(Resource::Nproc, PROCESSES)?;
    }
    Ok(())
}

fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let limit = Some(getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most)));
    Ok(setrlimit(resource, Rlimit { current: limit, maximum: limit })?)
}
