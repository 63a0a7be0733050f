//! A sign of life for calls that take long, on a terminal only.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use toolgate_core::event::{Event, Events};

/// Calls shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows what is going on until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    task: Option<JoinHandle<()>>,
    bar: ProgressBar,
}

impl Progress {
    /// Starts watching; `total` is how many calls are expected. Shows nothing without a terminal.
    pub(crate) fn start(events: &Events, quiet: bool, total: usize) -> Self {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if hidden {
            return Self { task: None, bar };
        }
        let template = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        bar.set_style(template.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let task = tokio::spawn(follow(bar.clone(), events.subscribe(), total));
        Self { task: Some(task), bar }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.bar.finish_and_clear();
    }
}

async fn follow(
    bar: ProgressBar,
    mut events: tokio::sync::broadcast::Receiver<Event>,
    total: usize,
) {
    let mut ended = 0;
    let mut description = String::new();
    let patience = tokio::time::sleep(PATIENCE);
    let mut patience = std::pin::pin!(patience);
    let mut shown = false;
    loop {
        let event = tokio::select! {
            () = &mut patience, if !shown => {
                shown = true;
                show(&bar);
                continue;
            }
            event = events.recv() => event,
        };
        match event {
            Ok(Event::ToolCallStart { description: text, .. }) => description = text,
            Ok(Event::ToolCallEnd { .. }) => ended += 1,
            Ok(Event::ToolCallProgress { message, .. }) => {
                bar.set_message(format!("{description}: {message}"));
                continue;
            }
            // The person at the terminal needs it for the answer.
            Ok(Event::ToolConfirmationRequest { .. }) => {
                bar.set_draw_target(ProgressDrawTarget::hidden());
                shown = true;
            }
            Ok(Event::ToolConfirmationResponse { .. }) => show(&bar),
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
        bar.set_message(if total > 1 {
            format!("{ended} of {total} calls done")
        } else {
            description.clone()
        });
    }
}

fn show(bar: &ProgressBar) {
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(120));
}
