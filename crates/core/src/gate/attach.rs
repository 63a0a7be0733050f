//! What a session should know besides the result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::parts::Parts;
use crate::attach::Attach;
use crate::attachment::Attachment;
use crate::context::Session;

/// What there is to tell after a call. A failure to find out says nothing about the call.
pub(super) async fn attachments(parts: &Parts, session: &Arc<Session>) -> Vec<Attachment> {
    let Some(attach) = parts.services.get::<dyn Attach>() else {
        return Vec::new();
    };
    if !attach.may_have_some(session) {
        return Vec::new();
    }
    let (session, veil) = (Arc::clone(session), parts.policy.veil());
    let look = move || {
        let looked = AssertUnwindSafe(|| attach.attachments(&session, &veil));
        catch_unwind(looked).unwrap_or_default()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}
