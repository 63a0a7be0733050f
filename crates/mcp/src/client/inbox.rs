//! Where messages of a server arrive, and find whoever waits for them.
//!
//! Nothing is queued: a message is dealt with while it is read, so that a server without end cannot
//! fill memory, and an answer never waits behind anything but what came before it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::error::{ClientError, Ended};
use super::exchange::{Exchange, OnProgress, Progress};
use super::host::{Abilities, Answers, Asked, Host, Refused};
use super::news::{Heard, Logs};
use super::outlet::Outlet;
use super::question::{Work, answered};
use super::wire::{self, Incoming};

/// Questions of a server that are open at once, at most; others are not answered.
const QUESTIONS: usize = 32;
/// How long an answer to a question may take to be sent.
const SENDING: Duration = Duration::from_secs(30);

/// What an exchange is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Somebody wants something done.
    Work,
    /// The connection needs it; nobody can be asked during it.
    Upkeep,
}

/// Where messages arrive.
#[derive(Debug)]
pub(super) struct Inbox {
    host: Arc<dyn Host>,
    /// What was offered to the server.
    pub(super) can: Abilities,
    next_id: AtomicU64,
    open: Mutex<BTreeMap<u64, Waiting>>,
    ended: watch::Sender<Option<Ended>>,
    /// Room for questions.
    questions: Arc<Semaphore>,
    /// The questions that are being answered, by their ids.
    answering: Mutex<HashMap<String, CancellationToken>>,
    logs: Logs,
    /// What was passed over because it made no sense, or there was no room.
    passed_over: AtomicU64,
}

/// Somebody who waits for an answer.
struct Waiting {
    reply: oneshot::Sender<Result<Value, ClientError>>,
    clock: Arc<Clock>,
    purpose: Purpose,
    progress: Option<OnProgress>,
    host: Option<Arc<dyn Answers>>,
    /// Cancelled when nobody waits any more.
    over: CancellationToken,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Waiting").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}

/// A request that was registered; forgotten when dropped.
#[derive(Debug)]
pub(super) struct Registered {
    inbox: Arc<Inbox>,
    pub(super) id: u64,
    pub(super) clock: Arc<Clock>,
    pub(super) reply: oneshot::Receiver<Result<Value, ClientError>>,
    over: CancellationToken,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.over.cancel();
        self.inbox.lock().remove(&self.id);
    }
}

impl Inbox {
    /// An empty one.
    pub(super) fn new(host: Arc<dyn Host>) -> Arc<Self> {
        let can = host.can();
        Arc::new(Self {
            host,
            can,
            next_id: AtomicU64::new(1),
            open: Mutex::default(),
            ended: watch::Sender::new(None),
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            answering: Mutex::default(),
            logs: Logs::default(),
            passed_over: AtomicU64::new(0),
        })
    }

    /// Registers a request that is about to be sent.
    pub(super) fn register(
        self: &Arc<Self>,
        exchange: &Exchange,
        purpose: Purpose,
    ) -> Result<Registered, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (reply, receiver) = oneshot::channel();
        let clock = Arc::new(Clock::new());
        let over = CancellationToken::new();
        let waiting = Waiting {
            reply,
            clock: Arc::clone(&clock),
            purpose,
            progress: exchange.progress.clone(),
            host: exchange.host.clone(),
            over: over.clone(),
        };
        self.lock().insert(id, waiting);
        let registered = Registered { inbox: Arc::clone(self), id, clock, reply: receiver, over };
        match self.ended() {
            Some(ended) => Err(ClientError::Gone(ended)),
            None => Ok(registered),
        }
    }

    /// Deals with a message, which came on the stream of one of our requests if that is known.
    pub(super) fn receive(
        self: &Arc<Self>,
        message: Value,
        on: Option<u64>,
        outlet: &Arc<dyn Outlet>,
    ) {
        if let Value::Array(messages) = message {
            for message in messages {
                self.receive(message, on, outlet);
            }
            return;
        }
        match Incoming::parse(message) {
            // On a stream of its own, a request is answered and no other.
            Some(Incoming::Answer { id, .. }) if on.is_some() && id.is_some() && id != on => {
                self.pass_over("an answer to another request");
            }
            Some(Incoming::Answer { id, outcome }) => self.settle(id.or(on), outcome),
            Some(Incoming::Notification { method, params }) => self.hear(&method, &params),
            Some(Incoming::Request { id, method, params }) => {
                self.question(id, &method, params, on, outlet);
            }
            None => self.pass_over("something that is no message"),
        }
    }

    /// Notes that something was passed over, and says so the first time.
    pub(super) fn pass_over(&self, what: &str) {
        if self.passed_over.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(what, "the server sent what cannot be used; it is passed over");
        }
    }

    /// Answers a request; one that is not known is the only one that is open, if there is one.
    pub(super) fn settle(&self, id: Option<u64>, outcome: Result<Value, ClientError>) {
        let waiting = {
            let mut open = self.lock();
            let only = || (open.len() == 1).then(|| open.keys().next().copied()).flatten();
            id.or_else(only).and_then(|id| open.remove(&id))
        };
        match waiting {
            // Whoever has gone meanwhile wants no answer.
            Some(waiting) => drop(waiting.reply.send(outcome)),
            None => self.pass_over("an answer nobody waits for"),
        }
    }

    /// Fails the request whose answer cannot be read; all of them when it is not known which.
    pub(super) fn unreadable(&self, id: Option<u64>, error: &ClientError) {
        match id {
            Some(id) => self.settle(Some(id), Err(error.clone())),
            None => self.fail_all(error),
        }
    }

    fn fail_all(&self, error: &ClientError) {
        let all = std::mem::take(&mut *self.lock());
        for waiting in all.into_values() {
            // Whoever has gone meanwhile wants no answer.
            waiting.reply.send(Err(error.clone())).ok();
        }
    }

    /// Whether a request is still open.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.lock().contains_key(&id)
    }

    /// The connection is gone. The first reason counts.
    pub(super) fn end(&self, ended: Ended) {
        self.ended.send_if_modified(|slot| {
            let is_first = slot.is_none();
            slot.get_or_insert(ended);
            is_first
        });
        if let Some(ended) = self.ended() {
            self.fail_all(&ClientError::Gone(ended));
        }
        for token in self.answering().drain().map(|(_, token)| token) {
            token.cancel();
        }
    }

    /// Why the connection is gone, if it is.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }

    /// Waits until the connection is gone.
    pub(super) async fn wait_ended(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        let found = ended.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
        // INVARIANT: `self` holds the sender, so waiting cannot fail.
        found.unwrap_or(Ended { reason: super::error::Reason::Closed, stderr: String::new() })
    }

    fn hear(&self, method: &str, params: &Map<String, Value>) {
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId")
                    && let Some(token) = self.answering().remove(&id.to_string())
                {
                    token.cancel();
                }
            }
            _ => match self.logs.news(method, params) {
                Heard::News(news) => self.host.heard(news),
                Heard::Nonsense(what) => self.pass_over(what),
                Heard::Nothing => {}
            },
        }
    }

    fn progress(&self, params: &Map<String, Value>) {
        let id = params.get("progressToken").and_then(wire::number);
        let Some(progress) = Progress::parse(params) else {
            return self.pass_over("progress that makes no sense");
        };
        let listener = {
            let open = self.lock();
            let Some(waiting) = id.and_then(|id| open.get(&id)) else { return };
            waiting.clock.progressed();
            waiting.progress.clone()
        };
        if let Some(listener) = listener {
            listener(progress);
        }
    }

    /// Has a question of the server answered.
    fn question(
        self: &Arc<Self>,
        id: Value,
        method: &str,
        params: Map<String, Value>,
        on: Option<u64>,
        outlet: &Arc<dyn Outlet>,
    ) {
        let Ok(permit) = Arc::clone(&self.questions).try_acquire_owned() else {
            return self.pass_over("more questions than can be answered");
        };
        let work = self.work(method, params, on);
        let over = work.as_ref().map_or_else(|_| CancellationToken::new(), Work::token);
        let key = id.to_string();
        self.answering().insert(key.clone(), over.clone());
        let (inbox, outlet) = (Arc::clone(self), Arc::clone(outlet));
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = answered(work, &inbox.host) => Some(outcome),
                () = over.cancelled() => None,
            };
            inbox.answering().remove(&key);
            if let Some(outcome) = outcome {
                let sending = outlet.send(wire::answer(&id, outcome));
                // A server that does not read is noticed by whoever waits for it.
                tokio::time::timeout(SENDING, sending).await.ok();
            }
            drop(permit);
        });
    }

    /// Finds out who answers a question.
    fn work(
        &self,
        method: &str,
        params: Map<String, Value>,
        on: Option<u64>,
    ) -> Result<Work, Refused> {
        if method == "ping" {
            return Ok(Work::Ping);
        }
        let asked = Asked::parse(method, params).filter(|asked| self.can.cover(asked));
        let asked = asked.ok_or_else(|| Refused::not_offered(method))?;
        let open = self.lock();
        let mut working = open.values().filter(|waiting| waiting.purpose == Purpose::Work);
        let only = match (working.next(), working.next()) {
            (only @ Some(_), None) => only,
            _ => None,
        };
        let waiting = on.and_then(|id| open.get(&id)).or(only);
        Ok(match waiting {
            Some(Waiting { host: Some(host), clock, over, .. }) => Work::Exchange {
                asked,
                host: Arc::clone(host),
                hold: clock.hold(),
                over: over.child_token(),
            },
            Some(Waiting { clock, over, .. }) => {
                Work::Host { asked, hold: Some(clock.hold()), over: over.child_token() }
            }
            None => Work::Host { asked, hold: None, over: CancellationToken::new() },
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Waiting>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answering(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.answering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has something answered outside of messages, in the order asked.
    pub(super) async fn answer_all(
        &self,
        asked: Vec<(String, Asked)>,
        host: Option<&Arc<dyn Answers>>,
    ) -> Vec<Result<Value, Refused>> {
        if let Some(host) = host {
            return host.answer_all(asked).await;
        }
        let answers = asked.into_iter().map(|(_, asked)| self.host.asked(asked));
        futures_util::future::join_all(answers).await
    }
}
