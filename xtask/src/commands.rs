//! One module per task.

pub(crate) mod bench;
pub(crate) mod ci;
pub(crate) mod cycles;
pub(crate) mod fmt;
pub(crate) mod soak;
pub(crate) mod test;
