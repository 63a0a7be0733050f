//! Asking the person at the terminal.

mod console;
mod editor;
mod grant;
mod layout;
mod pager;
mod reach;
mod render;
#[cfg(test)]
mod sample;
mod talk;
mod tame;

pub(crate) use layout::words;
pub(crate) use reach::named as named_hosts;
pub(crate) use render::{Detail, Seen, View, request as render, risk, span};

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};

use self::console::Person;
use crate::progress::{Screen, Taken};
use crate::terminal::{Keyboard, Paper, Raw, Withdrawal};

/// Asks on the terminal the command runs in, one question at a time.
#[derive(Debug)]
pub(crate) struct TerminalApprover {
    turn: Mutex<()>,
    screen: Screen,
    cancellation: CancellationToken,
    seen: Seen,
}

impl TerminalApprover {
    /// Asks on a terminal that shows progress otherwise; `cancellation` tells that the person
    /// wants none of it any more.
    pub(crate) fn new(screen: Screen, cancellation: CancellationToken) -> Self {
        Self { turn: Mutex::default(), screen, cancellation, seen: Seen::Here }
    }

    /// Asks about requests of other programs.
    pub(crate) fn for_others(mut self) -> Self {
        self.seen = Seen::Elsewhere;
        self
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    fn name(&self) -> &'static str {
        "terminal"
    }

    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let _turn = self.turn.lock().await;
        let taken = self.screen.take();
        let Some(paper) = Paper::take().map(Arc::new) else { return Answer::Nobody };
        let Ok((keyboard, withdrawal)) = Keyboard::take() else { return Answer::Nobody };
        let mut asked = Asked {
            answered: false,
            expires_at: request.expires_at,
            cancellation: self.cancellation.clone(),
            paper: Arc::clone(&paper),
            raw: keyboard.raw(),
            _withdrawal: withdrawal,
            _screen: taken,
        };
        let (request, seen) = (request.clone(), self.seen);
        let answer = tokio::task::spawn_blocking(move || {
            talk::talk(&request, seen, &Person { paper: &paper, keyboard: &keyboard })
        });
        let answer = answer.await.unwrap_or(Answer::Nobody);
        asked.answered = true;
        if answer != Answer::Nobody {
            return answer;
        }
        asked.paper.write("\n");
        match self.seen {
            // Whoever ends the input of a call goes away, and nothing may wait for ever.
            Seen::Here => Answer::deny("input ended before there was an answer"),
            Seen::Elsewhere => Answer::Nobody,
        }
    }
}

/// A question on the screen. Whatever happens to it, the terminal is put back as it was and the
/// cursor left on a line of its own.
#[derive(Debug)]
struct Asked {
    answered: bool,
    expires_at: Option<SystemTime>,
    cancellation: CancellationToken,
    paper: Arc<Paper>,
    raw: Option<Arc<Raw>>,
    _withdrawal: Withdrawal,
    _screen: Taken,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(raw) = &self.raw {
            raw.leave();
        }
        if !self.answered {
            self.paper.write(self.farewell());
        }
    }
}

impl Asked {
    /// What is said when the question goes unanswered.
    fn farewell(&self) -> &'static str {
        if self.cancellation.is_cancelled() {
            "\n"
        } else if self.expires_at.is_some_and(|expiry| expiry <= SystemTime::now()) {
            "\nno answer in time\n"
        } else {
            "\nanswered elsewhere\n"
        }
    }
}
