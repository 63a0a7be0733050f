//! A tool that breaks or hangs breaks its own call only.

use std::time::Duration;

use serde_json::json;
use toolgate_core::approval::Answer;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::GateSettings;
use toolgate_core::policy::{Decision, Engine, Facts, Mode, Policy, Risk, Verdict, World};
use toolgate_core::result::ToolResult;
use toolgate_testing::PATIENCE;

use crate::harness::{Recorder, block_on, call, failure, gate};
use crate::made_up::{MadeUp, Step};

fn panicking_at(step: Step) -> MadeUp {
    MadeUp::new("shaky").at_each_step(move |at| {
        if at == step {
            std::panic::panic_any(format!("at {at:?}"));
        }
    })
}

#[test]
fn a_panic_before_execution_becomes_an_error() {
    for step in [Step::Enabled, Step::Prepare, Step::CanExecute, Step::Describe, Step::Locations] {
        let tool = panicking_at(step);
        let runs = tool.runs();
        let error = block_on(failure(&gate([tool]).build(), "shaky", json!({})));
        assert_eq!(error.kind, ErrorKind::InternalError);
        let expected = format!(
            "`shaky` failed inside (at {step:?}); this is a bug in the tool, trying the same call again will not help"
        );
        assert_eq!((error.message, runs()), (expected, 0));
    }
}

#[test]
fn a_panic_while_a_preview_is_made_becomes_an_error() {
    let tool = panicking_at(Step::Preview).risking(Risk::High);
    let runs = tool.runs();
    let person = Recorder::answering(Answer::Once);
    let gate = gate([tool]).policy(Engine::in_mode(Mode::Default)).approver(person).build();
    let outcome = block_on(call(&gate, "shaky", json!({})));
    assert_eq!(outcome.result.error_kind(), Some(ErrorKind::InternalError));
    assert_eq!((outcome.decision, runs()), (Some(Decision::Ask), 0));
}

#[test]
fn a_panic_while_running_becomes_an_error() {
    let tool = MadeUp::new("shaky").doing(|args, context| async move {
        if args["late"] == true {
            tokio::task::yield_now().await;
        }
        if args["blocking"] == true {
            return context.blocking(|_| std::panic::panic_any("oh\u{1b} no")).await;
        }
        std::panic::panic_any("oh\u{1b} no")
    });
    let gate = gate([tool, MadeUp::new("sound")]).build();
    let errors = [json!({}), json!({ "late": true }), json!({ "blocking": true })]
        .map(|args| block_on(failure(&gate, "shaky", args)));
    for error in &errors {
        assert_eq!(error.kind, ErrorKind::InternalError);
        assert_eq!(error.message, errors[0].message);
    }
    insta::assert_snapshot!(errors[0].message, @r"`shaky` failed inside (oh\x1b no); this is a bug in the tool, trying the same call again will not help");
    let outcome = block_on(call(&gate, "sound", json!({})));
    assert_eq!(outcome.result.error, None, "the gate still works");
}

#[derive(Debug)]
struct Undecided;

impl Policy for Undecided {
    fn decide(&self, _facts: &Facts, _world: &dyn World) -> Verdict {
        std::panic::panic_any("cannot make up my mind")
    }
}

#[test]
fn a_policy_that_panics_denies() {
    let tool = MadeUp::new("tool");
    let runs = tool.runs();
    let error = block_on(failure(&gate([tool]).policy(Undecided).build(), "tool", json!({})));
    assert_eq!((error.kind, runs()), (ErrorKind::PolicyDenied, 0));
    assert!(error.message.contains("cannot make up my mind"), "{}", error.message);
}

fn hurried() -> GateSettings {
    GateSettings {
        timeout: Duration::from_millis(10),
        grace: Duration::from_millis(5),
        ..GateSettings::default()
    }
}

#[test]
fn a_call_that_takes_too_long_is_stopped() {
    let stubborn = MadeUp::new("stubborn").doing(|_, _| std::future::pending());
    let polite = MadeUp::new("polite").doing(|_, context| async move {
        context.cancellation().cancelled().await;
        Err(ToolError::cancelled())
    });
    let gate = gate([stubborn, polite]).settings(hurried()).build();
    let errors = ["stubborn", "polite"].map(|name| block_on(failure(&gate, name, json!({}))));
    assert_eq!(errors[0], errors[1]);
    assert_eq!(errors[0].kind, ErrorKind::Timeout);
    insta::assert_snapshot!(errors[0].message, @"the call took longer than 0.01 s and was stopped; ask for less at once, or raise the time limit");
}

#[test]
fn what_a_late_tool_still_saved_is_returned() {
    let saving = MadeUp::new("saving").doing(|_, context| async move {
        context.cancellation().cancelled().await;
        Ok(ToolResult::text("half of it"))
    });
    let settings = GateSettings { grace: PATIENCE, ..hurried() };
    let outcome = block_on(call(&gate([saving]).settings(settings).build(), "saving", json!({})));
    assert_eq!(outcome.result.llm_content.as_text(), "half of it");
}
