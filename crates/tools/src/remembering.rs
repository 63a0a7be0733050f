//! Remembering, from one session to the next.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

mod outline;

tools! {
    memory::Memory,
    read_reasoning::ReadReasoning,
    remember::Remember,
    write_memory_dump::WriteMemoryDump,
}
