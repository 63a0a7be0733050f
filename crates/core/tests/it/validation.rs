//! Arguments are checked against the schema and never coerced.

use std::collections::BTreeMap;

use proptest::collection::btree_map;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_core::error::ErrorKind;

use crate::harness::{block_on, call, cases, gate};
use crate::made_up::MadeUp;

/// A type of parameter, with values that fit and values that do not.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    fits: fn() -> Value,
    misfits: fn() -> Vec<Value>,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "string",
        fits: || json!("text"),
        misfits: || vec![json!(7), json!(true), json!(null), json!(["text"]), json!({})],
    },
    Kind {
        name: "integer",
        fits: || json!(3),
        misfits: || vec![json!("3"), json!(3.5), json!(false), json!(null), json!([3])],
    },
    Kind {
        name: "boolean",
        fits: || json!(true),
        misfits: || vec![json!("true"), json!(1), json!(0), json!(null)],
    },
    Kind {
        name: "array",
        fits: || json!(["a", 1]),
        misfits: || vec![json!("a"), json!({"0": "a"}), json!(1), json!(null)],
    },
    Kind {
        name: "object",
        fits: || json!({"a": 1}),
        misfits: || vec![json!("{}"), json!([]), json!(1), json!(null)],
    },
];

/// A parameter: its type, whether it is required, whether the arguments hold it.
type Parameter = (Kind, bool, bool);

fn any_parameters() -> impl Strategy<Value = BTreeMap<String, Parameter>> {
    let parameter = (prop::sample::select(KINDS), any::<bool>(), any::<bool>());
    btree_map("[a-z][A-Za-z]{1,8}", parameter, 1..6)
}

fn schema_of(parameters: &BTreeMap<String, Parameter>) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|(name, (kind, ..))| (name.clone(), json!({ "type": kind.name })))
        .collect();
    let required: Vec<&String> =
        parameters.iter().filter(|(_, (_, required, _))| *required).map(|(name, _)| name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Arguments that fit: whatever is required, and some of the rest.
fn valid_args(parameters: &BTreeMap<String, Parameter>) -> Map<String, Value> {
    let given = parameters.iter().filter(|(_, (_, required, given))| *required || *given);
    given.map(|(name, (kind, ..))| (name.clone(), (kind.fits)())).collect()
}

/// One way to spoil arguments that fit, and the parameter it is about.
fn spoil(
    args: &mut Map<String, Value>,
    parameters: &BTreeMap<String, Parameter>,
    way: u8,
    index: prop::sample::Index,
) -> Option<String> {
    let names: Vec<&String> = match way {
        1 => parameters
            .iter()
            .filter(|(_, (_, required, _))| *required)
            .map(|(name, _)| name)
            .collect(),
        _ => parameters.keys().collect(),
    };
    if names.is_empty() {
        return None;
    }
    let name = (*index.get(&names)).clone();
    match way {
        0 => {
            let misfits = (parameters[&name].0.misfits)();
            args.insert(name.clone(), index.get(&misfits).clone());
            Some(name)
        }
        1 => args.remove(&name).map(|_| name),
        _ => {
            let unknown = format!("{name}X9");
            args.insert(unknown.clone(), json!(1));
            Some(unknown)
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    // Feature: stage-03-tools-policy, Property 44: Tool Invocation Parameter Validation
    #[test]
    fn property_44_tool_invocation_parameter_validation(
        parameters in any_parameters(),
        way in 0u8..3,
        index in any::<prop::sample::Index>(),
    ) {
        let tool = MadeUp::new("checked").schema(schema_of(&parameters));
        let runs = tool.runs();
        let gate = gate([tool]).build();
        let mut args = valid_args(&parameters);
        let accepted = block_on(call(&gate, "checked", Value::Object(args.clone())));
        prop_assert_eq!(accepted.result.error, None);
        prop_assert_eq!(accepted.result.llm_content.as_text(), Value::Object(args.clone()).to_string(), "coerced");

        let Some(at_fault) = spoil(&mut args, &parameters, way, index) else {
            return Ok(());
        };
        let refused = block_on(call(&gate, "checked", Value::Object(args)));
        let error = refused.result.error.expect("arguments that do not fit are refused");
        prop_assert_eq!(error.kind, ErrorKind::ValidationError);
        prop_assert!(error.message.contains(&format!("`{at_fault}`")), "{}", error.message);
        prop_assert_eq!(refused.decision, None, "the policy judged a call that does not fit");
        prop_assert_eq!(runs(), 1, "a call that does not fit ran");
    }

}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn arguments_that_are_no_object_are_refused(parameters in any_parameters(), args in prop_oneof![
        Just(json!(null)), Just(json!([])), Just(json!("{}")), Just(json!(1)), Just(json!(true)),
    ]) {
        let gate = gate([MadeUp::new("checked").schema(schema_of(&parameters))]).build();
        let error = block_on(call(&gate, "checked", args)).result.error.unwrap();
        prop_assert_eq!(error.kind, ErrorKind::ValidationError);
        prop_assert!(error.message.contains("must be an object"), "{}", error.message);
    }
}

#[test]
fn messages_stay_short_whatever_came() {
    let many: Map<String, Value> =
        (0..5_000).map(|number| (format!("p{number}"), json!(1))).collect();
    let long = json!({ "name": "x".repeat(1_000_000), "\u{1b}[2J": {} });
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "integer" } },
        "additionalProperties": false,
    });
    let gate = gate([MadeUp::new("checked").schema(schema)]).build();
    for args in [Value::Object(many), long] {
        let result = block_on(call(&gate, "checked", args)).result;
        let message = result.error.expect("it does not fit").message;
        assert!(message.chars().count() < 5_000, "{} characters", message.len());
        assert!(!message.contains('\u{1b}'), "{message}");
    }
}

#[test]
fn a_broken_schema_is_the_tools_fault() {
    let gate = gate([MadeUp::new("broken").schema(json!({ "type": 7 }))]).build();
    let error = block_on(call(&gate, "broken", json!({}))).result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::InternalError);
}
