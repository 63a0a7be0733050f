//! The way into the helper process, which is the host's own binary started anew.

use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{sys, warden};

/// The argument that asks for the helper.
pub(crate) const ARGUMENT: &str = "__toolgate-warden";

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
    let is_asked = env::args_os().nth(1).is_some_and(|first| first == OsStr::new(ARGUMENT));
    if is_asked {
        sys::exit_now(warden::run());
    }
    CALLED.store(true, Ordering::Relaxed);
}

/// Whether this program can serve as its own helper: otherwise, started anew, it would do
/// whatever it does.
pub(crate) fn is_available() -> bool {
    CALLED.load(Ordering::Relaxed)
}
