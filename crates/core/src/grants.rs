//! What a person allowed beyond one call.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::approval::{ApprovalRequest, Proposal, Span};
use crate::context::Session;
use crate::id::SessionId;
use crate::ledger::RecordError;
use crate::policy::granted::{Given, Granted};
use crate::policy::load::Loader;
use crate::policy::profile::Profile;

/// Keeps the rules people gave in answer to requests.
#[async_trait]
pub trait Grants: fmt::Debug + Send + Sync {
    /// The rules in force for a session; nothing when there are none.
    fn of(&self, session: &Session) -> Option<Arc<Granted>>;

    /// Adds a rule; commands it covers run with the reach that the proposal has. The call it was
    /// given for counts as its first use.
    ///
    /// # Errors
    ///
    /// When it cannot be kept; then the call runs once, and others ask again.
    async fn add(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
        span: Span,
    ) -> Result<(), RecordError>;

    /// Takes one use of each of these; `false` when one of them has none left, and then none is
    /// taken.
    ///
    /// # Errors
    ///
    /// When that cannot be written down.
    async fn take(&self, ids: &[Arc<str>]) -> Result<bool, RecordError>;
}

/// Keeps rules for as long as the process lives.
#[derive(Debug, Default)]
pub struct InMemory {
    loader: Loader,
    held: Mutex<Vec<Held>>,
}

/// A rule somebody gave.
#[derive(Debug)]
struct Held {
    id: Arc<str>,
    /// Who it was given to; everybody when nobody in particular.
    session: Option<SessionId>,
    permissions: Vec<String>,
    reach: Option<Profile>,
    expires: Option<i64>,
    uses: Option<u32>,
}

impl InMemory {
    /// Reads rules with the names and places a loader knows.
    pub fn new(loader: Loader) -> Self {
        Self { loader, held: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Grants for InMemory {
    fn of(&self, session: &Session) -> Option<Arc<Granted>> {
        let held = self.lock();
        if held.is_empty() {
            return None;
        }
        let for_session =
            |held: &&Held| held.session.as_ref().is_none_or(|own| own == session.id());
        let given = held.iter().filter(for_session).flat_map(|held| {
            held.permissions.iter().map(|permission| Given {
                id: Arc::clone(&held.id),
                permission: permission.clone(),
                expires: held.expires,
                reach: held.reach.clone(),
            })
        });
        // What was proposed can be read; were it not so, it would allow nothing.
        Granted::new(given, &self.loader).ok().map(Arc::new)
    }

    async fn add(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
        span: Span,
    ) -> Result<(), RecordError> {
        let (expires, uses) = limits(span, SystemTime::now());
        if uses == Some(0) {
            return Ok(());
        }
        self.lock().push(Held {
            id: request.id.to_string().into(),
            session: (span != Span::Always).then(|| request.session.clone()),
            permissions: proposal.permissions.iter().map(ToString::to_string).collect(),
            reach: proposal.reach.as_deref().cloned(),
            expires,
            uses,
        });
        Ok(())
    }

    async fn take(&self, ids: &[Arc<str>]) -> Result<bool, RecordError> {
        let mut held = self.lock();
        let is_held = |id: &Arc<str>| held.iter().any(|held| held.id == *id);
        // What is not there any more was used up or taken back.
        if !ids.iter().all(is_held) {
            return Ok(false);
        }
        for held in held.iter_mut().filter(|held| ids.contains(&held.id)) {
            held.uses = held.uses.map(|uses| uses.saturating_sub(1));
        }
        held.retain(|held| held.uses != Some(0));
        Ok(true)
    }
}

/// When a rule ends, in seconds since 1970, and how many more calls it covers.
pub fn limits(span: Span, now: SystemTime) -> (Option<i64>, Option<u32>) {
    match span {
        Span::Session | Span::Always => (None, None),
        Span::Uses(uses) => (None, Some(uses.saturating_sub(1))),
        Span::Minutes(minutes) => {
            let end = now + Duration::from_secs(u64::from(minutes) * 60);
            let seconds = end.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            (Some(i64::try_from(seconds.as_secs()).unwrap_or(i64::MAX)), None)
        }
    }
}
