//! What happens to calls, told as it happens.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::Answer;
use toolgate_core::call::Call;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::event::Event;
use toolgate_core::gate::{Gate, GateSettings, Schedule};
use toolgate_core::policy::{Engine, Mode, Risk};
use toolgate_core::result::ToolResult;

use crate::harness::{Recorder, block_on, call, gate, session};
use crate::made_up::MadeUp;

fn received(events: &mut Receiver<Event>) -> Vec<Value> {
    let mut all = Vec::new();
    while let Ok(event) = events.try_recv() {
        all.push(serde_json::to_value(event).unwrap());
    }
    all
}

/// The names of all events of a call.
fn told(gate: &Gate, tool: &str, args: Value) -> Vec<String> {
    let mut events = gate.events().subscribe();
    block_on(call(gate, tool, args));
    received(&mut events).iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_call_is_told_from_start_to_end() {
    let failing = MadeUp::new("failing")
        .doing(|_, _| async { Err(ToolError::new(ErrorKind::LsError, "no")) });
    let gate = gate([MadeUp::new("fine"), failing]).build();
    assert_eq!(
        told(&gate, "fine", json!({})),
        ["tool_call_start", "tool_execution_success", "tool_call_end"]
    );
    assert_eq!(
        told(&gate, "failing", json!({})),
        ["tool_call_start", "tool_execution_failure", "tool_call_end"]
    );
    assert_eq!(told(&gate, "nonsense", json!({})), ["tool_call_end"]);
    assert_eq!(told(&gate, "fine", json!(7)), ["tool_call_end"]);
}

#[test]
fn questions_and_refusals_are_told() {
    let with = |mode: Mode, answer: Answer| {
        let gate = gate([MadeUp::new("risky").risking(Risk::High)]).policy(Engine::in_mode(mode));
        told(&gate.approver(Recorder::answering(answer)).build(), "risky", json!({}))
    };
    let asked = ["tool_call_start", "tool_confirmation_request", "tool_confirmation_response"];
    let approved = ["tool_execution_success", "tool_call_end"];
    let refused = ["tool_policy_rejection", "tool_call_end"];
    assert_eq!(with(Mode::Default, Answer::Once), [&asked[..], &approved].concat());
    assert_eq!(with(Mode::Default, Answer::Nobody), [&asked[..], &refused].concat());
    assert_eq!(with(Mode::Plan, Answer::Once), [&["tool_call_start"][..], &refused].concat());
}

#[test]
fn events_carry_the_call_and_what_a_person_wants_to_know() {
    let tool = MadeUp::new("risky").risking(Risk::Critical).describing("Wipe\nthe disk");
    let gate = gate([tool]).policy(Engine::in_mode(Mode::Default));
    let gate = gate.approver(Recorder::answering(Answer::Once)).build();
    let mut events = gate.events().subscribe();
    block_on(gate.call(Call::new("risky", json!({})).with_id("c-1"), &session()));
    let events = received(&mut events);
    assert!(events.iter().all(|event| event["call"] == "c-1"), "{events:?}");
    assert_eq!(events[0]["tool"], "risky");
    assert_eq!(events[0]["description"], "Wipe\\nthe disk");
    assert_eq!(events[1]["risk"], "critical");
    assert_eq!(events[1]["reason"], "no rule is about `risky`, so it asks");
    assert_eq!(events[2]["approved"], true);
    assert_eq!(events.last().unwrap()["error"], Value::Null);
}

#[test]
fn output_and_progress_come_while_the_call_runs_and_are_safe_to_show() {
    let tool = MadeUp::new("chatty").doing(|_, context| async move {
        context.output("one\n\u{1b}[2J");
        context.progress("half\nway");
        Ok(ToolResult::text("done"))
    });
    let gate = gate([tool]).build();
    let mut events = gate.events().subscribe();
    block_on(call(&gate, "chatty", json!({})));
    let events = received(&mut events);
    let shown: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        shown,
        [
            "tool_call_start",
            "tool_call_output",
            "tool_call_progress",
            "tool_execution_success",
            "tool_call_end"
        ]
    );
    assert_eq!(events[1]["text"], "one\n\\x1b[2J");
    assert_eq!(events[2]["message"], "half\\nway");
}

#[test]
fn a_long_call_shows_signs_of_life() {
    let settings = GateSettings { heartbeat: Duration::from_millis(1), ..GateSettings::default() };
    let gate = gate([MadeUp::new("slow").doing(|_, context| async move {
        context.cancellation().cancelled().await;
        Err(ToolError::cancelled())
    })])
    .settings(settings)
    .build();
    block_on(async {
        let mut events = gate.events().subscribe();
        let (session, cancellation) = (session(), CancellationToken::new());
        let call = gate.call_cancellable(Call::new("slow", json!({})), &session, &cancellation);
        let listen = async {
            let mut beats = 0;
            while beats < 3 {
                beats +=
                    usize::from(matches!(events.recv().await, Ok(Event::ToolCallHeartbeat { .. })));
            }
            cancellation.cancel();
        };
        tokio::join!(call, listen);
    });
}

#[test]
fn a_batch_is_told_around_its_calls() {
    let gate = gate([MadeUp::new("fine")]).build();
    let mut events = gate.events().subscribe();
    let calls = ["fine", "missing"].map(|tool| Call::new(tool, json!({}))).to_vec();
    block_on(gate.batch(calls, &session(), Schedule::Ordered, &CancellationToken::new(), drop));
    let events = received(&mut events);
    assert_eq!(events[0], json!({ "event": "tool_calls_batch_start", "calls": 2 }));
    assert_eq!(
        *events.last().unwrap(),
        json!({ "event": "tool_calls_batch_end", "calls": 2, "failed": 1 })
    );
}

#[test]
fn a_reader_that_does_not_keep_up_is_told_what_it_missed_and_holds_nothing_up() {
    const LINES: u64 = 5_000;
    let tool = MadeUp::new("chatty").doing(|_, context| async move {
        for number in 0..LINES {
            context.output(&format!("{number}\n"));
        }
        Ok(ToolResult::text("done"))
    });
    let gate = gate([tool]).build();
    let mut slow = gate.events().subscribe();
    let outcome = block_on(call(&gate, "chatty", json!({})));
    assert_eq!(outcome.result.error, None);
    let Err(TryRecvError::Lagged(missed)) = slow.try_recv() else {
        panic!("the reader must be told that it missed something");
    };
    let rest = received(&mut slow);
    assert_eq!(missed + rest.len() as u64, LINES + 3);
    assert_eq!(rest.last().unwrap()["event"], "tool_call_end", "the newest are kept");
}
