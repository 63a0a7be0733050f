//! Tools come, go, and are found by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_core::dialect::{Dialect, Face};
use toolgate_core::error::ErrorKind;
use toolgate_core::export::{Provider, tool_schema};
use toolgate_core::registry::{Filter, Registry, RegistryChange};
use toolgate_core::tool::{Group, Tool};

use crate::harness::{any_tool_name, block_on, cases, failure, gate, session};
use crate::made_up::MadeUp;

fn tool(name: &str) -> Arc<dyn Tool> {
    Arc::new(MadeUp::new(name))
}

fn registry(names: impl IntoIterator<Item = impl AsRef<str>>) -> Registry {
    let registry = Registry::new();
    for name in names {
        registry.register(tool(name.as_ref())).unwrap();
    }
    registry
}

fn names(tools: &[Arc<dyn Tool>]) -> Vec<String> {
    tools.iter().map(|tool| tool.definition().name.to_string()).collect()
}

fn any_names() -> impl Strategy<Value = BTreeSet<String>> {
    btree_set(any_tool_name(), 1..20)
}

/// Parameters of a tool: each with a type, and whether it is required.
fn any_parameters() -> impl Strategy<Value = BTreeMap<String, (&'static str, bool)>> {
    let kind = prop_oneof![Just("string"), Just("integer"), Just("boolean"), Just("number")];
    btree_map("[a-z][A-Za-z]{0,9}", (kind, any::<bool>()), 0..6)
}

fn schema_of(parameters: &BTreeMap<String, (&'static str, bool)>) -> Value {
    let properties = parameters.iter().map(|(name, (kind, _))| {
        (name.clone(), json!({ "type": kind, "description": format!("What {name} is.") }))
    });
    let required = parameters.iter().filter(|(_, (_, required))| *required);
    json!({
        "type": "object",
        "description": "Not repeated among the parameters.",
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "required": required.map(|(name, _)| name).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 1: Tool Registration and Retrieval
    #[test]
    fn property_1_tool_registration_and_retrieval(names in any_names()) {
        let registry = Registry::new();
        let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        for tool in &tools {
            registry.register(Arc::clone(tool)).unwrap();
        }
        for (name, tool) in names.iter().zip(&tools) {
            let found = registry.get(name).unwrap();
            prop_assert!(Arc::ptr_eq(&found, tool), "another tool is called {name}");
        }
    }

    // Feature: stage-03-tools-policy, Property 2: Tool Replacement
    #[test]
    fn property_2_tool_replacement(others in any_names(), name in any_tool_name()) {
        let registry = registry(others.iter().filter(|other| **other != name));
        let (first, second) = (tool(&name), tool(&name));
        registry.register(first).unwrap();
        let before = registry.list().len();
        registry.register(Arc::clone(&second)).unwrap();
        prop_assert!(Arc::ptr_eq(&registry.get(&name).unwrap(), &second));
        prop_assert_eq!(registry.list().len(), before);
    }

    // Feature: stage-03-tools-policy, Property 3: Tool Unregistration
    #[test]
    fn property_3_tool_unregistration(all in any_names(), index in any::<prop::sample::Index>()) {
        let registry = registry(&all);
        let gone = index.get(&all.iter().collect::<Vec<_>>()).as_str();
        prop_assert!(registry.unregister(gone));
        prop_assert!(registry.get(gone).is_none());
        prop_assert!(!registry.unregister(gone), "it was there twice");
        for other in all.iter().filter(|name| *name != gone) {
            prop_assert!(registry.get(other).is_some(), "{} went too", other);
        }
    }

    // Feature: stage-03-tools-policy, Property 4: Tool List Ordering and Consistency
    #[test]
    fn property_4_tool_list_ordering_and_consistency(shuffled in vec(any_tool_name(), 0..20)) {
        let registry = registry(&shuffled);
        let listed = names(&registry.list());
        let sorted: Vec<String> = BTreeSet::from_iter(shuffled).into_iter().collect();
        prop_assert_eq!(&listed, &sorted);
        prop_assert_eq!(names(&registry.list()), listed);
    }

    // Feature: stage-03-tools-policy, Property 5: Schema Generation Completeness
    #[test]
    fn property_5_schema_generation_completeness(
        tools in btree_map(any_tool_name(), (any_parameters(), "\\PC{0,40}"), 0..8),
    ) {
        let registry = Registry::new();
        for (name, (parameters, description)) in &tools {
            let tool = MadeUp::new(name).schema(schema_of(parameters));
            let tool = tool.defined(|definition| definition.described = Some(description.to_owned()));
            registry.register(Arc::new(tool)).unwrap();
        }
        for (provider, pointer) in [
            (Provider::OpenAi, "/function"),
            (Provider::Anthropic, ""),
            (Provider::Gemini, ""),
            (Provider::Mcp, ""),
        ] {
            let schemas: Vec<Value> = registry
                .list()
                .iter()
                .map(|tool| tool_schema(tool.definition(), provider, Dialect::Native))
                .collect();
            prop_assert_eq!(schemas.len(), tools.len());
            for (schema, (name, (parameters, description))) in schemas.iter().zip(&tools) {
                let schema = schema.pointer(pointer).unwrap();
                let given = ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| schema.get(key)).unwrap();
                let declared = schema_of(parameters);
                prop_assert_eq!(&schema["name"], name.as_str());
                prop_assert_eq!(&schema["description"], description.as_str());
                for key in ["type", "properties", "required"] {
                    prop_assert_eq!(&given[key], &declared[key], "{} of {}", key, name);
                }
                prop_assert!(given.get("description").is_none(), "the description is said twice");
            }
        }
    }
}

#[test]
fn changes_are_told_in_order_to_whoever_listens() {
    let registry = registry(["before"]);
    let mut changes = registry.subscribe();
    registry.register(tool("a")).unwrap();
    registry.register(tool("a")).unwrap();
    registry.unregister("a");
    registry.unregister("a");
    registry.unregister("not a name!");
    let name = || "a".parse().unwrap();
    assert_eq!(changes.try_recv(), Ok(RegistryChange::Added(name())));
    assert_eq!(changes.try_recv(), Ok(RegistryChange::Replaced(name())));
    assert_eq!(changes.try_recv(), Ok(RegistryChange::Removed(name())));
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn a_listener_that_does_not_read_holds_nothing_up() {
    let registry = Registry::new();
    let mut changes = registry.subscribe();
    for number in 0..1_000 {
        registry.register(tool(&format!("t{number}"))).unwrap();
    }
    assert!(matches!(changes.try_recv(), Err(TryRecvError::Lagged(_))));
    assert_eq!(registry.list().len(), 1_000);
}

#[test]
fn many_threads_register_without_losing_a_tool() {
    let registry = Registry::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let registry = &registry;
            scope.spawn(move || {
                for number in 0..50 {
                    registry.register(tool(&format!("t{thread}-{number}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(registry.list().len(), 200);
}

#[derive(JsonSchema)]
struct NoParams {}

fn with_face(name: &str, face: &'static str) -> MadeUp {
    let face = Face::renamed::<NoParams>(Dialect::Claude, face);
    MadeUp::new(name).defined(|definition| definition.faces = vec![face])
}

#[test]
fn a_name_never_means_two_tools() {
    let registry = Registry::new();
    registry.register(Arc::new(with_face("read_file", "Read"))).unwrap();
    let taken = registry.register(tool("Read")).unwrap_err();
    assert_eq!((taken.name.as_str(), taken.owner.as_str()), ("Read", "read_file"));
    for (name, face) in [("other", "Read"), ("another", "read_file")] {
        let taken = registry.register(Arc::new(with_face(name, face))).unwrap_err();
        assert_eq!(taken.owner.as_str(), "read_file", "{taken}");
    }
    assert_eq!(names(&registry.list()), ["read_file"]);
    registry
        .register(Arc::new(with_face("read_file", "Read")))
        .expect("replacing itself is no conflict");
}

#[test]
fn filters_go_by_group_dialect_and_session() {
    let registry = Registry::new();
    let in_group = |tool: MadeUp, group| tool.defined(|definition| definition.group = group);
    registry.register(Arc::new(in_group(with_face("a", "A"), Group::Search))).unwrap();
    registry.register(Arc::new(in_group(MadeUp::new("b"), Group::Edit))).unwrap();
    registry.register(Arc::new(MadeUp::new("c").switched_off())).unwrap();
    let listed = |filter: Filter<'_>| names(&registry.list_filtered(&filter));
    let session = session();
    assert_eq!(listed(Filter::default()), ["a", "b", "c"]);
    assert_eq!(
        listed(Filter { groups: &[Group::Edit, Group::Meta], ..Filter::default() }),
        ["b", "c"]
    );
    assert_eq!(listed(Filter { dialect: Some(Dialect::Claude), ..Filter::default() }), ["a"]);
    assert_eq!(listed(Filter { enabled_in: Some(&session), ..Filter::default() }), ["a", "b"]);
}

#[test]
fn unknown_tools_get_the_nearest_names() {
    let gate =
        gate([with_face("read_file", "Read"), MadeUp::new("grep"), MadeUp::new("write_file")])
            .build();
    let message = |name: &str| {
        let error = block_on(failure(&gate, name, json!({})));
        assert_eq!(error.kind, ErrorKind::ToolNotFound);
        error.message
    };
    insta::assert_snapshot!(message("readfile"), @"there is no tool `readfile`; did you mean `read_file` or `write_file`?");
    insta::assert_snapshot!(message("gerp"), @"there is no tool `gerp`; did you mean `grep`?");
    insta::assert_snapshot!(message("zzz\u{1b}[2J"), @r"there is no tool `zzz\x1b[2J`; the tools are: grep, read_file, write_file");
}

#[test]
fn a_tool_that_is_switched_off_says_so_and_does_not_run() {
    let tool = MadeUp::new("quiet").switched_off();
    let runs = tool.runs();
    let error = block_on(failure(&gate([tool]).build(), "quiet", json!({})));
    assert_eq!(error.kind, ErrorKind::ToolDisabled);
    insta::assert_snapshot!(error.message, @"`quiet` is switched off in this session; use another tool");
    assert_eq!(runs(), 0);
}
