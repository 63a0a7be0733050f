//! Asking a person.
//!
//! A request goes to every surface at once; the first answer wins. Start
//! reading at [`Approvals`].

mod answer;
mod approver;
mod bus;
mod digest;
mod request;
mod shown_reach;

pub use answer::{Answer, GivenRule, Span};
pub use approver::{Approver, NobodyThere};
pub use bus::{AnswerError, Answered, Approvals, Attendance, Pending, Reply};
pub use digest::Digest;
pub use request::{
    ApprovalId, ApprovalRequest, InvalidApprovalId, JsonText, Proposal, ShownAccess, ShownCommand,
    ShownPlace,
};
pub use shown_reach::ShownReach;
