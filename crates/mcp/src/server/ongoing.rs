//! Requests that go on while their client is away.

use rmcp::model::{ErrorData, GetPromptResult, ReadResourceResult};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::call::Outcome;
use toolgate_core::id::CallId;

use super::link::{Abilities, Link, Question};
use super::log::Log;

/// How many questions of one request may wait to be seen.
const QUESTIONS: usize = 16;

/// What a request came to.
#[derive(Debug)]
pub(super) enum Done {
    /// What became of a call.
    Call(Ended),
    /// A prompt.
    Prompt(Result<GetPromptResult, ErrorData>),
    /// What a resource holds.
    Resource(Result<ReadResourceResult, ErrorData>),
}

/// What became of a call.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: Box<Outcome>,
    /// What it wanted, and the client cannot give.
    pub(super) lacking: Option<Abilities>,
}

/// A request that goes on while its client is away. Dropping it cancels it.
#[derive(Debug)]
pub(super) struct Ongoing {
    work: JoinHandle<Done>,
    /// The call it is, if it is one.
    call: Option<CallId>,
    questions: mpsc::Receiver<Vec<Question>>,
    stop: CancellationToken,
    _stop: DropGuard,
}

/// How far a request came.
#[derive(Debug)]
pub(super) enum Turn {
    /// It is done.
    Done(Done),
    /// It broke.
    Broke(JoinError),
    /// It wants to know something first.
    Asks(Ongoing, Vec<Question>),
}

impl From<Result<Done, JoinError>> for Turn {
    fn from(ended: Result<Done, JoinError>) -> Self {
        ended.map_or_else(Self::Broke, Self::Done)
    }
}

impl Ongoing {
    /// Begins the work of a client that can be asked for this, until the token is cancelled.
    pub(super) fn begin<W>(
        can: Abilities,
        log: Log,
        work: impl FnOnce(Link, CancellationToken) -> W,
    ) -> Self
    where
        W: Future<Output = Done> + Send + 'static,
    {
        let (sender, questions) = mpsc::channel(QUESTIONS);
        let stop = CancellationToken::new();
        let work = tokio::spawn(work(Link::questions(sender, can, log), stop.clone()));
        Self { work, call: None, questions, _stop: stop.clone().drop_guard(), stop }
    }

    /// The same, as the work of a call.
    pub(super) fn of_call(mut self, call: CallId) -> Self {
        self.call = Some(call);
        self
    }

    /// The call it is, if it is one.
    pub(super) fn call(&self) -> Option<&CallId> {
        self.call.as_ref()
    }

    /// Goes on until it is done or wants to know something, or is cancelled.
    pub(super) async fn go_on(mut self, cancelled: &CancellationToken) -> Turn {
        tokio::select! {
            biased;
            done = &mut self.work => done.into(),
            Some(asked) = self.questions.recv() => Turn::Asks(self, asked),
            () = cancelled.cancelled() => self.end().await.into(),
        }
    }

    /// Cancels it and waits for its end.
    pub(super) async fn end(mut self) -> Result<Done, JoinError> {
        self.stop.cancel();
        (&mut self.work).await
    }
}
