//! Settings files, which a change must not break.
//!
//! A tool that is about to write hands over the new text (`check`). Settings of Claude Code
//! are known here; a service of the kind [`SettingsFiles`] knows others.

mod claude;

use std::sync::Arc;

use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::settings::SettingsFiles;
use toolgate_core::visible;
use toolgate_core::workspace::ResolvedPath;

pub use self::claude::{ClaudeSettings, SCHEMAS};

/// How many things are told that are wrong.
const TOLD: usize = 10;

/// Whether a file is a settings file.
pub(crate) fn is_settings(context: &CallContext, file: &ResolvedPath) -> bool {
    known(context).iter().any(|known| known.knows(file.real()) || known.knows(file.requested()))
}

/// Refuses a text that would break a settings file.
///
/// # Errors
///
/// `SettingsInvalid`, with what is wrong.
pub(crate) fn check(
    context: &CallContext,
    file: &ResolvedPath,
    text: &str,
) -> Result<(), ToolError> {
    check_by(&known(context), context, file, text)
}

/// The same before anybody is asked. Settings of Toolgate itself are left to the policy, which has
/// more to say about who may write them than what they hold.
///
/// # Errors
///
/// `SettingsInvalid`, with what is wrong.
pub(crate) fn check_early(
    context: &CallContext,
    file: &ResolvedPath,
    text: &str,
) -> Result<(), ToolError> {
    check_by(&[Arc::new(ClaudeSettings)], context, file, text)
}

fn check_by(
    known: &[Arc<dyn SettingsFiles>],
    context: &CallContext,
    file: &ResolvedPath,
    text: &str,
) -> Result<(), ToolError> {
    for known in known {
        let Some(path) = [file.real(), file.requested()].into_iter().find(|path| known.knows(path))
        else {
            continue;
        };
        let violations = known.violations(path, text);
        if !violations.is_empty() {
            return Err(invalid(context, file, &violations));
        }
    }
    Ok(())
}

fn known(context: &CallContext) -> Vec<Arc<dyn SettingsFiles>> {
    let own: Arc<dyn SettingsFiles> = Arc::new(ClaudeSettings);
    std::iter::once(own).chain(context.service::<dyn SettingsFiles>()).collect()
}

fn invalid(context: &CallContext, file: &ResolvedPath, violations: &[String]) -> ToolError {
    let shown = context.workspace().shown(file.requested());
    let mut message =
        format!("this would break the settings in `{shown}`, so nothing was changed:");
    for violation in violations.iter().take(TOLD) {
        message.push_str(&format!("\n- {}", visible::line(violation)));
    }
    if violations.len() > TOLD {
        message.push_str(&format!("\n- and {} more", violations.len() - TOLD));
    }
    message.push_str("\nMake a change that keeps the file valid.");
    ToolError::new(ErrorKind::SettingsInvalid, message)
}
