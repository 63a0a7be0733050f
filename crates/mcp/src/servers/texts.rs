//! The texts in a value, wherever they are.

use serde_json::Value;

/// The value with every text changed; names of fields stay.
pub(super) fn each_text(value: Value, change: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| each_text(item, change)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, each_text(value, change))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_found_at_every_depth_and_names_are_left_alone() {
        let value = json!({ "a": ["b", { "c": "d" }, 1, null], "e": true });
        let changed = each_text(value, str::to_uppercase);
        assert_eq!(changed, json!({ "a": ["B", { "c": "D" }, 1, null], "e": true }));
    }
}
