//! Tools about the session itself.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

tools! {
    trigger_hot_swap::TriggerHotSwap,
}
