//! Which system calls a confined command may make.

/// The filters, ready to be applied.
#[derive(Debug)]
pub(crate) struct Filters;

impl Filters {
    pub(crate) fn compile() -> Result<Self, String> {
        Ok(Self)
    }
}
