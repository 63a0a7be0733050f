use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;

/// Edits a thing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Params {
    /// Where it is.
    path: String,
    /// First line.
    #[schemars(range(min = 1))]
    start_line: Option<u64>,
    kind: Option<Kind>,
    #[schemars(length(min = 1))]
    edits: Option<Vec<Edit>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Exact,
    Regex,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Edit {
    /// Text to find.
    target: String,
}

fn message(args: &Value) -> String {
    match Schema::of::<Params>().validate(args) {
        Ok(()) => "valid".to_owned(),
        Err(error) => error.message,
    }
}

#[test]
fn faults_name_the_parameter_what_was_expected_and_what_came() {
    let table = [
        (json!({"path": "a"}), "valid"),
        (json!({"path": "a", "startLine": null}), "valid"),
        (json!({}), "missing parameter `path`: Where it is."),
        (json!({"path": 7}), "parameter `path` must be a string, got 7"),
        (
            json!({"path": "a", "startLine": "3"}),
            "parameter `startLine` must be a whole number, got string \"3\"",
        ),
        (json!({"path": "a", "startLine": 0}), "parameter `startLine` must be at least 1, got 0"),
        (
            json!({"path": "a", "start_line": 1}),
            "unknown parameter `start_line`, did you mean `startLine`?",
        ),
        (
            json!({"path": "a", "zzz": 1}),
            "unknown parameter `zzz`, expected one of: path, startLine, kind, edits",
        ),
        (
            json!({"path": "a", "edits": []}),
            "parameter `edits` must hold at least 1, got a list of 0",
        ),
        (
            json!({"path": "a", "edits": [{}]}),
            "missing parameter `target` in `edits[0]`: Text to find.",
        ),
        (
            json!({"path": "a", "edits": [{"target": 1}]}),
            "parameter `edits[0].target` must be a string, got 1",
        ),
        (json!([1]), "the arguments must be an object, got a list of 1"),
    ];
    for (args, expected) in table {
        assert_eq!(message(&args), expected);
    }
    let wrong = message(&json!({"path": "a", "kind": "fuzzy"}));
    assert!(wrong.contains("`kind`") && wrong.contains("fuzzy"), "{wrong}");
}

#[test]
fn conversions_that_fail_name_no_rust_types() {
    let error = parse::<Params>(json!({"path": "a", "startLine": 1e300})).unwrap_err();
    assert!(!error.message.contains("u64"), "{}", error.message);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let names = prop_oneof![Just("path".to_owned()), Just("edits".to_owned()), any::<String>()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((names, inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_accepted_or_explained(args in any_json()) {
        if let Err(error) = Schema::of::<Params>().validate(&args) {
            prop_assert_eq!(error.kind, ErrorKind::ValidationError);
            prop_assert!(!error.message.is_empty());
        }
    }
}
