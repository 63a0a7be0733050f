//! A call runs without a question, is refused, or a person is asked.

use std::time::Duration;

use async_trait::async_trait;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_core::call::Call;
use toolgate_core::error::ErrorKind;
use toolgate_core::gate::GateSettings;
use toolgate_core::policy::{Access, Decision, Engine, Mode, PathFact, Place, Risk};
use toolgate_core::tool::Location;

use crate::harness::{
    Recorder, any_location, any_risk, block_on, call, cases, failure, gate, session,
};
use crate::made_up::MadeUp;

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(&Mode::ALL[..])
}

proptest! {
    #![proptest_config(cases(512))]

    // Feature: stage-03-tools-policy, Property 47: Tool Invocation Confirmation Check
    #[test]
    fn property_47_tool_invocation_confirmation_check(
        mode in any_mode(),
        risk in any_risk(),
        reads in any::<bool>(),
        locations in vec(any_location(), 0..3),
        description in "[a-z][a-z ]{0,29}",
    ) {
        let tool = MadeUp::new("asked").describing(&description).touching(locations.clone());
        let tool = if reads { tool } else { tool.risking(risk) };
        let runs = tool.runs();
        let person = Recorder::answering(Answer::Once);
        let gate = gate([tool]).policy(Engine::in_mode(mode)).approver(person.clone()).build();
        let settled = block_on(async {
            let call = Call::new("asked", json!({}));
            let judged = gate.judge(gate.validate(call, &session(), &CancellationToken::new()).await?)?;
            let verdict = judged.verdict().clone();
            gate.settle(judged).await.map(|permit| (permit, verdict))
        });
        let requests = person.asked();
        match (settled, requests.as_slice()) {
            (Ok((permit, _)), []) => prop_assert_eq!(permit.decision(), Decision::Allow),
            (Ok((permit, verdict)), [request]) => {
                prop_assert_eq!(permit.decision(), Decision::Ask);
                prop_assert_eq!(&request.tool, "asked");
                prop_assert_eq!(&request.description, &description);
                prop_assert_eq!(request.places.len(), locations.len());
                prop_assert_eq!(request.risk, if reads { Risk::Low } else { risk });
                prop_assert!(!request.reasons.is_empty());
                prop_assert_eq!(request.reasons.len(), verdict.reasons.len());
            }
            (Err(rejected), []) => {
                prop_assert_eq!(rejected.decision, Some(Decision::Deny));
                prop_assert_eq!(rejected.error.kind, ErrorKind::PolicyDenied);
            }
            (settled, requests) => prop_assert!(false, "{settled:?} after {} requests", requests.len()),
        }
        prop_assert_eq!(runs(), 0, "a permit alone ran the call");
    }
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 37: Confirmation Details Completeness
    #[test]
    fn property_37_confirmation_details_completeness(
        risk in any_risk(),
        locations in vec(any_location(), 0..4),
        description in "[a-z][a-z ]{0,29}",
    ) {
        let tool = MadeUp::new("asked").describing(&description).touching(locations.clone());
        let tool = tool.risking(risk);
        let person = Recorder::answering(Answer::Once);
        let gate = gate([tool]).policy(Engine::in_mode(Mode::Ask)).approver(person.clone()).build();
        block_on(call(&gate, "asked", json!({})));
        for request in person.asked() {
            prop_assert_eq!(&request.tool, "asked");
            prop_assert_eq!(&request.description, &description);
            prop_assert_eq!(request.risk, risk);
            prop_assert_eq!(request.places.len(), locations.len());
            prop_assert!(request.reasons.iter().all(|reason| !reason.is_empty()));
            prop_assert!(!request.reasons.is_empty());
        }
    }

    #[test]
    fn nothing_runs_on_any_answer_but_yes(
        answer in prop_oneof![
            Just(Answer::Nobody),
            Just(Answer::Deny { note: None }),
            "\\PC{0,20}".prop_map(|note| Answer::Deny { note: Some(note) }),
        ],
        risk in any_risk(),
    ) {
        let tool = MadeUp::new("asked").risking(risk);
        let runs = tool.runs();
        let gate = gate([tool]).policy(Engine::in_mode(Mode::Default));
        let gate = gate.approver(Recorder::answering(answer.clone())).build();
        let outcome = block_on(call(&gate, "asked", json!({})));
        let expected = match answer {
            Answer::Nobody => ErrorKind::ApprovalRequired,
            _ => ErrorKind::ApprovalDenied,
        };
        prop_assert_eq!(outcome.result.error_kind(), Some(expected));
        prop_assert_eq!(outcome.decision, Some(Decision::Ask));
        prop_assert_eq!(runs(), 0);
    }
}

#[test]
fn a_note_of_refusal_reaches_the_model_made_safe() {
    let note = Some("use\nstaging \u{1b}[2J".to_owned());
    let gate = gate([MadeUp::new("deploy").risking(Risk::High)])
        .policy(Engine::in_mode(Mode::Default))
        .approver(Recorder::answering(Answer::Deny { note }))
        .build();
    let error = block_on(failure(&gate, "deploy", json!({})));
    insta::assert_snapshot!(error.message, @r"a person refused: use\nstaging \x1b[2J");
}

#[test]
fn every_request_names_its_own_call() {
    let person = Recorder::answering(Answer::Once);
    let gate = gate([MadeUp::new("asked").risking(Risk::High)])
        .policy(Engine::in_mode(Mode::Default))
        .approver(person.clone())
        .build();
    for number in 0..20 {
        let call = Call::new("asked", json!({})).with_id(format!("call-{number}"));
        block_on(gate.call(call, &session()));
    }
    let ids: Vec<String> = person.asked().iter().map(|request| request.call.to_string()).collect();
    let expected: Vec<String> = (0..20).map(|number| format!("call-{number}")).collect();
    assert_eq!(ids, expected);
}

#[derive(Debug)]
struct NeverAnswers;

#[async_trait]
impl Approver for NeverAnswers {
    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        std::future::pending().await
    }
}

#[test]
fn no_answer_in_time_counts_as_no() {
    let tool = MadeUp::new("asked").risking(Risk::High);
    let runs = tool.runs();
    let settings = GateSettings {
        approval_timeout: Some(Duration::from_millis(5)),
        ..GateSettings::default()
    };
    let gate = gate([tool])
        .policy(Engine::in_mode(Mode::Default))
        .approver(NeverAnswers)
        .settings(settings)
        .build();
    let error = block_on(failure(&gate, "asked", json!({})));
    assert_eq!(error.kind, ErrorKind::ApprovalTimeout);
    assert_eq!(runs(), 0);
}

#[test]
fn a_call_may_have_less_patience_than_the_gate() {
    let gate = gate([MadeUp::new("asked").risking(Risk::High)])
        .policy(Engine::in_mode(Mode::Default))
        .approver(NeverAnswers)
        .build();
    let call = Call::new("asked", json!({})).with_patience(Duration::from_millis(5));
    let outcome = block_on(async { gate.call(call, &session()).await });
    assert_eq!(outcome.result.error_kind(), Some(ErrorKind::ApprovalTimeout));
}

#[test]
fn a_question_tells_what_is_guarded() {
    let asked = |path: &str| {
        let workspace = session().workspace().root().to_owned();
        let place = Location::Path(PathFact {
            requested: workspace.join(path),
            resolved: workspace.join(path),
            access: Access::Write,
            place: Place::Workspace,
            hard_links: 1,
            scope: None,
        });
        let tool = MadeUp::new("asked").risking(Risk::Medium).touching(vec![place]);
        let person = Recorder::answering(Answer::refuse());
        let gate =
            gate([tool]).policy(Engine::in_mode(Mode::Default)).approver(person.clone()).build();
        block_on(failure(&gate, "asked", json!({})));
        person.asked()[0].guarded
    };
    assert!(!asked("notes.txt"));
    assert!(asked(".git/hooks/pre-commit"));
}

#[test]
fn cancelling_withdraws_the_question() {
    let tool = MadeUp::new("asked").risking(Risk::High);
    let runs = tool.runs();
    let gate = gate([tool]).policy(Engine::in_mode(Mode::Default)).approver(NeverAnswers).build();
    let outcome = block_on(async {
        let mut events = gate.events().subscribe();
        let cancellation = CancellationToken::new();
        let session = session();
        let call = gate.call_cancellable(Call::new("asked", json!({})), &session, &cancellation);
        let cancel = async {
            while !matches!(
                events.recv().await,
                Ok(toolgate_core::event::Event::ToolConfirmationRequest { .. })
            ) {}
            cancellation.cancel();
        };
        tokio::join!(call, cancel).0
    });
    assert_eq!(outcome.result.error_kind(), Some(ErrorKind::Cancelled));
    assert_eq!(runs(), 0);
}
