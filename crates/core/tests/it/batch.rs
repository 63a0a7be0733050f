//! Many calls: side by side where that is safe, one after the other where not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::error::ErrorKind;
use toolgate_core::gate::{Gate, GateSettings, Schedule};
use toolgate_core::result::ToolResult;

use crate::harness::{block_on, cases, gate, session};
use crate::made_up::MadeUp;

fn run(gate: &Gate, calls: Vec<Call>, schedule: Schedule) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    block_on(gate.batch(calls, &session(), schedule, &CancellationToken::new(), |outcome| {
        outcomes.push(outcome);
    }));
    outcomes
}

fn texts(outcomes: &[Outcome]) -> Vec<String> {
    outcomes.iter().map(|outcome| outcome.result.llm_content.as_text()).collect()
}

fn width(max_concurrency: usize) -> GateSettings {
    GateSettings { max_concurrency, ..GateSettings::default() }
}

/// When a call began or ended, by its place in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Begin(u64),
    End(u64),
}

/// A tool that notes when it begins and ends, with as many turns in between as it is told.
fn noting(name: &str, log: &Arc<Mutex<Vec<Mark>>>) -> MadeUp {
    let log = Arc::clone(log);
    MadeUp::new(name).doing(move |args, _| {
        let log = Arc::clone(&log);
        async move {
            let number = args["number"].as_u64().unwrap();
            log.lock().unwrap().push(Mark::Begin(number));
            for _ in 0..args["turns"].as_u64().unwrap() {
                tokio::task::yield_now().await;
            }
            log.lock().unwrap().push(Mark::End(number));
            Ok(ToolResult::text(number.to_string()))
        }
    })
}

/// Runs calls, each safe or not and with so many turns; returns what was noted.
fn noted(
    calls: &[(bool, u64)],
    schedule: Schedule,
    width_of_gate: usize,
) -> (Vec<Mark>, Vec<String>) {
    let log = Arc::default();
    let tools = [noting("safe", &log), noting("alone", &log).alone()];
    let gate = gate(tools).settings(width(width_of_gate)).build();
    let calls = (0u64..).zip(calls).map(|(number, (safe, turns))| {
        let name = if *safe { "safe" } else { "alone" };
        Call::new(name, json!({ "number": number, "turns": turns }))
    });
    let outcomes = run(&gate, calls.collect(), schedule);
    let marks = log.lock().unwrap().clone();
    (marks, texts(&outcomes))
}

fn position(marks: &[Mark], wanted: Mark) -> usize {
    marks.iter().position(|mark| *mark == wanted).expect("every call begins and ends")
}

/// The most calls that ran at the same time.
fn peak(marks: &[Mark]) -> usize {
    let mut running = 0;
    let counts = marks.iter().map(|mark| {
        match mark {
            Mark::Begin(_) => running += 1,
            Mark::End(_) => running -= 1,
        }
        running
    });
    counts.max().unwrap_or(0)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn an_unsafe_call_waits_for_all_before_it_and_holds_up_all_after_it(
        calls in vec((any::<bool>(), 0u64..4), 0..12),
        width in 1usize..5,
    ) {
        let (marks, results) = noted(&calls, Schedule::Ordered, width);
        let expected: Vec<String> = (0..calls.len()).map(|number| number.to_string()).collect();
        prop_assert_eq!(results, expected, "results come in call order");
        prop_assert!(peak(&marks) <= width, "{} at once", peak(&marks));
        for (number, (safe, _)) in (0u64..).zip(&calls) {
            if *safe {
                continue;
            }
            let (begin, end) = (position(&marks, Mark::Begin(number)), position(&marks, Mark::End(number)));
            prop_assert_eq!(end, begin + 1, "something happened beside an unsafe call");
            for other in 0..calls.len() as u64 {
                let before = position(&marks, Mark::End(other)) < begin;
                prop_assert_eq!(before, other < number, "call {} is on the wrong side of {}", other, number);
            }
        }
    }

    #[test]
    fn partitioned_runs_the_safe_ones_first_and_the_rest_in_order(
        calls in vec((any::<bool>(), 0u64..4), 0..12),
        width in 1usize..5,
    ) {
        let (marks, results) = noted(&calls, Schedule::Partitioned, width);
        let expected: Vec<String> = (0..calls.len()).map(|number| number.to_string()).collect();
        prop_assert_eq!(results, expected, "results come in call order");
        prop_assert!(peak(&marks) <= width, "{} at once", peak(&marks));
        let numbered = || (0u64..).zip(&calls);
        let alone: Vec<Mark> = numbered()
            .filter(|(_, (safe, _))| !*safe)
            .flat_map(|(number, _)| [Mark::Begin(number), Mark::End(number)])
            .collect();
        prop_assert!(marks.ends_with(&alone), "{marks:?} does not end in {alone:?}");
    }
}

#[test]
fn a_read_after_an_edit_sees_the_edit() {
    let state = Arc::new(Mutex::new("old".to_owned()));
    let (written, read) = (Arc::clone(&state), Arc::clone(&state));
    let write = MadeUp::new("write").alone().doing(move |args, _| {
        let state = Arc::clone(&written);
        async move {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            args["text"].as_str().unwrap().clone_into(&mut state.lock().unwrap());
            Ok(ToolResult::text("written"))
        }
    });
    let read = MadeUp::new("read").doing(move |_, _| {
        let text = read.lock().unwrap().clone();
        async move { Ok(ToolResult::text(text)) }
    });
    let gate = gate([write, read]).build();
    let call = |tool: &str, args: Value| Call::new(tool, args);
    let calls = vec![
        call("read", json!({})),
        call("write", json!({ "text": "new" })),
        call("read", json!({})),
        call("write", json!({ "text": "newer" })),
        call("read", json!({})),
    ];
    let ordered = texts(&run(&gate, calls, Schedule::Ordered));
    assert_eq!(ordered, ["old", "written", "new", "written", "newer"]);
}

#[test]
fn as_many_safe_calls_run_at_once_as_are_allowed() {
    // Each waits for the others, so fewer at once would never end and more would be counted.
    let (barrier, running, most) =
        (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let tool = MadeUp::new("together").doing(move |_, _| {
        let (barrier, running, most) =
            (Arc::clone(&barrier), Arc::clone(&running), Arc::clone(&seen));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            barrier.wait().await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolResult::text("met"))
        }
    });
    let gate = gate([tool]).settings(width(3)).build();
    let calls = (0..9).map(|_| Call::new("together", json!({}))).collect();
    assert_eq!(run(&gate, calls, Schedule::Ordered).len(), 9);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn one_failure_stops_no_other_call() {
    let broken = MadeUp::new("broken").doing(|_, _| async { std::panic::panic_any("on purpose") });
    let gate = gate([MadeUp::new("fine"), broken]).build();
    let calls =
        ["fine", "missing", "broken", "fine"].map(|tool| Call::new(tool, json!({}))).to_vec();
    let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
    for schedule in [Schedule::Ordered, Schedule::Partitioned] {
        let outcomes = run(&gate, calls.clone(), schedule);
        let kinds: Vec<_> = outcomes.iter().map(|outcome| outcome.result.error_kind()).collect();
        assert_eq!(
            kinds,
            [None, Some(ErrorKind::ToolNotFound), Some(ErrorKind::InternalError), None]
        );
        let told: Vec<_> = outcomes.into_iter().map(|outcome| outcome.call_id).collect();
        assert_eq!(told, ids);
    }
}
