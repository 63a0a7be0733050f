//! A cancelled call stops, promptly, and says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::GateSettings;
use toolgate_core::result::ToolResult;
use toolgate_testing::PATIENCE;

use crate::harness::{block_on, cases, gate, session};
use crate::made_up::MadeUp;

/// How a slow tool behaves once it should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Notices and stops.
    Stops,
    /// Takes no notice.
    GoesOn,
    /// Is done just then.
    Finishes,
}

fn slow_tool(manner: Manner, turns: usize, started: Arc<Notify>) -> MadeUp {
    MadeUp::new("slow").doing(move |_, context| {
        let started = Arc::clone(&started);
        async move {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            started.notify_one();
            match manner {
                Manner::GoesOn => std::future::pending().await,
                Manner::Stops => {
                    context.cancellation().cancelled().await;
                    Err(ToolError::cancelled())
                }
                Manner::Finishes => {
                    context.cancellation().cancelled().await;
                    Ok(ToolResult::text("done after all"))
                }
            }
        }
    })
}

/// Cancels a call as soon as its tool has started.
fn cancelled_while_running(manner: Manner, turns: usize) -> Outcome {
    let started = Arc::new(Notify::new());
    // Only a tool that finishes is waited for.
    let grace = if manner == Manner::Finishes { PATIENCE } else { Duration::from_millis(1) };
    let settings = GateSettings { grace, ..GateSettings::default() };
    let gate = gate([slow_tool(manner, turns, Arc::clone(&started))]).settings(settings).build();
    block_on(async {
        let (session, cancellation) = (session(), CancellationToken::new());
        let call = gate.call_cancellable(Call::new("slow", json!({})), &session, &cancellation);
        let cancel = async {
            started.notified().await;
            cancellation.cancel();
        };
        tokio::join!(call, cancel).0
    })
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 48: Tool Invocation Abort Signal Respect
    #[test]
    fn property_48_tool_invocation_abort_signal_respect(
        before in any::<bool>(),
        manner in prop_oneof![Just(Manner::Stops), Just(Manner::GoesOn)],
        turns in 0usize..5,
    ) {
        let begun = Instant::now();
        let outcome = if before {
            let tool = slow_tool(manner, turns, Arc::default());
            let runs = tool.runs();
            let cancellation = CancellationToken::new();
            cancellation.cancel();
            let gate = gate([tool]).build();
            let call = Call::new("slow", json!({}));
            let outcome = block_on(gate.call_cancellable(call, &session(), &cancellation));
            prop_assert_eq!(runs(), 0, "a call cancelled before it began ran");
            outcome
        } else {
            cancelled_while_running(manner, turns)
        };
        prop_assert_eq!(outcome.result.error_kind(), Some(ErrorKind::Cancelled));
        prop_assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    }
}

#[test]
fn what_a_cancelled_tool_still_finished_is_not_denied() {
    let outcome = cancelled_while_running(Manner::Finishes, 1);
    assert_eq!(outcome.result.error, None);
    assert_eq!(outcome.result.llm_content.as_text(), "done after all");
}

#[test]
fn a_tool_that_ignores_the_signal_is_left_behind_with_a_warning() {
    let error = cancelled_while_running(Manner::GoesOn, 0).result.error.unwrap();
    insta::assert_snapshot!(error.message, @"the call was cancelled but did not stop at once; what it touched may have changed, so look before going on");
}

#[test]
fn cancelling_one_call_leaves_others_alone() {
    let started = Arc::new(Notify::new());
    let gate =
        gate([slow_tool(Manner::Stops, 0, Arc::clone(&started)), MadeUp::new("other")]).build();
    let (slow, other) = block_on(async {
        let (session, cancellation) = (session(), CancellationToken::new());
        let slow = gate.call_cancellable(Call::new("slow", json!({})), &session, &cancellation);
        let other = async {
            started.notified().await;
            cancellation.cancel();
            gate.call(Call::new("other", json!({})), &session).await
        };
        tokio::join!(slow, other)
    });
    assert_eq!(slow.result.error_kind(), Some(ErrorKind::Cancelled));
    assert_eq!(other.result.error, None);
}
