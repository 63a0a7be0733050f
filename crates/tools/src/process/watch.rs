//! A command from its start to its end.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolgate_core::spawn::{Ended, Spawned, Stop};

use super::output::{Output, Stream};

/// How long a command that was asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is still waited for once everything has ended: somebody outside may have been
/// handed the pipe.
const DRAIN: Duration = Duration::from_millis(500);
/// Without a limit, a command may run this long.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// How a command ended, and whether that was its own doing.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) ended: Ended,
    pub(crate) why: Why,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// By itself.
    Itself,
    /// It took too long.
    TimedOut,
    /// Nobody wants it any more.
    Cancelled,
}

/// Takes what a command puts out until it has ended, which it does when it takes too long or
/// is cancelled. Nothing of it is left then.
pub(crate) async fn watch(
    spawned: Spawned,
    limit: Option<Duration>,
    cancellation: &CancellationToken,
    mut take: impl FnMut(Stream, &str),
) -> io::Result<End> {
    let Spawned { stdout, stderr, mut process, .. } = spawned;
    let mut output = Output::new(stdout, stderr)?;
    let now = Instant::now();
    let mut deadline = now + limit.unwrap_or(FOR_EVER);
    let mut why = Why::Itself;
    let ended = loop {
        let is_stopping = why != Why::Itself;
        tokio::select! {
            ended = process.wait() => break ended,
            Some((stream, text)) = output.next() => take(stream, text),
            () = cancellation.cancelled(), if !is_stopping => {
                why = Why::Cancelled;
                process.stop(Stop::Terminate);
                deadline = Instant::now() + GRACE;
            }
            () = sleep_until(deadline) => {
                if is_stopping {
                    process.stop(Stop::Kill);
                    deadline = Instant::now() + GRACE;
                } else {
                    why = Why::TimedOut;
                    process.stop(Stop::Terminate);
                    deadline = Instant::now() + GRACE;
                }
            }
        }
    };
    let drained = Instant::now() + DRAIN;
    loop {
        tokio::select! {
            piece = output.next() => match piece {
                Some((stream, text)) => take(stream, text),
                None => break,
            },
            () = sleep_until(drained) => break,
        }
    }
    Ok(End { ended, why })
}
