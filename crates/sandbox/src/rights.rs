//! Giving up what a process could do beyond its user's rights.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Processes a command may have where it is the only one that counts.
const PROCESSES: u64 = 4096;

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
pub(crate) fn limit(is_alone: bool) -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none)?;
    if is_alone {
        let old = getrlimit(Resource::Nproc);
        let limit = Some(old.maximum.map_or(PROCESSES, |maximum| maximum.min(PROCESSES)));
        setrlimit(Resource::Nproc, Rlimit { current: limit, maximum: limit })?;
    }
    Ok(())
}
