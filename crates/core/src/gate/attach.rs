//! What a session should know besides the result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::json;
use toolgate_policy::{Access, Decision, Effect, Facts, Policy, Risk};

use super::parts::Parts;
use crate::attach::Attach;
use crate::attachment::Attachment;
use crate::context::Session;
use crate::workspace::ResolvedPath;
use crate::world::SessionWorld;

/// What there is to tell after a call. A failure to find out says nothing about the call.
pub(super) async fn attachments(parts: &Parts, session: &Arc<Session>) -> Vec<Attachment> {
    let Some(attach) = parts.services.get::<dyn Attach>() else {
        return Vec::new();
    };
    if !attach.may_have_some(session) {
        return Vec::new();
    }
    let (session, policy) = (Arc::clone(session), Arc::clone(&parts.policy));
    let look = move || {
        let may_read = |file: &ResolvedPath| may_read(policy.as_ref(), &session, file);
        let looked = AssertUnwindSafe(|| attach.attachments(&session, &may_read));
        catch_unwind(looked).unwrap_or_default()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// Whether a file could be read by a call without a question.
fn may_read(policy: &dyn Policy, session: &Session, file: &ResolvedPath) -> bool {
    let fact = file.fact(Access::Read);
    // Another name of the file may be one that could not be read.
    if fact.hard_links > 1 {
        return false;
    }
    let args = json!({ "path": session.workspace().shown(file.real()) });
    let facts = Facts::new("read_file", Effect::Read, Risk::Low);
    let facts = facts.with_args(args).with_paths(vec![fact]);
    let world = SessionWorld::new(session.workspace());
    policy.decide(&facts, &world).decision == Decision::Allow
}
