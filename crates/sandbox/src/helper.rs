//! The way into the helper process, which is the host's own binary started anew.

use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::wire::Network;
use crate::{sys, warden};

/// The argument that asks for the helper.
pub(crate) const ARGUMENT: &str = "__toolgate-warden";
/// The argument that asks for one in an empty network.
pub(crate) const APART_ARGUMENT: &str = "__toolgate-warden-apart";
/// The argument that asks for one in the network of a session.
pub(crate) const SESSION_ARGUMENT: &str = "__toolgate-warden-session";

static CALLED: AtomicBool = AtomicBool::new(false);

/// Becomes the helper if that is what this process was started for, and then never returns.
///
/// A program that uses a [`SandboxSpawner`](crate::SandboxSpawner) calls this as the very first thing
/// in its `main`, before it starts threads, reads settings or looks at its arguments:
///
/// ```
/// toolgate_sandbox::helper::run_if_asked();
/// // …
/// ```
pub fn run_if_asked() {
    let asked = env::args_os().nth(1);
    let network = match asked.as_deref().and_then(OsStr::to_str) {
        Some(ARGUMENT) => Some(Network::Own),
        Some(APART_ARGUMENT) => Some(Network::Empty),
        Some(SESSION_ARGUMENT) => Some(Network::Session),
        _ => None,
    };
    if let Some(network) = network {
        sys::exit_now(warden::run(network));
    }
    CALLED.store(true, Ordering::Relaxed);
}

/// Whether this program can serve as its own helper: otherwise, started anew, it would do
/// whatever it does.
pub(crate) fn is_available() -> bool {
    CALLED.load(Ordering::Relaxed)
}
