//! What a tool may know about its call.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use toolgate_policy::veil::Veil;

use crate::bounds::{Collector, Limit, Preset, Shape, Whole};
use crate::dialect::{Dialect, Face};
use crate::error::ToolError;
use crate::event::{Event, Events, Portion};
use crate::id::{CallId, SessionId};
use crate::reach::Reach;
use crate::services::Services;
use crate::spawn::Spawner;
use crate::state::State;
use crate::visible;
use crate::workspace::Workspace;

/// One conversation or connection: who calls, and where.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    workspace: Workspace,
    shown_root: SmolStr,
    dialect: Dialect,
    lasts: Lasts,
    state: State,
}

impl Session {
    /// A new session in a workspace, speaking the native dialect.
    pub fn new(workspace: Workspace) -> Self {
        let shown_root = visible::question(&visible::path(workspace.root())).into();
        Self {
            id: SessionId::generate(),
            workspace,
            shown_root,
            dialect: Dialect::Native,
            lasts: Lasts::Conversation,
            state: State::default(),
        }
    }

    /// The same session, to last for so long. A new one is a conversation.
    #[must_use]
    pub fn lasting(mut self, lasts: Lasts) -> Self {
        self.lasts = lasts;
        self
    }

    /// How long the session lasts.
    pub fn lasts(&self) -> Lasts {
        self.lasts
    }

    /// The same session with names of another dialect tried first.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The same session under an id of the caller's own, which joins it to others of that id.
    #[must_use]
    pub fn with_id(mut self, id: SessionId) -> Self {
        self.id = id;
        self.lasts = Lasts::Joined;
        self
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Where the session works.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The folder it works in, safe to show to a person.
    pub(crate) fn shown_root(&self) -> &SmolStr {
        &self.shown_root
    }

    /// What a tool keeps as long as the session lasts: one value of each type, made when it is
    /// first asked for.
    pub fn state<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        self.state.get()
    }

    /// The dialect whose names are tried first.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// How long a session lasts, which decides what it remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// For one call, so there is nothing to remember.
    OneCall,
    /// For a list of calls that were made up in advance.
    Batch,
    /// As long as this process holds it: a conversation, a connection.
    Conversation,
    /// As long as its id is used, in whatever process.
    Joined,
}

/// How results of a call are bounded.
#[derive(Debug, Clone)]
pub struct ResultSettings {
    /// The set of limits in force.
    pub preset: Preset,
    /// Where long results are kept whole.
    pub folder: Option<PathBuf>,
}

/// What a tool may know about its call, and the way back to the caller. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CallContext {
    inner: Arc<Inner>,
    reach: Arc<Reach>,
}

#[derive(Debug)]
struct Inner {
    call: CallId,
    session: Arc<Session>,
    face: Option<Face>,
    cancellation: CancellationToken,
    events: Events,
    limit: Limit,
    whole: Whole,
    veil: Veil,
    spawner: Option<Arc<dyn Spawner>>,
    services: Arc<Services>,
    patience: Option<Duration>,
}

impl CallContext {
    pub(crate) fn new(
        call: CallId,
        session: Arc<Session>,
        face: Option<Face>,
        cancellation: CancellationToken,
        events: Events,
        results: &ResultSettings,
        (shape, max_chars): (Shape, usize),
    ) -> Self {
        let whole = match &results.folder {
            Some(folder) => Whole::Kept { folder: folder.clone(), name: call.to_string() },
            None => Whole::Dropped,
        };
        let inner = Inner {
            limit: Limit::for_shape(shape, results.preset, max_chars),
            call,
            session,
            face,
            cancellation,
            events,
            whole,
            veil: Veil::default(),
            spawner: None,
            services: Arc::default(),
            patience: None,
        };
        Self { inner: Arc::new(inner), reach: Arc::default() }
    }

    /// The same context with somebody who starts programs.
    #[must_use]
    pub(crate) fn with_spawner(mut self, spawner: Option<Arc<dyn Spawner>>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.spawner = spawner;
        }
        self
    }

    /// The same context with what tools need from outside.
    #[must_use]
    pub(crate) fn with_services(mut self, services: Arc<Services>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.services = services;
        }
        self
    }

    /// The same context of a call that waits so long for a person.
    #[must_use]
    pub(crate) fn with_patience(mut self, patience: Option<Duration>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.patience = patience;
        }
        self
    }

    /// How long a person may take to answer, where that is not what the gate says.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.inner.patience
    }

    /// What a tool needs from outside, by its kind; see [`Services`].
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.inner.services.get()
    }

    /// The same context of a call that may reach this far.
    #[must_use]
    pub(crate) fn with_reach(self, reach: Reach) -> Self {
        Self { reach: Arc::new(reach), ..self }
    }

    /// How far the call may reach, once it may run. Until then it may reach nothing.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Who starts programs, if anybody does.
    pub fn spawner(&self) -> Option<&Arc<dyn Spawner>> {
        self.inner.spawner.as_ref()
    }

    /// The same context with files that a search leaves out.
    #[must_use]
    pub(crate) fn with_veil(mut self, veil: Veil) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.veil = veil;
        }
        self
    }

    /// What a search below a folder leaves out: files that may not be read unasked. Nothing, when
    /// the folder is itself such a place, because then the whole search was asked about.
    pub fn veil(&self, folder: &Path) -> Veil {
        let veil = &self.inner.veil;
        if veil.hides(folder) { Veil::default() } else { veil.clone() }
    }

    /// The rules about files that no command may read, for a sandbox to hide them.
    pub fn denied(&self) -> Veil {
        self.inner.veil.clone()
    }

    /// The call's id.
    pub fn call(&self) -> &CallId {
        &self.inner.call
    }

    /// The session the call belongs to.
    pub fn session(&self) -> &Session {
        &self.inner.session
    }

    /// The same, for what outlasts the call or makes others in its place.
    pub fn shared_session(&self) -> Arc<Session> {
        Arc::clone(&self.inner.session)
    }

    /// Where the session works.
    pub fn workspace(&self) -> &Workspace {
        self.inner.session.workspace()
    }

    /// Fires when the call should stop.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.inner.cancellation
    }

    /// Stops a long piece of work once the call is cancelled.
    ///
    /// # Errors
    ///
    /// `Cancelled`, once it is.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.inner.cancellation.is_cancelled() { Err(ToolError::cancelled()) } else { Ok(()) }
    }

    /// What the caller's dialect calls a native parameter, for messages.
    pub fn parameter<'a>(&'a self, native: &'a str) -> &'a str {
        self.inner.face.as_ref().map_or(native, |face| face.parameter(native))
    }

    /// The dialect the tool was called in.
    pub fn dialect(&self) -> Dialect {
        self.inner.face.as_ref().map_or(Dialect::Native, |face| face.dialect)
    }

    /// Collects a long result under this call's limits, with bounded memory.
    pub fn collector(&self) -> Collector {
        Collector::new(self.inner.limit, self.inner.whole.clone())
    }

    /// Collects a piece of a result, as long at most as the whole may be.
    pub fn piece(&self) -> Collector {
        Collector::new(self.inner.limit, Whole::Dropped)
    }

    /// How many characters a result may have.
    pub fn max_chars(&self) -> usize {
        self.inner.limit.chars.keep
    }

    /// Where long results are kept whole, and the name for that of this call.
    pub fn whole(&self) -> &Whole {
        &self.inner.whole
    }

    /// Shows output while the call runs.
    pub fn output(&self, text: &str) {
        self.inner.events.emit(|| Event::ToolCallOutput {
            call: self.inner.call.clone(),
            text: visible::text(text).into_owned(),
        });
    }

    /// Says how far the call is.
    pub fn progress(&self, message: &str) {
        self.tell_progress(message, None);
    }

    /// Says how far the call is, in numbers, too.
    pub fn progress_of(&self, portion: Portion, message: &str) {
        self.tell_progress(message, Some(portion));
    }

    fn tell_progress(&self, message: &str, portion: Option<Portion>) {
        self.inner.events.emit(|| Event::ToolCallProgress {
            call: self.inner.call.clone(),
            message: visible::line(message).into_owned(),
            portion,
        });
    }

    /// Runs blocking work without holding up other calls.
    ///
    /// # Errors
    ///
    /// Whatever the work fails with.
    ///
    /// # Panics
    ///
    /// Panics where the work panicked; the gate contains it.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let context = self.clone();
        match tokio::task::spawn_blocking(move || work(&context)).await {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::cancelled()),
        }
    }
}
