//! Finding out what a session should know besides the result of a call.

use toolgate_policy::veil::Veil;

use crate::attachment::Attachment;
use crate::context::Session;

/// Finds out what a session should know after a call.
pub trait Attach: Send + Sync {
    /// Whether there may be something. Quick: it is asked after every call.
    fn may_have_some(&self, session: &Session) -> bool;

    /// What there is, each thing once. Content of files behind the veil is not told.
    fn attachments(&self, session: &Session, veil: &Veil) -> Vec<Attachment>;
}
