//! Asking a person.
//!
//! A request goes to every surface at once; the first answer wins. Start
//! reading at [`Approvals`].

mod answer;
mod approver;
mod bus;
mod request;

pub use answer::{Answer, Span};
pub use approver::{Approver, NobodyThere};
pub use bus::{AnswerError, Answered, Approvals, Attendance, Pending, Reply};
pub use request::{
    ApprovalId, ApprovalRequest, InvalidApprovalId, Proposal, ShownCommand, ShownPlace,
};
