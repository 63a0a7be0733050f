//! What to tell a model whose edit means nothing, or too much.

use toolgate_core::context::CallContext;
use toolgate_core::dialect::Dialect;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::visible;

use crate::edit::{self, Difference, Edit, Fault, Nearest};

/// What a fault means and what to do about it.
pub(super) fn explain(
    context: &CallContext,
    shown: &str,
    fault: &Fault,
    text: &str,
    edit: &Edit,
) -> ToolError {
    let (target, all) = (context.parameter("target"), context.parameter("replaceAll"));
    let (kind, message) = match fault {
        Fault::NotFound => (ErrorKind::EditTargetNotFound, not_found(context, shown, text, edit)),
        Fault::Ambiguous { count, lines } => {
            let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
            let lines = lines.join(", ");
            let hint = match context.dialect() {
                Dialect::Claude => "",
                _ => "give `lineHint`, ",
            };
            let message = format!(
                "`{target}` is ambiguous: it stands in `{shown}` {count} times, at lines {lines}; \
                 include more of the text around it, {hint}or set `{all}`"
            );
            (ErrorKind::EditTargetAmbiguous, message)
        }
        Fault::HintBetween { hint, lines } => {
            let (one, other) = lines;
            let message = format!(
                "`{target}` is ambiguous: lines {one} and {other} of `{shown}` are equally near \
                 `lineHint` {hint}; give the line itself"
            );
            (ErrorKind::EditTargetAmbiguous, message)
        }
        Fault::Empty => {
            let message = format!(
                "`{target}` is empty, which stands everywhere in `{shown}`; name the text to \
                 replace, or use `write_file` to replace the whole file"
            );
            (ErrorKind::EditTargetAmbiguous, message)
        }
        Fault::TooMany { most } => (
            ErrorKind::FileEditError,
            format!(
                "`{target}` stands in `{shown}` in more than {most} places, too many to change at \
                 once; use a stream editor instead"
            ),
        ),
        Fault::Pattern(reason) => (
            ErrorKind::FileEditError,
            format!("`{target}` cannot be used as a regular expression: {reason}"),
        ),
    };
    ToolError::new(kind, format!("{message}. Nothing was changed"))
}

fn not_found(context: &CallContext, shown: &str, text: &str, edit: &Edit) -> String {
    let target = context.parameter("target");
    let Some(near) = edit::nearest(text, &edit.target) else {
        return format!(
            "`{target}` is not in `{shown}`; nothing there comes close, so read the file again \
             and copy the text to replace"
        );
    };
    let Nearest { line, text, difference } = near;
    let lines = text.lines().map(|line| format!("  {}", visible::line(line)));
    let quoted = lines.collect::<Vec<_>>().join(
        "
",
    );
    let difference = match difference {
        Difference::Whitespace if context.dialect() == Dialect::Claude => {
            "It differs in whitespace only; copy it to the letter".to_owned()
        }
        Difference::Whitespace => {
            "It differs in whitespace only; copy it to the letter, or set `match` to `flexible`"
                .to_owned()
        }
        Difference::At { line, column, target: wanted, found } => format!(
            "It differs at line {line}, column {column}: the file has `{}`, `{target}` has `{}`",
            visible::line(&found),
            visible::line(&wanted),
        ),
    };
    format!(
        "`{target}` is not in `{shown}`; the closest text is at line {line}:\n{quoted}\n{difference}"
    )
}
