//! The way back to whoever made a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, InputRequest, RequestId, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolgate_core::id::CallId;

/// Something a call wants to know from its client, which answers when it calls again.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) request: InputRequest,
    pub(super) reply: oneshot::Sender<Value>,
}

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    /// To show a form to a person.
    pub(super) forms: bool,
    /// To ask its model.
    pub(super) sampling: bool,
}

impl Abilities {
    /// Whether it can be asked for anything.
    pub(super) fn any(self) -> bool {
        self.forms || self.sampling
    }

    /// What a client says about itself. One that names no way of asking a person has forms.
    pub(super) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(capabilities) = capabilities else { return Self::default() };
        let elicitation = capabilities.elicitation.as_ref();
        let forms = elicitation.is_some_and(|ways| ways.form.is_some() || ways.url.is_none());
        let sampling = capabilities.sampling.is_some();
        Self { forms, sampling }
    }
}

/// The way back to whoever made a call. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) can: Abilities,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// The client answers requests.
    Requests(Peer<RoleServer>),
    /// The client answers by calling again.
    Questions(mpsc::Sender<Question>),
}

impl Link {
    /// To a client that answers requests while its call goes on.
    pub(super) fn requests(peer: Peer<RoleServer>, can: Abilities) -> Self {
        Self { can, way: Way::Requests(peer) }
    }

    /// To a client that answers when it calls again.
    pub(super) fn questions(questions: mpsc::Sender<Question>, can: Abilities) -> Self {
        Self { can, way: Way::Questions(questions) }
    }

    /// Asks the client for something; nothing when it gives no answer. Dropping the future takes
    /// the question back.
    pub(super) async fn ask(&self, question: InputRequest) -> Option<Value> {
        match &self.way {
            Way::Requests(peer) => request(peer, question).await,
            Way::Questions(questions) => {
                let (reply, answered) = oneshot::channel();
                questions.send(Question { request: question, reply }).await.ok()?;
                answered.await.ok()
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
