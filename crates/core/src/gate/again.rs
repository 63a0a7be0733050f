//! Running a call again with what its sandbox refused, if the user agrees.

use serde_json::{Map, Value};

use super::stage::ExecutedCall;
use crate::call::Call;
use crate::error::ErrorKind;
use crate::result::{Content, ToolResult};

/// The end of the id of a second try.
const SECOND: &str = "-again";

/// Returns the second try of a call whose sandbox refused something, with that added. Returns
/// nothing if nothing was missing, or this was the second try.
pub(super) fn second(call: &ExecutedCall, first: &ToolResult) -> Option<Call> {
    let missing = first.retry_with.as_deref()?;
    let id = call.context.call();
    if id.as_str().ends_with(SECOND) {
        return None;
    }
    let name = call.tool.definition().name.as_str();
    Some(Call::new(name, with(&call.args, missing)).with_id(format!("{id}{SECOND}")))
}

/// Returns the result of a second try, unless it did not run.
pub(super) fn taken(mut result: ToolResult) -> Option<ToolResult> {
    let is_refused = matches!(
        result.error_kind(),
        Some(
            ErrorKind::ApprovalDenied
                | ErrorKind::ApprovalTimeout
                | ErrorKind::PolicyDenied
                | ErrorKind::Cancelled
        )
    );
    if is_refused {
        return None;
    }
    let note = "\n[Its sandbox refused something, and the user agreed to run it again with that. This is the second run.]\n";
    if let Content::Text(text) = &mut result.llm_content {
        text.push_str(note);
    }
    Some(result)
}

/// Arguments with more parameters: lists grow, all else is replaced.
fn with(args: &Value, missing: &Map<String, Value>) -> Value {
    let mut args = args.clone();
    let Some(given) = args.as_object_mut() else { return args };
    for (name, value) in missing {
        match (given.get_mut(name), value) {
            (Some(Value::Array(given)), Value::Array(more)) => given.extend(more.iter().cloned()),
            _ => drop(given.insert(name.clone(), value.clone())),
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_grow_and_all_else_is_replaced() {
        let missing = json!({ "network": ["b"], "sandbox": "full" });
        let args = json!({ "command": "x", "network": ["a"], "sandbox": "read_only" });
        let expected = json!({ "command": "x", "network": ["a", "b"], "sandbox": "full" });
        assert_eq!(with(&args, missing.as_object().unwrap()), expected);
    }
}
