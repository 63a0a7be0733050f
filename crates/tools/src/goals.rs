//! Goals, one of them active, and what happens on the way.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

mod shown;

tools! {
    complete_goal::CompleteGoal,
    create_checkpoint::CreateCheckpoint,
    create_goal::CreateGoal,
    record_decision::RecordDecision,
    switch_goal::SwitchGoal,
}
