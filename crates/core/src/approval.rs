//! Asking a person.
//!
//! A request goes to every surface at once; the first answer wins. Start
//! reading at [`Approvals`].

mod answer;
mod approver;
mod bus;
mod digest;
mod request;

pub use answer::{Answer, Span};
pub use approver::{Approver, NobodyThere};
pub use bus::{AnswerError, Answered, Approvals, Attendance, Pending, Reply};
pub use digest::Digest;
pub use request::{
    ApprovalId, ApprovalRequest, InvalidApprovalId, JsonText, Proposal, ShownAccess, ShownCommand,
    ShownPlace,
};
