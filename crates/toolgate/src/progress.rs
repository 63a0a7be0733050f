//! A sign of life for calls that take long, on a terminal only.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use toolgate_core::event::{Event, Events};

/// Calls shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the sign of life moves.
const TICK: Duration = Duration::from_millis(120);

/// The line of the terminal that shows progress, shared with whoever else writes there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Screen {
    line: Arc<Mutex<Line>>,
}

#[derive(Debug, Default)]
struct Line {
    bar: Option<ProgressBar>,
    /// How many want the terminal for themselves.
    taken: usize,
    quiet_until: Option<Instant>,
}

impl Screen {
    /// Takes progress off the screen until the guard is dropped.
    pub(crate) fn take(&self) -> Taken {
        let mut line = self.lock();
        line.taken += 1;
        line.wipe();
        Taken { screen: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, message: &str) {
        let mut line = self.lock();
        if line.taken > 0 || line.quiet_until.is_none_or(|until| Instant::now() < until) {
            return;
        }
        let bar = line.bar.get_or_insert_with(new_bar);
        bar.set_message(message.to_owned());
        bar.tick();
    }
}

impl Line {
    fn wipe(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn be_patient(&mut self) {
        self.quiet_until = Some(Instant::now() + PATIENCE);
    }
}

fn new_bar() -> ProgressBar {
    let template = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let style = template.unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

/// Keeps progress off the screen.
#[derive(Debug)]
pub(crate) struct Taken {
    screen: Screen,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut line = self.screen.lock();
        line.taken = line.taken.saturating_sub(1);
        line.be_patient();
    }
}

/// Shows what is going on until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    task: Option<JoinHandle<()>>,
    screen: Screen,
}

impl Progress {
    /// Starts watching; `total` is how many calls are expected. Shows nothing without a terminal.
    pub(crate) fn start(screen: &Screen, events: &Events, quiet: bool, total: usize) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        screen.lock().be_patient();
        let task = visible.then(|| tokio::spawn(follow(screen.clone(), events.subscribe(), total)));
        Self { task, screen: screen.clone() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.screen.lock().wipe();
    }
}

/// More of a line that a command printed is not shown while it runs.
const LINE: usize = 200;

async fn follow(screen: Screen, mut events: Receiver<Event>, total: usize) {
    let mut tick = tokio::time::interval(TICK);
    let mut ended = 0;
    let mut description = String::new();
    let mut detail = String::new();
    loop {
        tokio::select! {
            _ = tick.tick() => {
                if total > 1 {
                    screen.show(&format!("{ended} of {total} calls done"));
                } else if !description.is_empty() {
                    screen.show(&format!("{description}{detail}"));
                }
            }
            event = events.recv() => match event {
                Ok(Event::ToolCallStart { description: text, .. }) => description = text,
                Ok(Event::ToolCallEnd { .. }) => ended += 1,
                Ok(Event::ToolCallProgress { message, .. }) => detail = format!(": {message}"),
                Ok(Event::ToolCallOutput { text, .. }) => {
                    let last = text.lines().rev().find(|line| !line.trim().is_empty());
                    let last = last.map(|line| line.chars().take(LINE).collect::<String>());
                    detail = last.map_or(detail, |last| format!(" | {last}"));
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }
}
