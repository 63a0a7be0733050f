//! The way into the helper process, which is the host's own binary started anew.

use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{sys, warden};

/// The argument that asks for the helper.
pub(crate) const ARGUMENT: &str = "__toolgate-warden";
/// The argument that asks for one that is apart.
pub(crate) const APART_ARGUMENT: &str = "__toolgate-warden-apart";

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
    let is_asked = |argument: &str| asked.as_deref() == Some(OsStr::new(argument));
    if is_asked(ARGUMENT) || is_asked(APART_ARGUMENT) {
        sys::exit_now(warden::run(is_asked(APART_ARGUMENT)));
    }
    CALLED.store(true, Ordering::Relaxed);
}

/// Whether this program can serve as its own helper: otherwise, started anew, it would do
/// whatever it does.
pub(crate) fn is_available() -> bool {
    CALLED.load(Ordering::Relaxed)
}
