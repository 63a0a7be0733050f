//! The way back to whoever made a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::future::join_all;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ElicitationCapability, InputRequest, RequestId,
    RootsCapabilities, SamplingCapability, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::id::CallId;

use super::log::Log;

/// Something that is wanted from a client, under a name.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) request: InputRequest,
}

/// Something that is wanted from a client which answers when it calls again.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) wanted: Wanted,
    pub(super) reply: oneshot::Sender<Value>,
}

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    /// To show a form to a person.
    pub(super) forms: bool,
    /// To ask its model.
    pub(super) sampling: bool,
    /// To name its folders.
    pub(super) roots: bool,
}

impl Abilities {
    /// What a client says about itself. One that names no way of asking a person has forms.
    pub(super) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(capabilities) = capabilities else { return Self::default() };
        let elicitation = capabilities.elicitation.as_ref();
        let forms = elicitation.is_some_and(|ways| ways.form.is_some() || ways.url.is_none());
        Self {
            forms,
            sampling: capabilities.sampling.is_some(),
            roots: capabilities.roots.is_some(),
        }
    }

    /// Whether it can be asked for anything.
    pub(super) fn any(self) -> bool {
        self.forms || self.sampling || self.roots
    }

    /// What a client needs to be asked for these, and does not have.
    pub(super) fn lack<'a>(
        self,
        requests: impl IntoIterator<Item = &'a InputRequest>,
    ) -> Option<Self> {
        let mut lacking = Self::default();
        for request in requests.into_iter().filter(|request| !self.cover(request)) {
            match request {
                InputRequest::Elicitation(_) => lacking.forms = true,
                InputRequest::CreateMessage(_) => lacking.sampling = true,
                InputRequest::ListRoots(_) => lacking.roots = true,
                _ => {}
            }
        }
        lacking.any().then_some(lacking)
    }

    /// The same as a client would say it.
    pub(super) fn said(self) -> ClientCapabilities {
        let mut said = ClientCapabilities::default();
        said.elicitation = self.forms.then(ElicitationCapability::default);
        said.sampling = self.sampling.then(SamplingCapability::default);
        said.roots = self.roots.then(RootsCapabilities::default);
        said
    }

    /// Whether it can be asked for this.
    pub(super) fn cover(self, request: &InputRequest) -> bool {
        match request {
            InputRequest::Elicitation(_) => self.forms,
            InputRequest::CreateMessage(_) => self.sampling,
            InputRequest::ListRoots(_) => self.roots,
            _ => false,
        }
    }
}

/// The way back to whoever made a request. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) can: Abilities,
    pub(super) log: Log,
    /// What was wanted in vain.
    lacking: Arc<OnceLock<Abilities>>,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// The client answers requests.
    Requests(Peer<RoleServer>),
    /// The client answers by calling again; what is asked at once is answered at once.
    Questions(mpsc::Sender<Vec<Question>>),
}

impl Link {
    /// To a client that answers requests while its own goes on.
    pub(super) fn requests(peer: Peer<RoleServer>, can: Abilities, log: Log) -> Self {
        Self { can, log, lacking: Arc::default(), way: Way::Requests(peer) }
    }

    /// To a client that answers when it calls again.
    pub(super) fn questions(
        questions: mpsc::Sender<Vec<Question>>,
        can: Abilities,
        log: Log,
    ) -> Self {
        Self { can, log, lacking: Arc::default(), way: Way::Questions(questions) }
    }

    /// Notes that something was wanted which the client cannot give.
    pub(super) fn lacks(&self, abilities: Abilities) {
        // The first is told; there may be others when it is there.
        self.lacking.set(abilities).ok();
    }

    /// What was wanted and the client cannot give.
    pub(super) fn lacking(&self) -> Option<Abilities> {
        self.lacking.get().copied()
    }

    /// Asks the client for something; nothing when it gives no answer. Dropping the future takes
    /// the question back.
    pub(super) async fn ask(&self, wanted: Wanted) -> Option<Value> {
        self.ask_all(vec![wanted]).await.pop().flatten()
    }

    /// The same for several things at once, answered in their order.
    pub(super) async fn ask_all(&self, wanted: Vec<Wanted>) -> Vec<Option<Value>> {
        match &self.way {
            Way::Requests(peer) => {
                join_all(wanted.into_iter().map(|wanted| request(peer, wanted.request))).await
            }
            Way::Questions(questions) => {
                let (asked, replies): (Vec<_>, Vec<_>) = wanted
                    .into_iter()
                    .map(|wanted| {
                        let (reply, answered) = oneshot::channel();
                        (Question { wanted, reply }, answered)
                    })
                    .unzip();
                // Nobody may be there to hear it; then no reply comes either.
                questions.send(asked).await.ok();
                join_all(replies.into_iter().map(async |reply| reply.await.ok())).await
            }
        }
    }
}

async fn request(peer: &Peer<RoleServer>, question: InputRequest) -> Option<Value> {
    let request = match question {
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return None,
    };
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let handle = match sent {
        Ok(handle) => handle,
        Err(error) => {
            tracing::debug!(%error, "a client could not be asked");
            return None;
        }
    };
    let mut open = Open { peer: peer.clone(), id: Some(handle.id.clone()) };
    let answered = handle.await_response().await;
    open.id = None;
    match answered {
        Ok(answer) => serde_json::to_value(answer).ok(),
        Err(error) => {
            tracing::debug!(%error, "a client gave no answer");
            None
        }
    }
}

/// A request that waits; when nobody waits for its answer any more, the client is told.
struct Open {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let reason = Some("it was answered elsewhere, or nobody waits any more".to_owned());
        runtime.spawn(async move {
            // A client that is gone needs not be told.
            peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await.ok();
        });
    }
}

/// The ways back to whoever made the calls that go on.
#[derive(Debug, Default)]
pub(super) struct Links {
    open: Mutex<HashMap<CallId, Link>>,
}

impl Links {
    /// Opens the way back of a call until the guard is dropped.
    pub(super) fn open(self: &Arc<Self>, call: CallId, link: Link) -> Linked {
        self.lock().insert(call.clone(), link);
        Linked { links: Arc::clone(self), call }
    }

    /// The way back of a call.
    pub(super) fn of(&self, call: &CallId) -> Option<Link> {
        self.lock().get(call).cloned()
    }

    /// Whether a person may be reached by any of them.
    pub(super) fn reach_a_person(&self) -> bool {
        self.lock().values().any(|link| link.can.forms)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, Link>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the way back of a call open.
#[derive(Debug)]
pub(super) struct Linked {
    links: Arc<Links>,
    call: CallId,
}

impl Drop for Linked {
    fn drop(&mut self) {
        self.links.lock().remove(&self.call);
    }
}
