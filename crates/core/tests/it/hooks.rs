//! The owner's code around calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::event::Event;
use toolgate_core::gate::{GateBuilder, GateSettings};
use toolgate_core::hook::{BeforeCall, Hook, HookedCall};
use toolgate_core::policy::{Decision, Engine, Mode, Risk};
use toolgate_core::result::ToolResult;

use crate::harness::{block_on, call, failure, gate};
use crate::made_up::MadeUp;

type Decide = Box<dyn Fn(&Value) -> BeforeCall + Send + Sync>;

/// A hook that decides by the arguments and writes down what it saw.
struct Watcher {
    name: &'static str,
    decide: Decide,
    seen: Arc<Mutex<Vec<String>>>,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

#[async_trait]
impl Hook for Watcher {
    fn name(&self) -> &str {
        self.name
    }

    async fn before(&self, call: &HookedCall<'_>) -> BeforeCall {
        self.note(&format!("before {} {}", call.tool, call.args));
        (self.decide)(call.args)
    }

    async fn after_success(&self, call: &HookedCall<'_>, result: &ToolResult) {
        self.note(&format!("success {} {}", call.tool, result.llm_content.as_text()));
    }

    async fn after_failure(&self, call: &HookedCall<'_>, error: &ToolError) {
        self.note(&format!("failure {} {}", call.tool, error.kind));
    }
}

impl Watcher {
    fn note(&self, line: &str) {
        self.seen.lock().unwrap().push(format!("{}: {line}", self.name));
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

fn hook(
    name: &'static str,
    seen: &Seen,
    decide: impl Fn(&Value) -> BeforeCall + Send + Sync + 'static,
) -> Watcher {
    Watcher { name, decide: Box::new(decide), seen: Arc::clone(seen) }
}

/// A gate with a tool `echo` that wants a string `word`, and how often it ran.
fn echo() -> (GateBuilder, impl Fn() -> usize) {
    let tool = MadeUp::new("echo").schema(json!({
        "type": "object",
        "properties": { "word": { "type": "string" } },
        "required": ["word"],
        "additionalProperties": false,
    }));
    let runs = tool.runs();
    (gate([tool]), runs)
}

#[test]
fn a_hook_can_refuse_with_a_reason() {
    let (gate, runs) = echo();
    let gate = gate
        .hook(hook("guard", &Seen::default(), |_| BeforeCall::Reject("not\non Fridays".into())))
        .build();
    let outcome = block_on(call(&gate, "echo", json!({ "word": "a" })));
    let error = outcome.result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::HookRejected);
    insta::assert_snapshot!(error.message, @r"hook `guard` refused the call: not\non Fridays");
    assert_eq!((runs(), outcome.decision), (0, None));
}

#[test]
fn hooks_run_in_order_and_each_sees_what_the_one_before_made_of_the_input() {
    let (gate, _) = echo();
    let seen = Seen::default();
    let gate = gate
        .hook(hook("first", &seen, |_| BeforeCall::Change(json!({ "word": "changed" }))))
        .hook(hook("second", &seen, |_| BeforeCall::Proceed))
        .build();
    let mut events = gate.events().subscribe();
    let outcome = block_on(call(&gate, "echo", json!({ "word": "given" })));
    assert_eq!(outcome.result.llm_content.as_text(), r#"{"word":"changed"}"#);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            r#"first: before echo {"word":"given"}"#,
            r#"second: before echo {"word":"changed"}"#,
            r#"first: success echo {"word":"changed"}"#,
            r#"second: success echo {"word":"changed"}"#,
        ]
    );
    let changed = events.try_recv().unwrap();
    assert!(matches!(changed, Event::HookChangedInput { hook, .. } if hook == "first"));
}

#[test]
fn input_a_hook_changed_is_validated_again() {
    for (changed, told) in [
        (json!({ "word": 7 }), "parameter `word` must be a string, got 7"),
        (json!({}), "missing parameter `word`"),
        (json!(null), "the arguments must be an object, got null"),
    ] {
        let (gate, runs) = echo();
        let gate = gate
            .hook(hook("meddler", &Seen::default(), move |_| BeforeCall::Change(changed.clone())))
            .build();
        let error = block_on(failure(&gate, "echo", json!({ "word": "a" })));
        assert_eq!(error.kind, ErrorKind::HookRejected);
        let expected = format!(
            "hook `meddler` refused the call: it changed the input into something invalid: {told}"
        );
        assert_eq!((error.message, runs()), (expected, 0));
    }
}

#[test]
fn the_policy_judges_the_input_a_hook_made() {
    let tool = MadeUp::new("risky").risking(Risk::High);
    let gate = gate([tool]).policy(Engine::in_mode(Mode::Plan));
    let gate =
        gate.hook(hook("meddler", &Seen::default(), |_| BeforeCall::Change(json!({})))).build();
    let outcome = block_on(call(&gate, "risky", json!({})));
    assert_eq!(outcome.decision, Some(Decision::Deny));
}

#[test]
fn a_hook_that_panics_refuses() {
    let (gate, runs) = echo();
    let gate =
        gate.hook(hook("shaky", &Seen::default(), |_| std::panic::panic_any("oops"))).build();
    let error = block_on(failure(&gate, "echo", json!({ "word": "a" })));
    assert_eq!(error.kind, ErrorKind::HookRejected);
    insta::assert_snapshot!(error.message, @"hook `shaky` refused the call: it failed inside, which counts as a refusal");
    assert_eq!(runs(), 0);
}

/// A hook that never comes back, before or after a call.
#[derive(Debug)]
struct Stuck {
    before: bool,
}

#[async_trait]
impl Hook for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    async fn before(&self, _call: &HookedCall<'_>) -> BeforeCall {
        if self.before {
            std::future::pending::<()>().await;
        }
        BeforeCall::Proceed
    }

    async fn after_success(&self, _call: &HookedCall<'_>, _result: &ToolResult) {
        std::future::pending::<()>().await;
    }
}

fn impatient() -> GateSettings {
    GateSettings { hook_timeout: Duration::from_millis(5), ..GateSettings::default() }
}

#[test]
fn a_hook_that_takes_too_long_refuses() {
    let (gate, runs) = echo();
    let gate = gate.hook(Stuck { before: true }).settings(impatient()).build();
    let error = block_on(failure(&gate, "echo", json!({ "word": "a" })));
    assert_eq!(error.kind, ErrorKind::HookRejected);
    insta::assert_snapshot!(error.message, @"hook `stuck` refused the call: it took too long, which counts as a refusal");
    assert_eq!(runs(), 0);
}

/// A hook that panics after a call.
#[derive(Debug)]
struct PanicsAfter;

#[async_trait]
impl Hook for PanicsAfter {
    fn name(&self) -> &'static str {
        "panics after"
    }

    async fn after_success(&self, _call: &HookedCall<'_>, _result: &ToolResult) {
        std::panic::panic_any("too late")
    }
}

#[test]
fn what_goes_wrong_after_a_call_changes_nothing() {
    let (gate, runs) = echo();
    let seen = Seen::default();
    let gate = gate
        .hook(PanicsAfter)
        .hook(Stuck { before: false })
        .hook(hook("last", &seen, |_| BeforeCall::Proceed))
        .settings(impatient())
        .build();
    let outcome = block_on(call(&gate, "echo", json!({ "word": "a" })));
    assert_eq!((outcome.result.error, runs()), (None, 1));
    assert_eq!(seen.lock().unwrap().len(), 2, "a later hook was left out");
}

#[test]
fn hooks_see_failures_of_the_tool() {
    let failing = MadeUp::new("failing")
        .doing(|_, _| async { Err(ToolError::new(ErrorKind::LsError, "no")) });
    let seen = Seen::default();
    let gate = gate([failing]).hook(hook("watch", &seen, |_| BeforeCall::Proceed)).build();
    block_on(call(&gate, "failing", json!({})));
    assert_eq!(
        *seen.lock().unwrap(),
        ["watch: before failing {}", "watch: failure failing LsError"]
    );
}

#[test]
fn hooks_do_not_see_calls_that_do_not_fit() {
    let (gate, _) = echo();
    let seen = Seen::default();
    let gate = gate.hook(hook("watch", &seen, |_| BeforeCall::Proceed)).build();
    block_on(call(&gate, "echo", json!({})));
    block_on(call(&gate, "nonsense", json!({})));
    assert!(seen.lock().unwrap().is_empty());
}
