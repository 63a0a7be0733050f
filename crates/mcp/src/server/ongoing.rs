//! Calls that go on while their client is away.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::Session;
use toolgate_core::id::CallId;

use super::link::{Abilities, Link, Question};
use super::shared::Shared;

/// How many questions of one call may wait to be seen.
const QUESTIONS: usize = 16;

/// A call that goes on while its client is away. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct Ongoing {
    pub(super) id: CallId,
    outcome: JoinHandle<Outcome>,
    questions: mpsc::Receiver<Question>,
    stop: CancellationToken,
    _stop: DropGuard,
}

/// How far a call came.
#[derive(Debug)]
pub(super) enum Turn {
    /// It is done.
    Done(Box<Outcome>),
    /// It broke.
    Broke(JoinError),
    /// It wants to know something first.
    Asks(Ongoing, Vec<Question>),
}

impl From<Result<Outcome, JoinError>> for Turn {
    fn from(ended: Result<Outcome, JoinError>) -> Self {
        ended.map_or_else(Self::Broke, |outcome| Self::Done(Box::new(outcome)))
    }
}

impl Ongoing {
    /// Begins a call of a client that can be asked for this.
    pub(super) fn begin(
        shared: &Shared,
        session: Arc<Session>,
        call: Call,
        can: Abilities,
    ) -> Self {
        let id = call.id.clone();
        let (sender, questions) = mpsc::channel(QUESTIONS);
        let linked = shared.links.open(id.clone(), Link::questions(sender, can));
        let stop = CancellationToken::new();
        let (gate, token) = (shared.gate.clone(), stop.clone());
        let outcome = tokio::spawn(async move {
            let _linked = linked;
            gate.call_cancellable(call, &session, &token).await
        });
        Self { id, outcome, questions, _stop: stop.clone().drop_guard(), stop }
    }

    /// Goes on until the call is done or wants to know something, or is cancelled.
    pub(super) async fn go_on(mut self, cancelled: &CancellationToken) -> Turn {
        tokio::select! {
            biased;
            outcome = &mut self.outcome => outcome.into(),
            Some(first) = self.questions.recv() => {
                let mut asked = vec![first];
                while let Ok(question) = self.questions.try_recv() {
                    asked.push(question);
                }
                Turn::Asks(self, asked)
            }
            () = cancelled.cancelled() => self.end().await.into(),
        }
    }

    /// Cancels the call and waits for its end.
    pub(super) async fn end(mut self) -> Result<Outcome, JoinError> {
        self.stop.cancel();
        (&mut self.outcome).await
    }
}
