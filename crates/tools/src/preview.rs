//! What a change will look like, for the person who is asked.

use std::time::Duration;

use similar::{Algorithm, TextDiff};
use toolgate_core::context::CallContext;
use toolgate_core::error::ToolError;
use toolgate_core::tool::Preview;
use toolgate_core::visible;
use toolgate_core::workspace::{FileKind, ResolvedPath};

use crate::content::human_size;
use crate::{content, paths};

/// Larger files are not compared line by line.
const COMPARED: u64 = 1024 * 1024;

/// The difference a change will make to a file; `change` gets the old text.
pub(crate) fn of_change(
    context: &CallContext,
    file: &ResolvedPath,
    change: impl FnOnce(&str) -> Result<String, ToolError>,
) -> Preview {
    let shown = context.workspace().shown(file.requested());
    if file.size() > COMPARED {
        return Preview::Text(format!(
            "{shown} has {}, too much to compare",
            human_size(file.size())
        ));
    }
    let before = match file.kind() {
        FileKind::Missing => Ok(String::new()),
        FileKind::File => content::read(context, file, None).map(|decoded| decoded.text),
        kind => {
            let error = toolgate_core::workspace::OpenError::NotRegular { kind };
            Err(paths::open_error(
                context,
                file,
                &error,
                toolgate_core::error::ErrorKind::FileWriteError,
            ))
        }
    };
    match before.and_then(|before| Ok((change(&before)?, before))) {
        Ok((after, before)) => Preview::Diff(diff(&shown, &before, &after)),
        Err(error) => Preview::Text(format!("This would fail: {}", error.message)),
    }
}

/// Returns a unified diff of two texts.
pub fn diff(shown: &str, before: &str, after: &str) -> String {
    // A lone return would count as a line end.
    let (before, after) = (visible::text(before), visible::text(after));
    TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .timeout(Duration::from_millis(500))
        .diff_lines(&*before, &*after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{shown}"), &format!("b/{shown}"))
        .to_string()
}
