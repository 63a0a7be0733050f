//! A document read by a thread of this process, for programs that cannot start a reader.
//!
//! Time is limited, and a parser that panics is caught. One that overflows its stack is not, so
//! what is plainly nested too deeply is not parsed at all.

use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};

use super::unread::Unread;
use crate::formats::helper;
use crate::formats::pdf_text::{self, Answer, Request};

/// So many parsers at once, at most: one that takes too long cannot be ended, only left alone.
const MOST_THREADS: usize = 4;
/// Brackets within brackets that no document needs.
const DEEPEST: usize = 10_000;
/// How often a cancelled call is noticed.
const GLANCE: Duration = Duration::from_millis(50);

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Has the document read, and waits for it.
pub(super) fn ask(context: &CallContext, file: File, request: Request) -> Result<Answer, Unread> {
    let mut bytes = Vec::new();
    let read = file.take(helper::MOST_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| failed(&error.to_string()))?;
    if is_too_deep(&bytes) {
        return Ok(Answer::Broken("it is nested too deeply".to_owned()));
    }
    let place = Place::take().ok_or_else(|| {
        failed("several documents that take too long are still being read; try again later")
    })?;
    let (sender, receiver) = sync_channel(1);
    let work = move || {
        let answer = catch_unwind(AssertUnwindSafe(|| pdf_text::extract(&bytes, &request)));
        drop(place);
        // Nobody waits any more for what took too long.
        sender.send(answer.ok()).ok();
    };
    let started = thread::Builder::new().stack_size(helper::STACK).spawn(work);
    started.map_err(|error| failed(&error.to_string()))?;
    let deadline = Instant::now() + Duration::from_secs(helper::SECONDS);
    loop {
        match receiver.recv_timeout(GLANCE) {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                return Ok(Answer::Broken("its data makes no sense".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => context.check()?,
        }
        if Instant::now() > deadline {
            return Err(Unread::TooSlow);
        }
    }
}

/// Whether brackets that are open at the same time are too many. What is compressed is not seen.
fn is_too_deep(bytes: &[u8]) -> bool {
    let mut depth = 0_usize;
    bytes.iter().any(|byte| {
        match byte {
            b'[' | b'<' => depth += 1,
            b']' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 2 * DEEPEST
    })
}

/// One of the places for parsers.
#[derive(Debug)]
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let free = |running: usize| (running < MOST_THREADS).then_some(running + 1);
        RUNNING.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::AcqRel);
    }
}

fn failed(why: &str) -> ToolError {
    ToolError::new(ErrorKind::FileReadError, format!("the document cannot be read: {why}"))
}
