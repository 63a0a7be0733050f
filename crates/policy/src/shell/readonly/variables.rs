//! Variables that may be set for a command without changing what it does.

use crate::shell::command::Assignment;

/// Makes sure that every variable only changes how output looks.
///
/// # Errors
/// Says in words for a person which variable may do more.
pub(crate) fn inert(assignments: &[Assignment]) -> Result<(), String> {
    match assignments.iter().find(|assignment| !is_inert(assignment)) {
        None => Ok(()),
        Some(assignment) => Err(format!("`{}` may change what it does", assignment.name)),
    }
}

fn is_inert(assignment: &Assignment) -> bool {
    let Some(value) = assignment.value.literal() else {
        return false;
    };
    match assignment.name.as_str() {
        "LANG" | "LC_ALL" | "LC_COLLATE" | "LC_CTYPE" | "LC_MESSAGES" | "LC_NUMERIC"
        | "LC_TIME" => made_of(value, "_-.@"),
        "CLICOLOR" | "CLICOLOR_FORCE" | "COLUMNS" | "FORCE_COLOR" | "LINES" | "NO_COLOR" => {
            made_of(value, "")
        }
        "GIT_OPTIONAL_LOCKS" => value == "0",
        "GIT_PAGER" | "PAGER" => value == "cat",
        "TERM" => made_of(value, "-"),
        // Without a dot or a leading slash it stays among the installed zones.
        "TZ" => !value.starts_with('/') && made_of(value, "_-+/"),
        _ => false,
    }
}

fn made_of(value: &str, also: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_alphanumeric() || also.contains(letter))
}
