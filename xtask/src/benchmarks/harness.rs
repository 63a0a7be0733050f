//! Timing: whole processes, in turn, and the median of many rounds.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process;

/// Runs before the timed ones, to fill caches.
const WARM_UPS: u32 = 2;

/// One of the programs compared.
pub(super) struct Side<'a> {
    pub(super) name: &'static str,
    run: Box<dyn FnMut() -> Result<Duration> + 'a>,
}

impl<'a> Side<'a> {
    /// A side that times itself.
    pub(super) fn new(name: &'static str, run: impl FnMut() -> Result<Duration> + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }

    /// A side that is one command from start to exit.
    pub(super) fn command(name: &'static str, mut command: Command, accepted: Accepted) -> Self {
        Self::new(name, move || time(&mut command, accepted))
    }
}

/// Which exit codes count as having done the work.
#[derive(Debug, Clone, Copy)]
pub(super) enum Accepted {
    Success,
    /// Searchers exit with 1 when nothing is found.
    SuccessOrNothingFound,
}

impl Accepted {
    fn holds(self, status: ExitStatus) -> bool {
        match self {
            Self::Success => status.success(),
            Self::SuccessOrNothingFound => matches!(status.code(), Some(0 | 1)),
        }
    }
}

/// Our median against that of the fastest peer.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison {
    pub(super) ours: Duration,
    pub(super) peer: Duration,
    pub(super) peer_name: &'static str,
}

/// The median of one side on its own.
pub(super) fn measure(mut side: Side<'_>, rounds: u32) -> Result<Duration> {
    for _ in 0..WARM_UPS {
        (side.run)()?;
    }
    let times: Result<Vec<_>> = (0..rounds).map(|_| (side.run)()).collect();
    Ok(median(times?))
}

/// The median of each side, timed once per round in turn.
pub(super) fn medians<const N: usize>(
    mut sides: [Side<'_>; N],
    rounds: u32,
) -> Result<[Duration; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..WARM_UPS + rounds {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let time = (side.run)()?;
            times.extend((round >= WARM_UPS).then_some(time));
        }
    }
    Ok(times.map(median))
}

/// Times every side once per round, ours first, so that a busy moment of the machine
/// hits all of them.
pub(super) fn compare(
    mut ours: Side<'_>,
    mut peers: Vec<Side<'_>>,
    rounds: u32,
) -> Result<Comparison> {
    let mut our_times = Vec::new();
    let mut peer_times = vec![Vec::new(); peers.len()];
    for round in 0..WARM_UPS + rounds {
        let is_timed = round >= WARM_UPS;
        let time = (ours.run)()?;
        our_times.extend(is_timed.then_some(time));
        for (peer, times) in peers.iter_mut().zip(&mut peer_times) {
            let time = (peer.run)()?;
            times.extend(is_timed.then_some(time));
        }
    }
    let (peer, peer_name) = peers
        .iter()
        .zip(peer_times)
        .map(|(side, times)| (median(times), side.name))
        .min()
        .context("a comparison needs a peer")?;
    Ok(Comparison { ours: median(our_times), peer, peer_name })
}

/// The wall time of a command, from start to exit, its output read and dropped.
///
/// Output goes through a pipe: with `/dev/null` ripgrep notices and stops at the first match.
pub(super) fn time(command: &mut Command, accepted: Accepted) -> Result<Duration> {
    let errors = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
    let start = Instant::now();
    let mut child =
        command.spawn().with_context(|| format!("cannot start `{}`", process::render(command)))?;
    let output = child.stdout.take().context("stdout is piped")?;
    drain(output)?;
    let status = child.wait()?;
    let elapsed = start.elapsed();
    if !accepted.holds(status) {
        let said = text_of(errors)?;
        bail!("`{}`: {status}\n{said}", process::render(command));
    }
    Ok(elapsed)
}

fn drain(mut output: impl Read) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    while output.read(&mut buffer)? > 0 {}
    Ok(())
}

fn text_of(mut file: File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// The middle time, or the mean of the two in the middle.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let middle = times.len() / 2;
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    if times.len().is_multiple_of(2) {
        (at(middle.saturating_sub(1)) + at(middle)) / 2
    } else {
        at(middle)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn millis(times: &[u64]) -> Vec<Duration> {
        times.iter().copied().map(Duration::from_millis).collect()
    }

    #[test]
    fn the_median_ignores_outliers() {
        assert_eq!(median(millis(&[900, 3, 1])), Duration::from_millis(3));
        assert_eq!(median(millis(&[900, 3, 1, 5])), Duration::from_millis(4));
    }

    #[test]
    fn rounds_alternate_and_warm_ups_do_not_count() {
        let order = RefCell::new(String::new());
        let mut calls = 0;
        let ours = Side::new("ours", || {
            order.borrow_mut().push('o');
            calls += 1;
            // Slow until warm.
            Ok(Duration::from_secs(if calls <= 2 { 100 } else { 1 }))
        });
        let side = |name, mark, seconds| {
            let order = &order;
            Side::new(name, move || {
                order.borrow_mut().push(mark);
                Ok(Duration::from_secs(seconds))
            })
        };
        let peers = vec![side("slow", 's', 9), side("fast", 'f', 4)];
        let comparison = compare(ours, peers, 3).unwrap();
        assert_eq!(*order.borrow(), "osf".repeat(5));
        assert_eq!(
            comparison,
            Comparison {
                ours: Duration::from_secs(1),
                peer: Duration::from_secs(4),
                peer_name: "fast",
            }
        );
    }

    #[test]
    fn a_side_alone_is_measured_without_its_warm_ups() {
        let mut seconds = [100, 100, 3, 1, 2].into_iter();
        let side = Side::new("ours", || Ok(Duration::from_secs(seconds.next().unwrap())));
        assert_eq!(measure(side, 3).unwrap(), Duration::from_secs(2));
    }

    #[test]
    fn each_of_many_sides_has_its_median() {
        let side = |name, seconds| Side::new(name, move || Ok(Duration::from_secs(seconds)));
        let times = medians([side("a", 3), side("b", 1)], 3).unwrap();
        assert_eq!(times, [Duration::from_secs(3), Duration::from_secs(1)]);
    }

    #[test]
    fn more_output_than_a_pipe_holds_is_drained() {
        let mut command = Command::new("head");
        command.args(["-c", "1000000", "/dev/zero"]);
        time(&mut command, Accepted::Success).unwrap();
    }

    #[test]
    fn an_unexpected_exit_is_an_error_that_quotes_stderr() {
        let exits_with = |code| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("echo no luck >&2; exit {code}")]);
            command
        };
        let error = time(&mut exits_with(1), Accepted::Success).unwrap_err();
        assert!(error.to_string().contains("no luck"), "{error}");
        assert!(time(&mut exits_with(1), Accepted::SuccessOrNothingFound).is_ok());
        assert!(time(&mut exits_with(2), Accepted::SuccessOrNothingFound).is_err());
    }
}
