//! The way into the process that reads what may be hostile, which is the host's own binary
//! started anew.
//!
//! A parser of PDF documents may loop, take all memory or overflow its stack, which ends the whole
//! process. So it runs in a process of its own, without the right to do anything but read what it
//! is given and print what it found.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::pdf_text::{self, Answer, Request};

/// The argument that asks for the reader; what is wanted is the next one.
pub(crate) const ARGUMENT: &str = "__toolgate-reader";
/// How much stack a parser gets.
pub(crate) const STACK: usize = 64 * 1024 * 1024;
/// How long a parser may compute, in seconds.
pub(crate) const SECONDS: u64 = 20;
/// The largest document that is read.
pub(crate) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// How much memory the reader may take.
const MOST_MEMORY: u64 = 1024 * 1024 * 1024;

static CALLED: AtomicBool = AtomicBool::new(false);

/// Becomes the reader if that is what this process was started for, and then never returns.
///
/// A program that lets models read files calls this as the first thing in its `main`. Without it
/// documents are read in the program's own process, where a hostile one can do more harm:
///
/// ```
/// toolgate_tools::helper::run_if_asked();
/// // …
/// ```
#[expect(clippy::exit, reason = "nothing of this process is left to be tidied up")]
pub fn run_if_asked() {
    let mut args = env::args_os().skip(1);
    if args.next().as_deref() != Some(OsStr::new(ARGUMENT)) {
        CALLED.store(true, Ordering::Relaxed);
        return;
    }
    let request = args.next().and_then(|request| request.into_string().ok());
    let done = request.ok_or(io::ErrorKind::InvalidInput.into()).and_then(|request| run(&request));
    std::process::exit(i32::from(done.is_err()));
}

/// Whether this program can serve as its own reader: otherwise, started anew, it would do
/// whatever it does.
pub(crate) fn is_available() -> bool {
    CALLED.load(Ordering::Relaxed)
}

fn run(request: &str) -> io::Result<()> {
    limit(Resource::As, MOST_MEMORY)?;
    limit(Resource::Cpu, SECONDS)?;
    limit(Resource::Core, 0)?;
    // It is told by the way it ends; nobody reads more.
    std::panic::set_hook(Box::new(|_| {}));
    let request: Request = serde_json::from_str(request)?;
    let mut bytes = Vec::new();
    io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
    let answer = on_a_large_stack(move || pdf_text::extract(&bytes, &request))?;
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &answer)?;
    stdout.flush()
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let rlimit = Rlimit { current: Some(most), maximum: Some(most) };
    Ok(setrlimit(resource, rlimit)?)
}

fn on_a_large_stack(work: impl FnOnce() -> Answer + Send + 'static) -> io::Result<Answer> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    let broken = || Answer::Broken("its data makes no sense".to_owned());
    Ok(thread.join().unwrap_or_else(|_| broken()))
}
