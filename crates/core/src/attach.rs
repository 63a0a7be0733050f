//! Finding out what a session should know besides the result of a call.

use crate::attachment::Attachment;
use crate::context::Session;
use crate::workspace::ResolvedPath;

/// Finds out what a session should know after a call.
pub trait Attach: Send + Sync {
    /// Whether there may be something. Quick: it is asked after every call.
    fn may_have_some(&self, session: &Session) -> bool;

    /// What there is, each thing once. Of a file that may not be read unasked no content is told.
    fn attachments(
        &self,
        session: &Session,
        may_read: &dyn Fn(&ResolvedPath) -> bool,
    ) -> Vec<Attachment>;
}
