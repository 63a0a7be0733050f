//! What a call says about itself before anything happens.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::Call;
use toolgate_core::gate::{Gate, Validated};
use toolgate_core::tool::Location;

use crate::harness::{any_location, block_on, cases, gate, session};
use crate::made_up::MadeUp;

fn validated(gate: &Gate, tool: &str) -> Validated {
    let call = Call::new(tool, json!({}));
    block_on(gate.validate(call, &session(), &CancellationToken::new())).unwrap()
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 45: Tool Invocation Description
    #[test]
    fn property_45_tool_invocation_description(said in "[\\PC\\x00-\\x1f]{1,80}") {
        let tool = MadeUp::new("described").describing(&said);
        let runs = tool.runs();
        let call = validated(&gate([tool]).build(), "described");
        prop_assert!(!call.description().is_empty());
        prop_assert!(!call.description().chars().any(char::is_control), "{:?}", call.description());
        if !said.chars().any(char::is_control) {
            prop_assert_eq!(call.description(), said);
        }
        prop_assert_eq!(runs(), 0, "describing a call ran it");
    }

    // Feature: stage-03-tools-policy, Property 46: Tool Invocation Locations
    #[test]
    fn property_46_tool_invocation_locations(locations in vec(any_location(), 0..6)) {
        let tool = MadeUp::new("located").touching(locations.clone());
        let runs = tool.runs();
        let call = validated(&gate([tool]).build(), "located");
        prop_assert_eq!(call.locations(), locations.as_slice());
        let paths: Vec<_> = locations
            .iter()
            .filter_map(|location| match location {
                Location::Path(fact) => Some(fact.clone()),
                _ => None,
            })
            .collect();
        prop_assert_eq!(&call.facts().paths, &paths, "the policy judges other paths");
        prop_assert_eq!(runs(), 0, "locating a call ran it");
    }
}
