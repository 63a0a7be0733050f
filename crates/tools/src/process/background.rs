//! Commands of a session that run beside its calls.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_core::bounds::Whole;
use toolgate_core::spawn::{Spawned, Status};

use super::transcript::{News, Transcript};
use super::watch::watch as watch_command;

/// More commands than this do not run at once.
const MOST_RUNNING: usize = 256;
/// Of commands that have ended, this many are remembered.
const MOST_ENDED: usize = 1_000;

/// The background commands of a session. All of them end with it.
#[derive(Debug, Default)]
pub(crate) struct Background {
    jobs: Mutex<Jobs>,
    end: Ending,
}

#[derive(Debug, Default)]
struct Jobs {
    by_number: BTreeMap<u64, Arc<Job>>,
    last: u64,
}

/// Ends what runs when it is dropped.
#[derive(Debug, Default)]
struct Ending(CancellationToken);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A command in the background.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) line: String,
    started: Instant,
    transcript: Mutex<Transcript>,
    stop: CancellationToken,
    ended: watch::Receiver<Option<Over>>,
}

/// How a background command ended.
#[derive(Debug, Clone)]
pub(crate) struct Over {
    pub(crate) status: Status,
    pub(crate) after: Duration,
    pub(crate) notes: Vec<String>,
}

/// Too many run already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) most: usize,
}

impl Background {
    /// Makes sure that one more may run.
    pub(crate) fn room(&self) -> Result<(), TooMany> {
        let running = self.jobs().by_number.values().filter(|job| job.over().is_none()).count();
        if running < MOST_RUNNING { Ok(()) } else { Err(TooMany { most: MOST_RUNNING }) }
    }

    /// Takes over a command that was started.
    pub(crate) fn add(&self, line: &str, spawned: Spawned, whole: &Whole) -> io::Result<Arc<Job>> {
        let transcript = Transcript::create(whole)?;
        let mut jobs = self.jobs();
        jobs.last += 1;
        let number = jobs.last;
        let (tell, ended) = watch::channel(None);
        let job = Arc::new(Job {
            id: format!("shell_{number}"),
            line: line.to_owned(),
            started: Instant::now(),
            transcript: Mutex::new(transcript),
            stop: self.end.0.child_token(),
            ended,
        });
        jobs.by_number.insert(number, Arc::clone(&job));
        forget_old(&mut jobs.by_number);
        drop(jobs);
        tokio::spawn(follow(Arc::clone(&job), spawned, tell));
        Ok(job)
    }

    /// Returns which commands run now, as a warning about a command that runs beside them.
    pub(crate) fn interference(&self) -> Vec<String> {
        let jobs = self.jobs();
        let running = jobs.by_number.values().filter(|job| job.over().is_none());
        let lines: Vec<String> = running.map(|job| format!("`{}`", job.line)).collect();
        match lines.as_slice() {
            [] => Vec::new(),
            lines => vec![format!(
                "commands of this session run in the background and can change files while this one runs: {}",
                lines.join(", ")
            )],
        }
    }

    /// A command by its id.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Job>> {
        self.jobs().by_number.values().find(|job| job.id == id).cloned()
    }

    /// The ids of all commands, the newest last.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.jobs().by_number.values().map(|job| job.id.clone()).collect()
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    /// What it put out since the last time somebody asked.
    pub(crate) fn news(&self, most: usize) -> io::Result<News> {
        self.transcript().news(most)
    }

    /// The file that holds all it put out.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.transcript().path().map(PathBuf::from)
    }

    /// How it ended, if it has.
    pub(crate) fn over(&self) -> Option<Over> {
        self.ended.borrow().clone()
    }

    /// Waits until it has ended.
    pub(crate) async fn wait(&self) {
        let mut ended = self.ended.clone();
        // Whoever would tell is gone only when it has ended.
        ended.wait_for(Option::is_some).await.ok();
    }

    /// Ends it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn follow(job: Arc<Job>, spawned: Spawned, tell: watch::Sender<Option<Over>>) {
    let ended =
        watch_command(spawned, None, &job.stop, |_, text| job.transcript().push(text)).await;
    let (status, notes) = match ended {
        Ok(end) => (end.ended.status, end.ended.notes),
        Err(error) => (Status::Lost, vec![format!("its output cannot be read: {error}")]),
    };
    tell.send_replace(Some(Over { status, after: job.started.elapsed(), notes }));
}

fn forget_old(jobs: &mut BTreeMap<u64, Arc<Job>>) {
    let over: Vec<u64> =
        jobs.iter().filter(|(_, job)| job.over().is_some()).map(|(number, _)| *number).collect();
    let too_many = over.len().saturating_sub(MOST_ENDED);
    for number in over.into_iter().take(too_many) {
        jobs.remove(&number);
    }
}
