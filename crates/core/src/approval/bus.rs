//! Where requests wait, and where answers find them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::approver::Approver;
use super::request::{ApprovalId, ApprovalRequest};
use crate::id::CallId;

/// Where requests wait, and where answers find them. Cheap to clone.
///
/// Any number of surfaces may answer. The first answer wins; whoever comes later is told that it
/// is settled, and every other surface sees the request disappear.
///
/// ```
/// # use toolgate_core::approval::{Answer, AnswerError, ApprovalId, Approvals};
/// let approvals = Approvals::default();
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let nobody = approvals.answer(ApprovalId::generate(), Answer::Once, "a test").await;
/// assert_eq!(nobody, Err(AnswerError::NotPending));
/// # });
/// ```
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    surfaces: Vec<Arc<dyn Approver>>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<HashMap<ApprovalId, Waiting>>,
    attending: AtomicUsize,
}

#[derive(Debug)]
struct Waiting {
    request: Arc<ApprovalRequest>,
    reply: oneshot::Sender<Box<Answered>>,
}

/// An answer, and who gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The surface it came from.
    pub by: String,
}

/// How asking ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Somebody answered.
    Answered(Answered),
    /// There is nobody who could.
    Nobody,
    /// Nobody did in time.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
}

/// Why an answer did not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It was answered, withdrawn, or never asked.
    #[error("no such request is waiting: it was answered or withdrawn")]
    NotPending,
}

impl Approvals {
    /// Adds a surface that is shown every request.
    pub fn add(&mut self, surface: Arc<dyn Approver>) {
        self.surfaces.push(surface);
    }

    /// Whether somebody may answer at all.
    pub fn is_anybody_there(&self) -> bool {
        self.shared.attending.load(Ordering::Acquire) > 0
            || self.surfaces.iter().any(|surface| surface.is_anybody_there())
    }

    /// Promises to answer with [`answer`](Self::answer) what is [`pending`](Self::pending), until
    /// the promise is dropped.
    pub fn attend(&self) -> Attendance {
        self.shared.attending.fetch_add(1, Ordering::AcqRel);
        Attendance { shared: Arc::clone(&self.shared) }
    }

    /// Every request that waits, the oldest first.
    pub fn pending(&self) -> Vec<Arc<ApprovalRequest>> {
        let waiting = self.shared.lock();
        let mut requests: Vec<_> =
            waiting.values().map(|waiting| Arc::clone(&waiting.request)).collect();
        drop(waiting);
        requests.sort_by_key(|request| (request.asked_at, request.id));
        requests
    }

    /// Returns the request about a call that waits, if there is one.
    pub fn pending_about(&self, call: &CallId) -> Option<Arc<ApprovalRequest>> {
        let waiting = self.shared.lock();
        let mut requests = waiting.values().map(|waiting| &waiting.request);
        requests.find(|request| request.call == *call).map(Arc::clone)
    }

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// When it is settled already, or was never asked.
    pub async fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        by: impl Into<String>,
    ) -> Result<(), AnswerError> {
        let waiting = self.shared.lock().remove(&id).ok_or(AnswerError::NotPending)?;
        let first = self.close_all(&waiting.request).await;
        let is_first = first.is_none();
        let answered = first.unwrap_or_else(|| Answered { answer, by: by.into() });
        waiting.reply.send(Box::new(answered)).map_err(|_| AnswerError::NotPending)?;
        if is_first { Ok(()) } else { Err(AnswerError::NotPending) }
    }

    /// Tells every surface that a request is settled; one of them may have been first.
    async fn close_all(&self, request: &ApprovalRequest) -> Option<Answered> {
        for surface in &self.surfaces {
            if let Some(answer) = surface.close(request).await {
                return Some(Answered { answer, by: surface.name().to_owned() });
            }
        }
        None
    }

    /// Puts a request where it can be answered. Dropping it withdraws the request.
    pub fn open(&self, request: Arc<ApprovalRequest>) -> Pending {
        let (reply, answered) = oneshot::channel();
        let id = request.id;
        self.shared.lock().insert(id, Waiting { request, reply });
        Pending { id, answered, shared: Arc::clone(&self.shared) }
    }

    /// Asks everywhere and waits for the first answer.
    pub async fn ask(
        &self,
        request: impl Into<Arc<ApprovalRequest>>,
        cancellation: &CancellationToken,
        patience: Option<Duration>,
    ) -> Reply {
        let request = request.into();
        let mut pending = self.open(Arc::clone(&request));
        let there = self.surfaces.iter().filter(|surface| surface.is_anybody_there());
        let mut surfaces: FuturesUnordered<_> = there
            .map(|surface| {
                let request = &request;
                async move { (surface.name(), surface.ask(request).await) }
            })
            .collect();
        let deadline = async {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let mut deadline = std::pin::pin!(deadline);
        loop {
            if surfaces.is_empty() && self.shared.attending.load(Ordering::Acquire) == 0 {
                return pending.withdraw().await.map_or(Reply::Nobody, Reply::Answered);
            }
            tokio::select! {
                biased;
                () = cancellation.cancelled() => return Reply::Cancelled,
                answered = &mut pending.answered => match answered {
                    Ok(answered) => return Reply::Answered(*answered),
                    Err(_) => return Reply::Nobody,
                },
                Some((by, answer)) = surfaces.next() => {
                    if answer == Answer::Nobody {
                        continue;
                    }
                    // Whoever was told that an answer counts must be right.
                    let first = match pending.withdraw().await {
                        Some(first) => Some(first),
                        None => self.close_all(&request).await,
                    };
                    let own = Answered { answer, by: by.to_owned() };
                    return Reply::Answered(first.unwrap_or(own));
                }
                () = &mut deadline => {
                    let first = match pending.withdraw().await {
                        Some(first) => Some(first),
                        None => self.close_all(&request).await,
                    };
                    return first.map_or(Reply::TimedOut, Reply::Answered);
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<ApprovalId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its answer; dropping it withdraws it.
#[derive(Debug)]
pub struct Pending {
    id: ApprovalId,
    /// Boxed, because its place is taken for as long as the request waits.
    answered: oneshot::Receiver<Box<Answered>>,
    shared: Arc<Shared>,
}

impl Pending {
    /// Waits for the answer; nothing when the request was withdrawn.
    pub async fn answered(mut self) -> Option<Answered> {
        (&mut self.answered).await.ok().map(|answered| *answered)
    }

    /// Takes the request back; an answer that came first counts.
    async fn withdraw(&mut self) -> Option<Answered> {
        if self.shared.lock().remove(&self.id).is_some() {
            return None;
        }
        (&mut self.answered).await.ok().map(|answered| *answered)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.shared.lock().remove(&self.id);
    }
}

/// A promise to answer what is pending.
#[derive(Debug)]
pub struct Attendance {
    shared: Arc<Shared>,
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.shared.attending.fetch_sub(1, Ordering::AcqRel);
    }
}
