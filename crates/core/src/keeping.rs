//! What models keep between calls: memory, todos, goals, reasoning.
//!
//! Small traits that a store implements and tools are given as services. Everything belongs to a
//! workspace, named by the real path of its folder, so that projects do not mix. All of it is
//! safe to use from many threads and processes at once: what was acknowledged is there, once.
//! The methods block, so they are called from [`CallContext::blocking`].
//!
//! [`CallContext::blocking`]: crate::context::CallContext::blocking

mod dumps;
mod fault;
mod goals;
mod memory;
mod pins;
mod reasoning;
mod todos;

pub use dumps::Dumps;
pub use fault::KeepingError;
pub use goals::{
    Checkpoint, Decision, Goal, GoalFault, GoalId, GoalStatus, Goals, NewGoal, Started,
};
pub use memory::{
    Fact, MAX_FACT_CHARS, MAX_KEY_CHARS, MAX_VALUE_BYTES, Memory, MemoryEntry, MemoryKey,
    Remembered, Scope, Stored, check_fact, check_key, check_value,
};
pub use pins::{Pins, ServerKey};
pub use reasoning::{Reasoning, Thought, ThoughtKind};
pub use todos::{NewTodo, Todo, TodoFault, TodoId, TodoList, TodoStatus, Todos};
