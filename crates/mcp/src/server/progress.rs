//! Signs of life, for clients that asked for them.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::ApprovalId;
use toolgate_core::event::{Event, Portion};
use toolgate_core::gate::Gate;
use toolgate_core::id::CallId;

/// What commands print is told no more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is told that a person is waited for.
const REMINDER: Duration = Duration::from_secs(5);
/// More of a line that a command printed is not told.
const LINE: usize = 200;

/// Tells a client how a call goes.
#[derive(Debug)]
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    call: CallId,
    events: Receiver<Event>,
    /// The last number that was told; each is larger than the one before.
    told: f64,
    /// Whether the tool counts.
    counts: bool,
    news: News,
}

/// What is to be told, and when.
#[derive(Debug, Default)]
struct News {
    next: Option<(String, Instant)>,
    told_at: Option<Instant>,
    /// What a person is asked, and since when.
    asked: Option<(String, Instant)>,
}

impl Progress {
    /// Follows a call from now on. It may wait for an answer already.
    pub(super) fn follow(
        peer: Peer<RoleServer>,
        token: ProgressToken,
        call: CallId,
        gate: &Gate,
    ) -> Self {
        // What is asked in between is heard twice rather than never.
        let events = gate.events().subscribe();
        let mut news = News::default();
        if let Some(request) = gate.approvals().pending_about(&call) {
            news.wait_for(request.id, &request.description);
        }
        Self { peer, token, call, events, told: 0.0, counts: false, news }
    }

    /// Tells until stopped. What is being told by then is told to its end, so that nothing is told
    /// of a call after its result.
    pub(super) async fn tell(mut self, stop: &CancellationToken) {
        loop {
            let due = self.news.next.as_ref().map(|(_, due)| *due);
            let told = tokio::select! {
                biased;
                event = self.events.recv() => match event {
                    Ok(event) => self.news.hear(&event, &self.call),
                    Err(RecvError::Lagged(_)) => None,
                    Err(RecvError::Closed) => return,
                },
                () = stop.cancelled() => return,
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.news.take().map(|message| (message, None))
                }
            };
            if let Some((message, portion)) = told
                && self.send(message, portion).await.is_err()
            {
                return;
            }
        }
    }

    async fn send(
        &mut self,
        message: String,
        portion: Option<Portion>,
    ) -> Result<(), rmcp::ServiceError> {
        let done = match portion {
            Some(Portion { done, .. }) => {
                let is_first = !self.counts;
                self.counts = true;
                if done <= self.told && !is_first {
                    return Ok(());
                }
                done
            }
            // What is told besides must not run ahead of what the tool counts.
            None if self.counts => self.told.next_up(),
            None => self.told + 1.0,
        };
        self.told = done;
        let mut progress = ProgressNotificationParam::new(self.token.clone(), done);
        progress.total = portion.and_then(|portion| portion.total);
        progress.message = Some(message).filter(|message| !message.is_empty());
        self.peer.notify_progress(progress).await
    }
}

impl News {
    /// Notes what happened; a step of the tool itself is told at once.
    fn hear(&mut self, event: &Event, own: &CallId) -> Option<(String, Option<Portion>)> {
        let now = Instant::now();
        match event {
            Event::ToolCallProgress { call, message, portion } if call == own => {
                self.told_at = Some(now);
                self.next = None;
                return Some((message.clone(), *portion));
            }
            Event::ToolCallOutput { call, text } if call == own => {
                let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
                let due = self.told_at.map_or(now, |told| now.max(told + PAUSE));
                self.next = Some((last.chars().take(LINE).collect(), due));
            }
            Event::ToolCallHeartbeat { call, elapsed_ms } if call == own => {
                self.next.get_or_insert((format!("running, {} s", elapsed_ms / 1_000), now));
            }
            Event::ToolConfirmationRequest { id, call, description, .. } if call == own => {
                self.wait_for(*id, description);
            }
            Event::ToolConfirmationResponse { call, .. } if call == own => {
                self.asked = None;
                self.next = None;
            }
            _ => {}
        }
        None
    }

    /// Notes that an answer is waited for.
    fn wait_for(&mut self, id: ApprovalId, description: &str) {
        let words = format!(
            "waiting for an answer to `{description}`; at a terminal: toolgate approvals approve {id}"
        );
        let now = Instant::now();
        self.next = Some((words.clone(), now));
        self.asked = Some((words, now));
    }

    /// What is to be told now, and when the next time is.
    fn take(&mut self) -> Option<String> {
        let (message, _) = self.next.take()?;
        let now = Instant::now();
        self.told_at = Some(now);
        if let Some((words, since)) = &self.asked {
            let due = now + REMINDER;
            let waited = due.duration_since(*since).as_secs();
            self.next = Some((format!("{words} ({waited} s)"), due));
        }
        Some(message)
    }
}
