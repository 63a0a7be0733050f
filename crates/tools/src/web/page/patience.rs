//! How long turning a page into text may take.

use std::time::{Duration, Instant};

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};

/// How long turning a page into text may take.
#[derive(Debug)]
pub(crate) struct Patience<'c> {
    context: &'c CallContext,
    until: Instant,
    limit: Duration,
}

/// Why a page could not be turned into text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageFault {
    Cancelled,
    Slow(Duration),
    NoMatch { elements: usize },
    TooManyForHas(usize),
}

impl<'c> Patience<'c> {
    pub(crate) fn new(context: &'c CallContext, limit: Duration) -> Self {
        Self { context, until: Instant::now() + limit, limit }
    }

    pub(super) fn check(&self) -> Result<(), PageFault> {
        if self.context.check().is_err() {
            return Err(PageFault::Cancelled);
        }
        if self.is_over() { Err(PageFault::Slow(self.limit)) } else { Ok(()) }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Whether so much of it is gone that nothing slow should begin.
    pub(super) fn is_short(&self) -> bool {
        Instant::now() + self.limit / 2 >= self.until
    }
}

impl PageFault {
    /// What a model is told about it.
    pub(crate) fn told(&self, url: &str, selector: Option<&str>) -> ToolError {
        let selector = selector.unwrap_or_default();
        let message = match self {
            Self::Cancelled => return ToolError::cancelled(),
            Self::Slow(limit) => format!(
                "turning `{url}` into text took longer than {} s; ask for `format` `html`, or look for a simpler page",
                limit.as_secs_f64()
            ),
            Self::NoMatch { elements } => format!(
                "nothing on `{url}` matches the selector `{selector}` ({elements} elements were looked at); fetch the page without a selector to see what there is, or with `format` `html` to see its structure"
            ),
            Self::TooManyForHas(elements) => format!(
                "`{url}` has {elements} elements, too many for a selector with `:has()`; use a simpler selector"
            ),
        };
        ToolError::new(ErrorKind::FetchError, message)
    }
}
